package trace

import (
	"io"
	"sync"
	"time"

	"specula/engine/event"
)

// Recorder keeps the newest events of a session. When a recording begins, Recorder writes the kept events
// first, so that the recording shows what happened just before. Recorder is safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex
	now     func() time.Time
	begin   time.Time
	limit   int     // most bytes of records in memory, estimated
	held    int     // bytes of records in memory, estimated
	ready   *Record // the models; this record is never dropped
	records []Record
	dropped bool    // records no longer begins with the first event
	writer  *Writer // nil while nothing is recorded
}

// NewRecorder returns a Recorder that keeps events of about limitBytes.
func NewRecorder(limitBytes int, now func() time.Time) *Recorder {
	return &Recorder{now: now, limit: limitBytes}
}

// Put adds an event. If writing the recording fails, Put ends the recording and returns the error.
func (r *Recorder) Put(e event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begin.IsZero() {
		r.begin = r.now()
	}
	record := Record{AtMS: float64(r.now().Sub(r.begin)) / float64(time.Millisecond), Event: e}
	r.keep(record)
	if r.writer == nil {
		return nil
	}
	err := r.writer.WriteRecord(record)
	if err != nil {
		r.writer = nil
	}
	return err
}

// keep adds a record. If the records then take more than limit bytes, keep drops the oldest quarter, and
// goes on dropping up to the beginning of a reply. It drops a quarter at once, so that it drops seldom.
func (r *Recorder) keep(record Record) {
	if _, ok := record.Event.(event.Ready); ok {
		r.ready = &record
	}
	r.records = append(r.records, record)
	if r.held += size(record.Event); r.held <= r.limit {
		return
	}
	enough, reply := 0, 0 // indices where the newest three quarters begin, and the first reply in them
	for i := range r.records {
		_, begins := r.records[i].Event.(event.ReplyStarted)
		if r.held > r.limit*3/4 {
			r.held -= size(r.records[i].Event)
			enough = i + 1
		} else if begins {
			reply = i
			break
		}
	}
	for i := enough; i < reply; i++ {
		r.held -= size(r.records[i].Event)
	}
	r.records = append([]Record(nil), r.records[max(enough, reply):]...)
	r.dropped = true
}

// size estimates the memory of an event in bytes.
func size(e event.Event) int {
	tokens := func(list []event.Token) int {
		n := 0
		for i := range list {
			t := &list[i]
			n += objectBytes * (1 + (len(t.Target)+len(t.Draft)+len(t.LogProbs))/4)
		}
		return n
	}
	switch e := e.(type) {
	case event.Drafted:
		return eventBytes + tokens(e.Tokens)
	case event.Round:
		n := eventBytes + tokens(e.Draft)
		if e.Commit != nil {
			n += tokens([]event.Token{*e.Commit})
		}
		return n
	case event.ReplyStarted:
		return eventBytes + len(e.Prompt)
	case event.ReplyEnded:
		return eventBytes + len(e.Text) + 4*len(e.IDs) + len(e.Drafts)
	}
	return eventBytes
}

// Records returns the kept records. The record of the Ready event is among them even if records after it were
// dropped; then it comes first. whole reports whether no record was dropped.
func (r *Recorder) Records() (records []Record, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept(), !r.dropped
}

func (r *Recorder) kept() []Record {
	if !r.dropped || r.ready == nil || r.ready.AtMS > r.records[0].AtMS {
		return append([]Record(nil), r.records...)
	}
	return append([]Record{*r.ready}, r.records...)
}

// Begin begins a recording: it writes the kept records as a trace, and from then on Put appends each new
// event. Begin ends an earlier recording.
func (r *Recorder) Begin(w io.Writer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writer = NewWriter(w, r.now)
	for _, record := range r.kept() {
		if err := r.writer.WriteRecord(record); err != nil {
			r.writer = nil
			return err
		}
	}
	return nil
}

// End ends the recording. After End, the caller may close the file.
func (r *Recorder) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writer = nil
}

// Recording reports whether events are being written.
func (r *Recorder) Recording() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writer != nil
}
