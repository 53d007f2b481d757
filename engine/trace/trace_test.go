package trace

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"specula/engine/event"
)

// clock advances by 1.5 ms at every call.
func clock() func() time.Time {
	at := time.Unix(1000, 0)
	return func() time.Time {
		at = at.Add(1500 * time.Microsecond)
		return at
	}
}

func sampleEvents() []event.Event {
	p, q, u := 0.25, 0.5, 0.0
	stop := &event.Token{ID: 2, Verdict: event.Bonus, Stop: true}
	return []event.Event{
		event.Ready{Version: "test", Device: "cpu", Draft: &event.Model{Name: "d"}},
		event.ReplyStarted{Reply: 1, Prompt: "\x1b[31mhi\u2028", Settings: event.Settings{Seed: 1<<53 - 1}},
		event.Drafted{Gamma: 1, Tokens: []event.Token{{ID: 7, Raw: []byte{0xe2, 0x82}}}},
		event.Round{Gamma: 1, Draft: []event.Token{{ID: 7, Raw: []byte{0xff}, P: &p, Q: &q, U: &u, Verdict: event.Accepted}}, Commit: stop, Accepted: 1, Tested: 1},
		event.ReplyEnded{Reply: 1, Reason: "stop", IDs: []int32{7, 2}},
	}
}

func write(t *testing.T, events []event.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, clock())
	for _, e := range events {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func read(r io.Reader) (records []Record, err error) {
	for record, e := range Read(r) {
		if e != nil {
			return records, e
		}
		records = append(records, record)
	}
	return records, nil
}

func TestRoundTrip(t *testing.T) {
	events := sampleEvents()
	records, err := read(bytes.NewReader(write(t, events)))
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != len(events) {
		t.Fatalf("%d records for %d events", len(records), len(events))
	}
	for i, r := range records {
		if !reflect.DeepEqual(r.Event, events[i]) {
			t.Errorf("event %d: got %+v, want %+v", i, r.Event, events[i])
		}
		if want := 1.5 * float64(i); r.AtMS != want {
			t.Errorf("event %d: at %g ms, want %g", i, r.AtMS, want)
		}
	}
}

func TestATraceHasNoControlCharacters(t *testing.T) {
	for i, b := range write(t, sampleEvents()) {
		if b < 0x20 && b != '\n' {
			t.Fatalf("byte %d is the control character %#x", i, b)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	const head = `{"format":"specula-trace","version":1}` + "\n"
	const notice = `{"kind":"notice","atMS":%s,"data":{"level":"info","text":"x"}}` + "\n"
	at := func(ms string) string { return strings.Replace(notice, "%s", ms, 1) }
	tests := []struct {
		name, in string
		line     int
		want     string
		records  int
	}{
		{"empty", "", 1, "empty", 0},
		{"no trace", "hello\n", 1, "this is not a trace", 0},
		{"events without header", at("0"), 1, "this is not a trace", 0},
		{"later version", `{"format":"specula-trace","version":2}` + "\n", 1, "version 2", 0},
		{"no event", head + at("0") + "{}\n" + at("1"), 3, "unknown kind", 1},
		{"blank line", head + "\n", 2, "decoding an event", 0},
		{"wrong type", head + `{"kind":"round","atMS":0,"data":{"gamma":"four"}}` + "\n", 2, "decoding a round event", 0},
		{"time runs backwards", head + at("5") + at("4"), 3, "before the one above it", 1},
		{"many tokens", head + at("0") + `{"kind":"round","atMS":1,"data":{"draft":[` + strings.Repeat("{},", 1<<14) + `{}]}}`, 3, "at most 16384 are read", 1},
		{"much in all", head + strings.Repeat(`{"kind":"notice","atMS":0,"data":{"x":[`+strings.Repeat("{},", 16_000)+"{}]}}\n", 200), 131, "more than 512 MB when it is read", 129},
		{"long line", head + strings.Repeat("x", MaxLineBytes+1), 2, "longer than", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			records, err := read(strings.NewReader(tt.in))
			var at *Error
			if !errors.As(err, &at) || at.Line != tt.line || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want line %d: %s", err, tt.line, tt.want)
			}
			if len(records) != tt.records {
				t.Errorf("%d records before the error, want %d", len(records), tt.records)
			}
		})
	}
}

func TestUnfinishedLastLineIsANotice(t *testing.T) {
	whole := write(t, sampleEvents())
	lastLine := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	records, err := read(bytes.NewReader(whole[:lastLine+10]))
	if err != nil {
		t.Fatal(err)
	}
	last := records[len(records)-1]
	if n, ok := last.Event.(event.Notice); !ok || n.Level != "warning" || !strings.Contains(n.Text, "unfinished line (6)") {
		t.Errorf("the last event is %+v, want a warning about the unfinished line 6", last)
	}
	if before := records[len(records)-2]; last.AtMS != before.AtMS {
		t.Errorf("the notice is at %g ms, the last event at %g", last.AtMS, before.AtMS)
	}
	// A last line that lacks only its newline is complete.
	if records, err := read(bytes.NewReader(bytes.TrimSuffix(whole, []byte("\n")))); err != nil || len(records) != len(sampleEvents()) {
		t.Errorf("without the last newline: %d records, %v", len(records), err)
	}
}

type failing struct{ left int }

var errFull = errors.New("no space left")

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return len(p) / 2, errFull
	}
	return len(p), nil
}

func TestWriterStopsAtTheFirstFailure(t *testing.T) {
	f := &failing{left: 2}
	w := NewWriter(f, clock())
	e := event.Notice{Text: "x"}
	if err := w.Write(e); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Write(e); !errors.Is(err, errFull) {
			t.Errorf("a write after the failure: error %v, want %v", err, errFull)
		}
	}
	if f.left != -1 {
		t.Errorf("%d writes after the failure", -1-f.left)
	}
}

func TestReadFailureIsReported(t *testing.T) {
	whole := write(t, sampleEvents())
	broken := io.MultiReader(bytes.NewReader(whole), failingReader{})
	if _, err := read(broken); !errors.Is(err, errFull) {
		t.Errorf("error %v, want %v", err, errFull)
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errFull }

func FuzzTrace(f *testing.F) {
	var b bytes.Buffer
	w := NewWriter(&b, clock())
	for _, e := range sampleEvents() {
		if err := w.Write(e); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-20])
	for _, s := range []string{"", "\n", `{"format":"specula-trace","version":1}`, `{"format":"specula-trace","version":1}` + "\n" + `{"kind":"round","atMS":1e308,"data":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := read(bytes.NewReader(data))
		if lines := bytes.Count(data, []byte("\n")); len(records) > lines {
			t.Fatalf("%d records in %d lines", len(records), lines+1)
		}
		if err != nil {
			return
		}
		// What was read can be written again, and reads the same.
		var b bytes.Buffer
		w := NewWriter(&b, clock())
		for _, r := range records {
			if err := w.Write(r.Event); err != nil {
				t.Fatal(err)
			}
		}
		if len(records) == 0 {
			return
		}
		again, err := read(&b)
		if err != nil || len(again) != len(records) {
			t.Fatalf("%d records came back as %d: %v", len(records), len(again), err)
		}
		for i := range again {
			// Compared as JSON, in which an empty list and a nil list are the same.
			if got, want := marshal(t, again[i].Event), marshal(t, records[i].Event); got != want {
				t.Fatalf("event %d came back as %s, was %s", i, got, want)
			}
		}
	})
}

func marshal(t *testing.T, e event.Event) string {
	t.Helper()
	line, err := event.Marshal(e, 0)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}
