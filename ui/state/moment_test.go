package state_test

import (
	"slices"
	"testing"

	"specula/engine/event"
	"specula/ui/state"
)

// Back and forth again, the moments are the same: of each round its draft, its verdicts, the target's
// token. A plain round has one moment.
func TestMoments(t *testing.T) {
	commit := token("c", event.Resampled)
	plain := token("p", event.Plain)
	drafted := round(&commit, token("a", event.Accepted), token("b", event.Rejected), token("x", event.Discarded))
	stop := round(nil, token("e", event.Accepted))
	s := play(event.ReplyStarted{Reply: 1}, drafted, round(&plain), event.ReplyEnded{Reply: 1},
		event.ReplyStarted{Reply: 2}, round(&plain), stop)
	first, second := s.Messages[1].ID, s.Messages[3].ID
	want := []state.Moment{
		{Message: first, Round: 0, Steps: 0}, {Message: first, Round: 0, Steps: 1}, {Message: first, Round: 0, Steps: 2}, {Message: first, Round: 0, Steps: 3},
		{Message: first, Round: 1, Steps: 1},
		{Message: second, Round: 0, Steps: 1},
		{Message: second, Round: 1, Steps: 0},
	}
	var back []state.Moment
	for at := s.Back(state.Moment{}); len(back) < 20 && (len(back) == 0 || at != back[len(back)-1]); at = s.Back(at) {
		back = append(back, at)
	}
	slices.Reverse(back)
	if !slices.Equal(back, want) {
		t.Errorf("back: %v, want %v", back, want)
	}
	var forth []state.Moment
	for at := want[0]; at != (state.Moment{}) && len(forth) < 20; at = s.Forth(at) {
		forth = append(forth, at)
	}
	if !slices.Equal(forth, want) {
		t.Errorf("forth: %v, want %v", forth, want)
	}
}

func TestAMomentKnowsNothingOfWhatComesLater(t *testing.T) {
	commit, p, u := token("c", event.Resampled), 0.3, 0.9
	reply := []event.Token{token("a", event.Accepted), token("b", event.Rejected), token("x", event.Discarded)}
	for i := range reply {
		reply[i].P, reply[i].U, reply[i].Target = &p, &u, []event.Candidate{{ID: 1, P: 1}}
	}
	s := play(event.ReplyStarted{Reply: 1}, round(&commit, reply...))
	at := state.Moment{Message: s.Messages[1].ID}
	for steps, want := range []struct {
		judged, end int
		commit      bool
	}{{0, 3, false}, {1, 3, false}, {3, 3, false}, {4, 4, true}} {
		at.Steps = steps
		past, ok := s.Past(at)
		if !ok || past.Judged != want.judged || past.End != want.end || (past.Commit != nil) != want.commit {
			t.Errorf("%d steps: %v %+v", steps, ok, past)
		}
		for i, tok := range past.Draft {
			if known := i < past.Judged; known != (tok.Fate != "") || known != (tok.P != nil) || known != (tok.Target != nil) {
				t.Errorf("%d steps: token %d is %+v", steps, i, tok)
			}
		}
	}
	if _, ok := s.Past(state.Moment{Message: 99}); ok {
		t.Error("a moment of a message that does not exist")
	}
}

// A stop token has the same name in the present and in the past, and no text.
func TestAStopTokenKeepsItsName(t *testing.T) {
	for _, c := range []struct{ name, want string }{{"<|im_end|>", "<|im_end|>"}, {"", "<end>"}} {
		s := play(event.ReplyStarted{Reply: 1}, round(nil, token("a", event.Accepted), event.Token{Verdict: event.Accepted, Stop: true, Name: c.name}))
		past, ok := s.Past(state.Moment{Message: s.Messages[1].ID, Steps: 2})
		if !ok {
			t.Fatal("the round is not kept")
		}
		for _, of := range [][]state.Token{s.Last.Draft, past.Draft} {
			if stop := of[1]; stop.Spelling() != c.want || stop.Text != "" {
				t.Errorf("%q: spelled %q, text %q", c.name, stop.Spelling(), stop.Text)
			}
		}
	}
}
