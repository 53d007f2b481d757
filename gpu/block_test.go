//go:build cuda && linux && cgo

package gpu_test

import (
	"fmt"
	"slices"
	"testing"

	"specula/assets"
	"specula/kernels/ref"
)

// Rounds by the rule block wait once and move 8 bytes per row and 4 for each draft token, drafted on the device
// or looked up, with penalties and under guidance. They show the numbers of their tests, and the inspected host
// keeps as many tokens.
func TestBlockRoundsAreOneWait(t *testing.T) {
	e, refused := demo(t, open(t)), 0
	for _, c := range []struct {
		prompt   string
		settings []string
	}{
		{"tell me a story about a dragon", nil},
		{"repeat after me: one two three one two three one", []string{"proposer", "ngram"}},
		{"tell me a story about a dragon", []string{"repeat-penalty", "1.3", "max-tokens", "12"}},
		{"tell me a story about a dragon", []string{"guidance", "2", "negative", "You are rude.", "max-tokens", "8"}},
	} {
		s := sampledSession(t, e, append([]string{"acceptance", "block", "max-tokens", "24", "temperature", "1.6"}, c.settings...)...)
		r, seen := ask(t, s, c.prompt), inspect(t, s, c.prompt)
		if r.failed != "" || !slices.Equal(r.ids, seen.ids) {
			t.Errorf("%v: %q, inspected %q; %s", c.settings, r.text, seen.text, r.failed)
		}
		kept, drafted := 0, 0
		for i, round := range seen.rounds {
			most := int64(8*(round.Gamma+1) + 4*round.Gamma)
			if round.Path != "stochastic" || round.BytesMoved > most || round.Syncs != 1 {
				t.Errorf("%v, round %d: %d bytes, %d waits on the path %s (%s)", c.settings, i, round.BytesMoved, round.Syncs, round.Path, round.PathWhy)
			}
			last := 0 // the last token after which the block could end, by the numbers that are shown
			for k, d := range round.Draft {
				if d.U != nil && *d.U < *d.Bound {
					last = k + 1
				}
				if k < round.Tested && (d.P == nil || d.Q == nil || d.U == nil || d.Bound == nil) {
					t.Errorf("%v, round %d, draft token %d: %+v", c.settings, i, k, d)
				}
			}
			if last != round.Accepted && round.Commit != nil {
				t.Errorf("%v, round %d kept %d, and by the numbers that are shown %d", c.settings, i, round.Accepted, last)
			}
			for _, rule := range round.Rules {
				if rule.Rule == "block" && rule.Accepted != round.Accepted {
					t.Errorf("%v, round %d kept %d, and by the host's distributions %d", c.settings, i, round.Accepted, rule.Accepted)
				}
			}
			kept, drafted = kept+round.Accepted, drafted+len(round.Draft)
		}
		if kept == 0 {
			t.Errorf("%v: kept none of %d draft tokens", c.settings, drafted)
		}
		refused += drafted - kept
	}
	if refused == 0 {
		t.Error("no draft token was refused")
	}
}

// The host makes every decision of a reply by the rule block again, from the same rows and uniforms.
func TestABlockReplayedOnTheHost(t *testing.T) {
	b := open(t)
	const temperature = 2.5 // so hot that the models disagree
	s := sampledSession(t, demo(t, b), "acceptance", "block", "top-k", "40", "min-p", "0.01", "max-tokens", "40", "temperature", fmt.Sprint(temperature))
	h := replay{target: newReader(t, b, assets.Target()), draft: newReader(t, b, assets.Draft()),
		by: ref.Filters{TopP: 0.95, MinP: 0.01, TopK: 40}, temperature: temperature, judge: byRule["block"], tokenBytes: 4}
	const question = "I want to book a table for two in San Jose"
	reply := ask(t, s, question)
	if reply.failed != "" {
		t.Fatal(reply.failed)
	}
	context := tokenized(t, question)
	for _, r := range reply.rounds {
		h.round(t, context, r)
		for _, c := range r.Committed() {
			context = append(context, c.ID)
		}
	}
	if h.tokens < 8 || h.leftBehind == 0 {
		t.Errorf("only %d tokens, or no round with two rejected drafts or more: %d", h.tokens, h.leftBehind)
	}
}
