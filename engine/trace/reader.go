package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"specula/engine/event"
)

// Error says which line of a trace is wrong, and why.
type Error struct {
	Line int // counts from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("trace line %d: %v", e.Line, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// Read yields the records of a trace in order. An error comes as the last pair. If the last line has no
// newline and is not an event, the writing program was killed; then Read yields a Notice and no error.
func Read(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		t := reader{lines: bufio.NewReaderSize(r, 64<<10)}
		if err := t.header(); err != nil {
			yield(Record{}, &Error{t.line, err})
			return
		}
		for {
			record, err := t.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Record{}, &Error{t.line, err})
				return
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

type reader struct {
	lines *bufio.Reader
	line  int     // number of the last line that was read
	atMS  float64 // time of the last record
	held  int     // bytes in memory of all records so far, estimated
}

func (t *reader) header() error {
	text, _, err := t.read()
	if err == io.EOF {
		return errors.New("the file is empty; a trace begins with a header line")
	}
	if err != nil {
		return err
	}
	var h header
	if json.Unmarshal(text, &h) != nil || h.Format != format {
		return fmt.Errorf("this is not a trace: the first line must be {\"format\":%q,\"version\":%d}, got %.64q", format, Version, text)
	}
	if h.Version != Version {
		return fmt.Errorf("the trace has version %d; this program reads version %d", h.Version, Version)
	}
	return nil
}

func (t *reader) next() (Record, error) {
	text, whole, err := t.read()
	if err != nil {
		return Record{}, err
	}
	objects := event.Objects(text)
	if objects > maxLineObjects {
		return Record{}, fmt.Errorf("the event has %d objects; at most %d are read", objects, maxLineObjects)
	}
	if t.held += len(text) + eventBytes + objects*objectBytes; t.held > maxHeldBytes {
		return Record{}, fmt.Errorf("the trace takes more than %d MB when it is read: keep what is above this line", maxHeldBytes>>20)
	}
	e, atMS, err := event.Unmarshal(text)
	switch {
	case err != nil && !whole:
		e, atMS = event.Notice{Level: "warning", Text: fmt.Sprintf("The trace ends in an unfinished line (%d); the program that wrote it was stopped.", t.line)}, t.atMS
	case err != nil:
		return Record{}, err
	case !(atMS >= t.atMS) || math.IsInf(atMS, 0):
		return Record{}, fmt.Errorf("the event happened at %g ms, before the one above it at %g ms", atMS, t.atMS)
	}
	t.atMS = atMS
	return Record{AtMS: atMS, Event: e}, nil
}

// read returns the next line without its newline. whole reports whether the line ended with a newline. text
// is valid until the next call.
func (t *reader) read() (text []byte, whole bool, err error) {
	t.line++
	var long []byte // a line that does not fit into the buffer
	for {
		part, err := t.lines.ReadSlice('\n')
		if len(long)+len(part) > MaxLineBytes {
			return nil, false, fmt.Errorf("the line is longer than %d bytes", MaxLineBytes)
		}
		switch {
		case err == nil:
			part = part[:len(part)-1]
			if long == nil {
				return part, true, nil
			}
			return append(long, part...), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
		case err == io.EOF && len(long)+len(part) > 0:
			return append(long, part...), false, nil
		default:
			return nil, false, err
		}
	}
}
