package state_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"specula/engine/event"
	"specula/ui/state"
	"specula/ui/state/statetest"
)

// A reopened chat draws what the live one drew: messages, tokens, rounds, the graphs' history and the
// totals.
func TestAReopenedChatIsAsItWas(t *testing.T) {
	changed := event.SettingChanged{Round: -1, Name: "sampling.temperature", From: "0.7", To: "0.8"}
	events := append([]event.Event{changed}, statetest.Chat(-1)...)
	live := play(append(events, statetest.Chat(-1)...)...)
	again := play(statetest.Chat(6)...) // another chat is on screen
	again.Apply(event.SettingChanged{Round: -1, Name: "sampling.top_k", From: "40", To: "20"})
	again.Reopen(slices.Collect(live.Turns()))
	if len(again.Messages) != len(live.Messages) {
		t.Fatalf("%d messages, want %d", len(again.Messages), len(live.Messages))
	}
	for i, m := range again.Messages {
		same := *m
		same.ID = live.Messages[i].ID
		if !reflect.DeepEqual(&same, live.Messages[i]) {
			t.Errorf("message %d is\n%+v, was\n%+v", i, same, live.Messages[i])
		}
	}
	got, want, reply := again.Recent(1000), live.Recent(1000), again.Reply
	reply.Number = live.Reply.Number // also counts the replies of the other chat
	if got != want || !reflect.DeepEqual(reply, live.Reply) || !reflect.DeepEqual(again.Last, live.Last) {
		t.Errorf("figures %+v\n%+v\nwere %+v\n%+v", got, again.Reply, want, live.Reply)
	}
	if len(again.History) != len(live.History) || !reflect.DeepEqual(again.History[0].Marks, live.History[0].Marks) {
		t.Errorf("the graphs show %d rounds, want %d; the first is marked %q, want %q",
			len(again.History), len(live.History), again.History[0].Marks, live.History[0].Marks)
	}
	again.Apply(event.ReplyStarted{Reply: 1})
	x := token("x", event.Plain)
	again.Apply(round(&x))
	if w := again.Recent(16); w.Rounds != 1 {
		t.Errorf("the figures of a new reply count %d rounds, want its own only", w.Rounds)
	}
	if marks := again.History[len(again.History)-1].Marks; !slices.Equal(marks, []state.Mark{{Setting: "top-k", Value: "20"}}) {
		t.Errorf("the next round is marked %q, want the setting that was changed before", marks)
	}
}

// The text on screen must be the text that is copied and given to the model.
func TestEventsThatDoNotSpellTheTextAreNotDrawn(t *testing.T) {
	live := play(statetest.Chat(-1)...)
	for name, spoil := range map[string]func(*state.Turn){
		"another text":     func(t *state.Turn) { t.Raw = "Something else." },
		"a text that ends": func(t *state.Turn) { t.Raw = t.Raw[:len(t.Raw)-4] },
		"a lost round":     func(t *state.Turn) { t.Record.Events = slices.Delete(t.Record.Events, 3, 4) },
		"a longer text":    func(t *state.Turn) { t.Raw += " And more." },
		"no rounds":        func(t *state.Turn) { t.Raw, t.Record.Events, t.Reason = "", nil, "error" },
		"no beginning":     func(t *state.Turn) { t.Record.Started = nil },
	} {
		turns := slices.Collect(live.Turns())
		spoil(&turns[1])
		s := state.New()
		s.Reopen(turns)
		if len(s.Messages) != 2 || len(s.Messages[1].Tokens) != 0 || s.Messages[1].Raw != turns[1].Raw || len(s.History) != 0 {
			t.Errorf("%s: %d messages, the reply has %d tokens", name, len(s.Messages), len(s.Messages[1].Tokens))
		}
	}
}

// A saved chat may come from anyone. Whatever it contains, the state stays within its limits and usable.
func TestAnyStoredChatCanBeReopened(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		var turns []state.Turn
		for range 6 {
			record := state.Record{Started: &event.ReplyStarted{Reply: random.IntN(5) - 2}, Events: statetest.Random(random, 40)}
			text := ""
			for _, e := range record.Events {
				if r, ok := e.(event.Round); ok {
					for _, token := range r.Committed() {
						text += token.Text
					}
				}
			}
			turns = append(turns, state.Turn{Role: "user", Raw: "x"}, state.Turn{Role: "assistant", Raw: text, Record: record})
		}
		s := state.New()
		s.Reopen(turns)
		if got := slices.Collect(s.Turns()); len(got) != len(turns) || s.Phase != state.Starting {
			t.Fatalf("seed %d: %d turns of %d, phase %d", seed, len(got), len(turns), s.Phase)
		}
		for i, turn := range slices.Collect(s.Turns()) {
			if turn.Raw != turns[i].Raw {
				t.Fatalf("seed %d: turn %d says %q, want %q", seed, i, turn.Raw, turns[i].Raw)
			}
		}
		for _, e := range statetest.Chat(-1) {
			s.Apply(e)
		}
	}
}

func TestOldCandidatesAreNotSaved(t *testing.T) {
	s := state.New()
	x := token(" word", event.Accepted)
	x.Target = []event.Candidate{{Text: "a"}}
	for reply := range 30 {
		s.Apply(event.ReplyStarted{Reply: reply + 1, Prompt: "p"})
		for range 100 {
			s.Apply(round(&x, x, x, x))
		}
		s.Apply(event.ReplyEnded{Reply: reply + 1})
	}
	candidates, tokens := 0, 0
	for turn := range s.Turns() {
		for _, e := range turn.Record.Events {
			r, _ := e.(event.Round)
			for _, token := range r.Committed() {
				tokens++
				candidates += len(token.Target)
			}
		}
	}
	if tokens != 12_000 || candidates > 8_100 || candidates < 4_000 {
		t.Errorf("of %d tokens, %d are saved with candidates", tokens, candidates)
	}
}
