// Package trace writes a stream of events to a file and reads it back, one JSON object per line.
// So a reply can be shown again without a model, and other programs can read it without a library.
//
// [Writer] appends events; [Read] yields a [Record] for each. The first line is a header with the
// format's version. Every other line is an event, encoded by [event.Marshal].
//
// Invariant: what Read yields, Writer can write again, and it reads the same. Read accepts an
// unfinished last line, which a killed program leaves, and says so. Anything else that is not an
// event is an [Error] with the line's number.
package trace

import "specula/engine/event"

// Version is the version of the format. A reader refuses any other.
const Version = 1

// MaxLineBytes bounds a line. The longest events are rounds with the candidates of every position,
// a few hundred kilobytes.
const MaxLineBytes = 16 << 20

// Bounds on memory. A line of a few megabytes can hold millions of empty tokens, each of which
// takes hundreds of bytes once decoded.
const (
	maxLineObjects = 1 << 14 // objects and lists in one event; the longest rounds have a few thousand
	// Of all events of a trace together, estimated: more than a trace of 128 MB by this program
	// takes.
	maxHeldBytes = 512 << 20
	eventBytes   = 1 << 10 // of an event without its tokens
	objectBytes  = 256     // of a token or a candidate
)

// header is the first line.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

const format = "specula-trace"

// Record is an event and its time.
type Record struct {
	AtMS  float64 // since the trace began
	Event event.Event
}
