package event_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"specula/engine/event"
)

func one[T any](x T) *T { return &x }

// every returns an event of every kind, with every kind of value set.
func every() []event.Event {
	token := event.Token{
		ID: 7, Raw: []byte{0xc3}, Text: " the", P: one(0.25), Q: one(0.5), U: one(0.75), Verdict: event.Rejected,
		Target: []event.Candidate{{ID: 7, Text: " the", P: 0.25}}, Draft: []event.Candidate{{ID: 8, Text: "\n", P: 0.5}},
	}
	commit := event.Token{ID: 9, Raw: []byte("a"), Text: "a", Verdict: event.Resampled}
	return []event.Event{
		event.Loading{What: "target", Name: "x.gguf", DoneBytes: 1, TotalBytes: 2},
		event.Ready{Version: "1", Target: event.Model{Name: "t", Layers: 6}, Draft: &event.Model{Name: "d"}, Device: "cpu", LoadMS: 1.5},
		event.ReplyStarted{Reply: 1, Prompt: "hello", PromptTokens: 9, Settings: event.Settings{Temperature: 0.7, Seed: 1<<53 - 1}},
		event.Prefill{Model: "draft", Done: 3, Total: 9, MS: 0.5},
		event.Drafted{Round: 2, Gamma: 4, Proposer: "draft", Tokens: []event.Token{token}, DraftMS: 0.25},
		event.Round{Index: 2, Path: "stochastic", Draft: []event.Token{token}, Commit: &commit, Tested: 1, AcceptanceByPosition: []float64{0.5}},
		event.SettingChanged{Round: -1, Name: "speculation.gamma", From: "4", To: "5"},
		event.ReplyEnded{Reply: 1, Reason: "stop", Text: "a", IDs: []int32{9}, Totals: event.Totals{PlainMSPerToken: one(2.5)}},
		event.Notice{Level: "info", Text: "x"},
		event.Failed{Error: "no"},
	}
}

func TestEveryEventSurvivesItsJSON(t *testing.T) {
	for _, want := range every() {
		line, err := event.Marshal(want, 12.5)
		if err != nil {
			t.Fatal(err)
		}
		got, at, err := event.Unmarshal(line)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) || at != 12.5 {
			t.Errorf("%s at %g:\ngot  %+v\nwant %+v", want.Kind(), at, got, want)
		}
	}
}

func TestLinesThatAreNoEvents(t *testing.T) {
	tests := []struct{ line, says string }{
		{`{`, "decoding an event"},
		{`{"kind":"applause","data":{}}`, `unknown kind "applause"`},
		{`{"kind":"round","data":{"index":"two"}}`, "decoding a round event"},
		{`{"kind":"round"}`, "decoding a round event"},
	}
	for _, tt := range tests {
		if e, _, err := event.Unmarshal([]byte(tt.line)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: event %v, error %v, want one that says %q", tt.line, e, err, tt.says)
		}
	}
}

func TestCommittedTokensOfAHostileRound(t *testing.T) {
	hostile := event.Round{Accepted: -5, Draft: []event.Token{{ID: 1, Verdict: event.Accepted}, {ID: 2, Verdict: event.Discarded}}}
	if got := hostile.Committed(); len(got) != 1 || got[0].ID != 1 {
		t.Errorf("committed %+v, want token 1 alone", got)
	}
}

func Example() {
	line, _ := event.Marshal(event.SettingChanged{Round: 3, Name: "speculation.gamma", From: "4", To: "6"}, 80)
	fmt.Println(string(line))
	// Output:
	// {"kind":"setting-changed","atMS":80,"data":{"round":3,"name":"speculation.gamma","from":"4","to":"6"}}
}
