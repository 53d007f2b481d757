package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"specula/engine/event"
)

// Writer writes a trace line by line without a buffer, so that after a crash the file has all events up to
// the crash. Writer is not safe for concurrent use.
type Writer struct {
	w     io.Writer
	now   func() time.Time
	begin time.Time
	err   error // the first failure, after which nothing is written
	began bool
}

// NewWriter returns a Writer. Its clock starts, and its header is written, with the first event.
func NewWriter(w io.Writer, now func() time.Time) *Writer { return &Writer{w: w, now: now} }

// Write appends one event. After a failure every call returns the error of this failure, because a line may
// have been cut.
func (t *Writer) Write(e event.Event) error {
	if t.err == nil {
		t.err = t.write(e)
	}
	return t.err
}

func (t *Writer) write(e event.Event) error {
	now := t.now()
	if !t.began {
		t.begin = now
	}
	return t.record(Record{AtMS: float64(now.Sub(t.begin)) / float64(time.Millisecond), Event: e})
}

// WriteRecord writes an event with its own time. Use either Write or WriteRecord for a trace, not both.
func (t *Writer) WriteRecord(r Record) error {
	if t.err == nil {
		t.err = t.record(r)
	}
	return t.err
}

func (t *Writer) record(r Record) error {
	if !t.began {
		t.began = true
		line, err := json.Marshal(header{Format: format, Version: Version})
		if err != nil {
			return fmt.Errorf("encoding the trace's header: %w", err)
		}
		if err := t.line(line); err != nil {
			return err
		}
	}
	line, err := event.Marshal(r.Event, r.AtMS)
	if err != nil {
		return err
	}
	return t.line(line)
}

func (t *Writer) line(line []byte) error {
	if len(line) >= MaxLineBytes {
		return fmt.Errorf("writing the trace: an event of %d bytes is longer than the limit of %d", len(line), MaxLineBytes)
	}
	if _, err := t.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}
