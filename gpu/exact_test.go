//go:build cuda && linux && cgo

package gpu_test

import (
	"slices"
	"testing"
)

// Under the rule exact a seed gives one text, whoever drafts and whoever judges: on the device rounds of any
// proposer wait once and move 8 bytes per row, and the host that has whole rows draws the same tokens.
func TestExactTextIsTheSameWhoeverDrafts(t *testing.T) {
	e := demoWithHeads(t, open(t), nil)
	for _, shaping := range [][]string{nil, {"repeat-penalty", "1.3", "logit-bias", " the=1"}, {"guidance", "2", "negative", "You are rude."}} {
		s := sampledSession(t, e, append([]string{"acceptance", "exact", "max-tokens", "20", "temperature", "1.6", "top-p", "1"}, shaping...)...)
		const prompt = "repeat after me: one two three one two three one"
		set(t, s, "speculate", "false")
		want := ask(t, s, prompt)
		if want.failed != "" || len(want.ids) < 8 {
			t.Fatalf("%v: %q, %s", shaping, want.text, want.failed)
		}
		for _, c := range []struct {
			settings []string
			path     string
		}{
			{[]string{"speculate", "true"}, "stochastic"},
			{[]string{"gamma", "5", "proposer", "ngram"}, "stochastic"},
			{[]string{"proposer", "eagle"}, "stochastic"},
			{append([]string{"proposer", "draft", "gamma", "2"}, wholeRows...), "fallback"},
		} {
			set(t, s, c.settings...)
			r := ask(t, s, prompt)
			if r.failed != "" || !slices.Equal(r.ids, want.ids) {
				t.Errorf("%v, %v: %q, want %q; %s", shaping, c.settings, r.text, want.text, r.failed)
			}
			drafted := 0
			for _, round := range r.rounds {
				drafted += len(round.Draft)
				crossed(t, round)
				if round.Path != c.path || c.path == "stochastic" && round.Syncs != 1 {
					t.Errorf("%v, %v: round %d: %d waits on the path %s (%s), want one on %s", shaping, c.settings, round.Index, round.Syncs, round.Path,
						round.PathWhy, c.path)
				}
			}
			if drafted == 0 {
				t.Errorf("%v, %v: nothing was drafted", shaping, c.settings)
			}
		}
	}
}

// A round by the rule exact has no test by a uniform and shows p and q. Inspecting a reply does not change its text.
func TestExactRoundsAreOneWait(t *testing.T) {
	s := sampledSession(t, demo(t, open(t)), "acceptance", "exact", "max-tokens", "24", "temperature", "1.6")
	const prompt = "tell me a story about a dragon"
	r, seen := ask(t, s, prompt), inspect(t, s, prompt)
	if r.failed != "" || r.text != seen.text {
		t.Errorf("%q, inspected %q; %s", r.text, seen.text, r.failed)
	}
	kept, drafted := 0, 0
	for i, round := range seen.rounds {
		if round.BytesMoved > int64(8*(round.Gamma+1)) || round.Syncs != 1 || round.Rule != "exact" {
			t.Errorf("round %d by the rule %s: %d bytes, %d waits", i, round.Rule, round.BytesMoved, round.Syncs)
		}
		for k, d := range round.Draft[:round.Tested] {
			if d.P == nil || d.Q == nil || d.U != nil || d.Bound != nil {
				t.Errorf("round %d, draft token %d: %+v", i, k, d)
			}
		}
		for _, rule := range round.Rules {
			if rule.Rule == "exact" && rule.Accepted != round.Accepted {
				t.Errorf("round %d kept %d, and by the host's distributions %d", i, round.Accepted, rule.Accepted)
			}
		}
		kept, drafted = kept+round.Accepted, drafted+len(round.Draft)
	}
	if kept == 0 || kept == drafted {
		t.Errorf("kept %d of %d draft tokens", kept, drafted)
	}
}
