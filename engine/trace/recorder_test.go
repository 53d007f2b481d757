package trace_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"specula/engine/event"
	"specula/engine/trace"
)

// tick returns a clock that goes on by a millisecond with each look.
func tick() func() time.Time {
	now := time.Unix(1000, 0)
	return func() time.Time { now = now.Add(time.Millisecond); return now }
}

// chat puts n replies of eight rounds.
func chat(t *testing.T, r *trace.Recorder, from, n int) {
	t.Helper()
	put := func(e event.Event) {
		if err := r.Put(e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		put(event.ReplyStarted{Reply: from + i, Prompt: "hello"})
		for k := range 8 {
			put(event.Round{Index: k, Draft: make([]event.Token, 4), Commit: &event.Token{ID: int32(k)}})
		}
		put(event.ReplyEnded{Reply: from + i, Reason: "stop"})
	}
}

func read(t *testing.T, text string) []trace.Record {
	t.Helper()
	var records []trace.Record
	for r, err := range trace.Read(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func TestARecordingHasThePast(t *testing.T) {
	r := trace.NewRecorder(1<<20, tick())
	if err := r.Put(event.Ready{Version: "1"}); err != nil {
		t.Fatal(err)
	}
	chat(t, r, 1, 1)
	var file bytes.Buffer
	if err := r.Begin(&file); err != nil {
		t.Fatal(err)
	}
	chat(t, r, 2, 1)
	r.End()
	chat(t, r, 3, 1)
	got := read(t, file.String())
	all, whole := r.Records()
	if !whole || len(all) != 31 || !reflect.DeepEqual(got, all[:21]) {
		t.Errorf("%d records, want the first 21 of %d", len(got), len(all))
	}
	for i := 1; i < len(got); i++ {
		if got[i].AtMS <= got[i-1].AtMS {
			t.Errorf("record %d is at %g ms, after one at %g ms", i, got[i].AtMS, got[i-1].AtMS)
		}
	}
}

func TestThePastIsBounded(t *testing.T) {
	const limit = 256 << 10
	r := trace.NewRecorder(limit, tick())
	if err := r.Put(event.Ready{Version: "1"}); err != nil {
		t.Fatal(err)
	}
	chat(t, r, 1, 1000)
	records, whole := r.Records()
	if whole || len(records) < 50 || len(records) > 200 {
		t.Errorf("%d records are kept, whole %v", len(records), whole)
	}
	if _, ok := records[0].Event.(event.Ready); !ok {
		t.Errorf("the first record is a %s", records[0].Event.Kind())
	}
	if e, ok := records[1].Event.(event.ReplyStarted); !ok || e.Reply < 900 {
		t.Errorf("what is kept begins with %+v", records[1].Event)
	}
	if e := records[len(records)-1].Event.(event.ReplyEnded); e.Reply != 1000 {
		t.Errorf("what is kept ends with %+v", e)
	}
	// One reply without end is bounded, too.
	for i := range 10_000 {
		if err := r.Put(event.Round{Index: i, Draft: make([]event.Token, 4)}); err != nil {
			t.Fatal(err)
		}
	}
	if records, _ := r.Records(); len(records) < 50 || len(records) > 200 {
		t.Errorf("%d records of an endless reply are kept", len(records))
	}
}

type fullAfter struct{ n int }

var errFull = errors.New("no space left on device")

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAFullDiskEndsARecordingOnce(t *testing.T) {
	r := trace.NewRecorder(1<<20, tick())
	if err := r.Begin(&fullAfter{2}); err != nil {
		t.Fatal(err)
	}
	var failed []error
	for range 5 {
		if err := r.Put(event.Notice{Text: "x"}); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) != 1 || !errors.Is(failed[0], errFull) || r.Recording() {
		t.Errorf("errors %v, recording %v", failed, r.Recording())
	}
	if err := r.Begin(&fullAfter{3}); !errors.Is(err, errFull) {
		t.Errorf("a recording whose past does not fit: %v", err)
	}
}
