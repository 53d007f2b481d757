package cli

import (
	"testing"

	"specula/engine/event"
)

// recordedRounds returns a reply of one round for each list of tokens.
func recordedRounds(ms float64, rounds ...[]int32) []event.Event {
	events := []event.Event{event.ReplyStarted{Reply: 1, Prompt: "hello"}}
	for i, ids := range rounds {
		r := event.Round{Index: i, VerifyMS: ms}
		for _, id := range ids[:len(ids)-1] {
			r.Draft = append(r.Draft, event.Token{ID: id, Raw: []byte{byte(id)}, Verdict: event.Accepted})
		}
		last := ids[len(ids)-1]
		r.Commit = &event.Token{ID: last, Raw: []byte{byte(last)}, Verdict: event.Bonus}
		events = append(events, r)
	}
	return append(events, event.ReplyEnded{Reply: 1, Reason: "stop"})
}

func TestWhereRecordingsPart(t *testing.T) {
	a := recordedRounds(3, []int32{'a', 'b'}, []int32{'c'}, []int32{'d'})
	for _, tt := range []struct {
		name     string
		b        []event.Event
		position int
		why      string
	}{
		{"the same text in other rounds", recordedRounds(1, []int32{'a', 'b', 'c', 'd'}), -1, ""},
		{"another token", recordedRounds(1, []int32{'a', 'b'}, []int32{'x', 'd'}), 2, `there "c" (round 2, bonus) stands against "x" (round 2, accepted)`},
		{"an earlier end", recordedRounds(1, []int32{'a', 'b', 'c'}), 3, `there "d" (round 3, bonus) stands against the end`},
	} {
		o := recordings{replies: [2][]event.Event{a, tt.b}}.Outcome()
		if o.Position != tt.position || o.Why != tt.why || o.Same != (tt.position < 0) || !o.Free {
			t.Errorf("%s: %+v, want a difference at %d: %s", tt.name, o, tt.position, tt.why)
		}
	}
}

// Both recordings go on by the engine's time: three short rounds pass during a long one.
func TestRecordingsShareOneAxisOfTime(t *testing.T) {
	r := recordings{replies: [2][]event.Event{
		recordedRounds(3, []int32{'a'}, []int32{'b'}), recordedRounds(1, []int32{'a'}, []int32{'b'}, []int32{'c'}, []int32{'d'}, []int32{'e'}),
	}}
	order := ""
	for lane, e := range r.Run(t.Context(), nil) {
		if _, ok := e.(event.Round); ok {
			order += string(rune('a' + lane))
		}
	}
	if order != "abbbabb" {
		t.Errorf("rounds come in the order %s", order)
	}
}
