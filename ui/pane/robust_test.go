package pane_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/state/statetest"
	"specula/ui/theme"
	"specula/ui/transcript"
)

// With random events in random windows, nothing panics and every line is exactly as wide as the window.
func TestFramesAreExactWhateverComes(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, view := state.New(), transcript.New()
		for i, e := range statetest.Random(r, 120) {
			s.Apply(e)
			if i%4 != 0 {
				continue
			}
			sc := anyScreen(r, s)
			wander(r, s, view, &sc)
			got := frame(s, view, sc)
			if why := inexact(got, sc); why != "" {
				t.Fatalf("seed %d, event %d, %+v: %s", seed, i, sc, why)
			}
		}
	}
}

func anyScreen(r *rand.Rand, s *state.State) screen {
	sc := screen{w: 1 + r.IntN(300), h: 1 + r.IntN(80), theme: theme.Names()[r.IntN(3)], ascii: r.IntN(4) == 0, inspector: r.IntN(2) == 0,
		tradeoff: r.IntN(2) == 0, few: r.IntN(3) == 0}
	sc.cells = []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth}[r.IntN(2)]
	if r.IntN(2) == 0 { // small sizes are the hard ones
		sc.w, sc.h = 38+r.IntN(40), 8+r.IntN(20)
	}
	sc.view = transcript.Options{Reading: r.IntN(4) == 0, Rejected: transcript.Rejected(r.IntN(3)), Welcome: []string{"specula"}, Cursor: s.Newest()}
	return sc
}

// wander does random things that a user may do.
func wander(r *rand.Rand, s *state.State, v *transcript.View, sc *screen) {
	switch r.IntN(7) {
	case 0:
		v.Scroll(r.IntN(41) - 20)
	case 1:
		v.Follow()
	case 2:
		if ref, ok := v.Hit(r.IntN(sc.w), r.IntN(sc.h)); ok {
			sc.view.Cursor = ref
		}
	case 3:
		sc.view.Cursor = s.Step(s.Newest(), r.IntN(2) == 0, r.IntN(2) == 0)
		v.Reveal(sc.view.Cursor)
	case 4:
		sc.view.Cursor, _ = v.Vertical(s.Newest(), r.IntN(2) == 0)
	case 5:
		for range r.IntN(30) {
			sc.view.At = s.Back(sc.view.At)
		}
		for range r.IntN(20) {
			sc.view.At = s.Forth(sc.view.At)
		}
	case 6:
		if r.IntN(4) == 0 {
			s.RemoveLast()
		}
	}
}

// inexact says what is wrong with a frame of a screen; "" if nothing.
func inexact(frame string, sc screen) string {
	lines := strings.Split(frame, "\n")
	if len(lines) != sc.h {
		return fmt.Sprintf("%d lines, want %d", len(lines), sc.h)
	}
	for y, line := range lines {
		if got := sc.cells.StringWidth(line); got != sc.w {
			return fmt.Sprintf("line %d has %d cells, want %d: %q", y, got, sc.w, line)
		}
	}
	return ""
}

// The screen depends on the events alone, so applying them to a new state draws the same frame.
func TestReplayDrawsTheSameFrame(t *testing.T) {
	events := statetest.Chat(-1)
	live, view := state.New(), transcript.New()
	sc := screen{w: 120, h: 36, theme: "dark"}
	for i, e := range events {
		live.Apply(e)
		got := frame(live, view, sc)
		if want := frame(stateOf(events[:i+1]), transcript.New(), sc); got != want {
			t.Fatalf("after event %d (%s) the live frame differs from the replayed one:\n%s\n%s", i, e.Kind(), ansi.Strip(got), ansi.Strip(want))
		}
	}
}

func TestLaneShowsEveryFate(t *testing.T) {
	th, _ := theme.Named("mono", true)
	u := 0.5
	token := func(text string, v event.Verdict) event.Token {
		return event.Token{Text: text, Raw: []byte(text), Verdict: v, U: &u}
	}
	commit := token(" lay", event.Resampled)
	round := event.Round{Index: 3, Gamma: 4, Path: "stochastic", Temperature: 1, Accepted: 2, Tested: 3, Commit: &commit, Draft: []event.Token{
		token(" the", event.Accepted), token(" cat", event.Accepted), token(" sat", event.Rejected), token(" on", event.Discarded),
	}}
	s := stateOf([]event.Event{event.ReplyStarted{Reply: 1}, round})
	lines := pane.Lane(s, th, 60, 4, pane.LaneOptions{})
	got := ansi.Strip(strings.Join(lines[1:], "\n"))
	want := "" +
		"  draft     ␣the      ␣cat      ␣sat      ␣on               \n" +
		"  q p       –    –    –    –    –    –    –    –            \n" +
		"  verdict   ✓         ✓         ✗→␣lay    discarded         "
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// The list of choices belongs to one place of the draft. The bonus token and a token in place of a refused
// one have another place, with other probabilities, so they do not stand among the choices of a kept token.
func TestChoicesAreThoseOfTheirPlace(t *testing.T) {
	th, _ := theme.Named("mono", true)
	one, u := 0.9, 0.5
	token := func(id int32, text string, v event.Verdict) event.Token {
		return event.Token{ID: id, Text: text, Raw: []byte(text), Verdict: v, P: &one, Q: &one, U: &u, Target: []event.Candidate{{ID: id, Text: text, P: one}}}
	}
	for verdict, commit := range map[event.Verdict]event.Token{event.Accepted: token(9, " bonus", event.Bonus), event.Rejected: token(9, " instead", event.Resampled)} {
		round := event.Round{Gamma: 2, Path: "stochastic", Temperature: 1, Accepted: 1, Tested: 2, Commit: &commit,
			Draft: []event.Token{token(1, " the", event.Accepted), token(2, " cat", verdict)}}
		s := stateOf([]event.Event{event.ReplyStarted{Reply: 1}, round})
		m := s.Messages[len(s.Messages)-1]
		for i := range round.Draft {
			cursor := state.Ref{Message: m.ID, Token: i}
			lane := ansi.Strip(strings.Join(pane.Lane(s, th, 120, 9, pane.LaneOptions{At: s.RoundOf(cursor), Cursor: cursor}), "\n"))
			if !strings.Contains(lane, "target says") {
				t.Fatalf("no list of choices in\n%s", lane)
			}
			if got, want := strings.Contains(lane, "← drawn"), round.Draft[i].Verdict == event.Rejected; got != want {
				t.Errorf("a token in place of token %d (%s) is listed: %v, want %v\n%s", i, round.Draft[i].Verdict, got, want, lane)
			}
		}
	}
}

func TestLaneNamesTheProposer(t *testing.T) {
	th, _ := theme.Named("mono", true)
	drafted := []event.Token{{Text: "a", Verdict: event.Accepted}}
	for _, c := range []struct {
		proposer, why string
		draft         []event.Token
		want          []string
	}{
		{"draft", "", drafted, nil},
		{"suffix", "it is sure", drafted, []string{"from what came most often before", "it is sure"}},
		{"skip", "", drafted, []string{"from the target without some layers"}},
		{"none", "", nil, []string{"no draft", "no heads"}},
	} {
		round := event.Round{Index: 1, Gamma: 1, Path: "greedy", Proposer: c.proposer, ProposerWhy: c.why, Draft: c.draft}
		if c.draft == nil {
			round.DraftWhy, round.Commit = "no heads", &event.Token{Text: "b", Verdict: event.Plain}
		}
		got := ansi.Strip(strings.Join(pane.Lane(stateOf([]event.Event{statetest.Ready(), event.ReplyStarted{Reply: 1}, round}), th, 90, 8, pane.LaneOptions{}), "\n"))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", c.proposer, want, got)
			}
		}
		if c.want == nil && strings.Contains(got, "from") {
			t.Errorf("%s is named in\n%s", c.proposer, got)
		}
	}
}

// BenchmarkFrame draws a whole window over a chat of 5,000 tokens while a new round arrives.
func BenchmarkFrame(b *testing.B) {
	s := stateOf([]event.Event{statetest.Ready()})
	for s.Newest().Token < 5000 {
		m := s.Newest().Message
		for _, e := range statetest.Chat(-1) {
			switch e := e.(type) {
			case event.ReplyStarted:
				if m == 0 {
					s.Apply(e)
				}
			case event.Round, event.Drafted:
				s.Apply(e)
			}
		}
	}
	events := statetest.Chat(20)
	round := events[len(events)-1]
	view, sc := transcript.New(), screen{w: 200, h: 50, theme: "dark"}
	b.ReportAllocs()
	for b.Loop() {
		s.Apply(round)
		_ = frame(s, view, sc)
	}
}
