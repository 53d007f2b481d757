package pane_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/theme"
)

// The head line says how much faster speculation is than plain decoding, with the rates of both, or
// why that is not known. The side column and the strip say the same.
func TestTheHeadLine(t *testing.T) {
	// 4 tokens in 10 ms, after 50 ms of reading that do not count: 400 tokens a second.
	fast := event.Round{Gamma: 4, ReadMS: 50, DraftMS: 2, VerifyMS: 8, Speedup: 2}
	for range 3 {
		fast.Draft = append(fast.Draft, event.Token{Text: "a", Verdict: event.Accepted})
	}
	fast.Commit = &event.Token{Text: "b", Verdict: event.Bonus}
	with := func(change func(r *event.Round)) event.Round {
		r := fast
		change(&r)
		return r
	}
	plain := event.Round{VerifyMS: 4, Commit: &event.Token{Text: "b", Verdict: event.Plain}}
	for _, c := range []struct {
		name   string
		round  event.Round
		off    bool
		strip  string // 40 cells wide
		panel  string
		styled bool // as a loss
	}{
		{"nothing yet", plain, false, "speed-up: after the first draft", "speed-up: after the first draft with drafts not yet without 250 tok/s", false},
		{"measured", fast, false, "×2.00 faster 400 vs 200 tok/s", "x2.00 faster with drafts 400 tok/s ######## measured without 200 tok/s ####", false},
		{"estimated", with(func(r *event.Round) { r.SpeedupEstimated = true }), false, "≈×2.00 faster 400 vs ≈200 tok/s",
			"~x2.00 faster with drafts 400 tok/s ######## estimated from 1 round without ~200 tok/s ####", false},
		{"draft too slow", with(func(r *event.Round) { r.Speedup = 0.94 }), false, "×0.94 slower: drafting takes too long",
			"x0.94 slower with drafts 400 tok/s ######## drafting takes too long without 426 tok/s ########", true},
		{"too little kept", with(func(r *event.Round) { r.Speedup = 0.5 }), false, "×0.50 slower: too few tokens are kept",
			"x0.50 slower with drafts 400 tok/s #### too few tokens are kept without 800 tok/s ########", true},
		{"nearly all is kept, as on a slow server", with(func(r *event.Round) { r.Speedup, r.Tested, r.Accepted = 0.5, 3, 3 }), false, "×0.50 slower: checking takes too long",
			"x0.50 slower with drafts 400 tok/s #### checking takes too long without 800 tok/s ########", true},
		{"a loss in a single round is not called one", with(func(r *event.Round) { r.Speedup, r.SpeedupEstimated = 0.5, true }), false,
			"≈×0.50 slower so far: only 1 round yet", "~x0.50 slower so far with drafts 400 tok/s #### only 1 round yet without ~800 tok/s ########", false},
		{"neither", with(func(r *event.Round) { r.Speedup = 0.997 }), false, "×1.00 as fast as without", "x1.00 as fast as without with drafts 400", false},
		{"switched off", plain, true, "speculation is off without 250 tok/s", "speculation is off with drafts off without 250 tok/s", false},
		{"does not pay", with(func(r *event.Round) { r.Gamma, r.Draft, r.GammaOff = 0, nil, "acceptance 0.1" }), false,
			"no draft now: acceptance 0.1", "no draft now with drafts not now acceptance 0.1 without 100 tok/s", false},
		{"does not pay, in long words", with(func(r *event.Round) { r.Gamma, r.Draft, r.GammaOff = 0, nil, "drafting takes 0.9 of a plain pass" }), false,
			"no draft now: drafting takes 0.9", "no draft now with drafts not now drafting takes 0.9 of a plain pass without 100 tok/s", false},
	} {
		s := state.New()
		s.Apply(event.ReplyStarted{Reply: 1, Settings: event.Settings{Gamma: 4, GammaMax: 8, GammaRule: "fixed", Speculate: !c.off}})
		if strings.HasPrefix(c.name, "does not pay") {
			s.Apply(fast)
		}
		s.Apply(c.round)
		th, _ := theme.Named("dark", true)
		strip := pane.Head(s, th, 40, 1)[0]
		if got := words(strip); !strings.HasPrefix(got, c.strip) {
			t.Errorf("%s: the strip says %q, want %q", c.name, got, c.strip)
		}
		if got := strings.Contains(strip, string(th.Error)); got != c.styled {
			t.Errorf("%s: drawn as a loss: %v", c.name, got)
		}
		ascii, _ := theme.Named("dark", false) // without large type
		drawn := strings.Join(pane.Head(s, ascii, 69, 3)[:2], " ")
		if got := words(drawn); !strings.HasPrefix(got, c.panel) {
			t.Errorf("%s: the panel says %q, want %q", c.name, got, c.panel)
		}
	}
}

// While the next reply begins, the head line keeps what is known.
func TestTheHeadLineLastsFromReplyToReply(t *testing.T) {
	th, _ := theme.Named("mono", true)
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1})
	s.Apply(event.Round{Gamma: 1, VerifyMS: 10, Speedup: 1.5, Draft: []event.Token{{Verdict: event.Accepted}}, Commit: &event.Token{Verdict: event.Bonus}})
	before := pane.Head(s, th, 120, 1)[0]
	s.Apply(event.ReplyEnded{Reply: 1, Reason: "stop"})
	s.Apply(event.ReplyStarted{Reply: 2})
	if got := pane.Head(s, th, 120, 1)[0]; got != before || !strings.HasPrefix(ansi.Strip(got), " ×1.50 faster   with drafts    200 ████") {
		t.Errorf("%q, before %q", got, before)
	}
}

func words(drawn string) string { return strings.Join(strings.Fields(ansi.Strip(drawn)), " ") }

// After a change of settings the head says that its figures are of the old ones, and with another proposer
// they begin anew.
func TestFiguresOfOldSettingsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*event.Settings)
		idle   string // before the next round
		after  string // after one round, which took half as long
	}{
		{"proposer", func(v *event.Settings) { v.Proposer = "medusa" }, "x2.00 faster with drafts 400 tok/s before the change, with eagle", "x4.00 faster with drafts 800 tok/s measured"},
		{"γ", func(v *event.Settings) { v.Gamma = 2 }, "x2.00 faster with drafts 400 tok/s before the change, with g 4", "x4.00 faster with drafts 416 tok/s 1 round since the change"},
		{"temperature", func(v *event.Settings) { v.Temperature = 1 }, "x2.00 faster with drafts 400 tok/s before the change, at 0.50", "x4.00 faster with drafts 416 tok/s 1 round since the change"},
		{"rule", func(v *event.Settings) { v.Acceptance = "exact" }, "x2.00 faster with drafts 400 tok/s before the change", "x4.00 faster with drafts 416 tok/s 1 round since the change"},
		{"nothing", func(v *event.Settings) {}, "x2.00 faster with drafts 400 tok/s measured", "x4.00 faster"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := state.New()
			settings := event.Settings{Gamma: 4, GammaMax: 8, GammaRule: "fixed", Proposer: "eagle", Acceptance: "token", Temperature: 0.5, Speculate: true}
			s.Apply(event.ReplyStarted{Reply: 1, Settings: settings})
			round := event.Round{Gamma: 4, Proposer: "eagle", DraftMS: 2, VerifyMS: 8, Speedup: 2, Commit: &event.Token{Text: "b", Verdict: event.Bonus}}
			for range 3 {
				round.Draft = append(round.Draft, event.Token{Text: "a", Verdict: event.Accepted})
			}
			for range 20 {
				s.Apply(round)
			}
			s.Apply(event.ReplyEnded{Reply: 1})
			c.change(&settings)
			s.Settings = settings
			th, _ := theme.Named("dark", false) // without large type
			head := func() string { return words(strings.Join(pane.Head(s, th, 60, 3)[:2], " ")) }
			if got := head(); !strings.HasPrefix(got, c.idle) {
				t.Errorf("before the next round the head says %q, want %q", got, c.idle)
			}
			round.DraftMS, round.VerifyMS, round.Speedup, round.Proposer = 1, 4, 4, settings.Proposer
			s.Apply(event.ReplyStarted{Reply: 2, Settings: settings})
			s.Apply(round)
			if got := head(); !strings.HasPrefix(got, c.after) {
				t.Errorf("after a round the head says %q, want %q", got, c.after)
			}
			for range 20 {
				s.Apply(round)
			}
			if got := head(); strings.Contains(got, "change") {
				t.Errorf("after many rounds the head still says %q", got)
			}
			s.ClearChat()
			s.Apply(event.ReplyStarted{Reply: 3, Settings: settings})
			s.Apply(round)
			if got := head(); strings.Contains(got, "change") {
				t.Errorf("in a new chat the head still says %q", got)
			}
		})
	}
}
