// Package trace writes a stream of events to a file and reads it back, one JSON object per line.
// So a reply can be shown again without a model, and other programs can read the file without a library.
//
// [Writer] appends events; [Read] yields a [Record] for each. The first line is a header with the
// format's version. Every other line is an event, encoded by [event.Marshal].
//
// Invariant: Writer can write what Read yields, and Read then yields the same. Read accepts an
// unfinished last line, which a killed program leaves, and yields a Notice in its place. Any other line
// that is not an event gives an [Error] with its number.
package trace

import "specula/engine/event"

// Version is the version of the format. Read refuses any other version.
const Version = 1

// MaxLineBytes bounds a line. Rounds with the candidates of every position take a few hundred kilobytes. The
// end of a reply holds its whole text and ids, and grows with it.
const MaxLineBytes = 16 << 20

// Limits on memory. A line of a few megabytes can hold millions of empty tokens, each of which needs
// hundreds of bytes once decoded.
const (
	maxLineObjects = 1 << 14 // objects and lists in one event; the longest rounds have a few thousand
	// maxHeldBytes is for all events of a trace together, estimated. A trace of 128 MB that this program
	// wrote needs less.
	maxHeldBytes = 512 << 20
	eventBytes   = 1 << 10 // memory of an event without its tokens
	objectBytes  = 256     // memory of a token or a candidate
)

// header is the first line.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

const format = "specula-trace"

// Record is an event and its time.
type Record struct {
	AtMS  float64 // milliseconds since the trace began
	Event event.Event
}
