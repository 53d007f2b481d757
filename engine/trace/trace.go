// Package trace writes a stream of events to a file and reads it back: one JSON object a line, so that a reply can be shown
// again without a model, and read by other programs with no library.
//
// The first line is a header with the format's version. Every further line is an event as [event.Marshal] encodes it.
// A reader accepts an unfinished last line, as a program that was killed leaves it, and says so; anything else that is not an
// event is an error that names the line.
package trace

import "specula/engine/event"

// Version of the format. A reader refuses another one.
const Version = 1

// MaxLineBytes bounds a line. The longest events are rounds with the candidates of every position, some hundred kilobytes at worst.
const MaxLineBytes = 16 << 20

// A line of a few megabytes can hold millions of empty tokens, each of which takes hundreds of bytes when it is read.
const (
	maxLineObjects = 1 << 14   // objects and lists of one event; the longest rounds have some thousand
	maxHeldBytes   = 512 << 20 // of all events of a trace together, about: more than a trace of 128 MB by this program takes
	eventBytes     = 1 << 10   // of an event without its tokens
	objectBytes    = 256       // of a token or a candidate
)

// header is the first line.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

const format = "specula-trace"

// Record is an event and when it happened.
type Record struct {
	AtMS  float64 // since the trace began
	Event event.Event
}
