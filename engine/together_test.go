package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
)

// combination is a random set of features under which a reply must not depend on speculation:
// temperature 0, or the rule that keeps what the target itself draws.
type combination struct {
	settings []string   // of plain decoding, too
	drafting []string   // who drafts and how
	turns    [][]string // changes of drafting in mid-reply
	prompt   string
}

// choices are the values of a setting.
func choices(name string) []string {
	s, _ := config.Lookup(name)
	return s.Choices
}

func randomCombination(rng *rand.Rand) combination {
	maybe := func(list *[]string, pairs ...string) {
		if rng.IntN(3) == 0 {
			i := 2 * rng.IntN(len(pairs)/2)
			*list = append(*list, pairs[i], pairs[i+1])
		}
	}
	c := combination{prompt: assets.TrainedPrompts()[rng.IntN(50)], settings: []string{"seed", strconv.Itoa(rng.IntN(100)), "max-tokens", strconv.Itoa(1 + rng.IntN(24))}}
	rules := choices("speculation.acceptance") // at temperature 0 all keep the same tokens
	if rng.IntN(2) == 0 {
		c.settings, rules = append(c.settings, "temperature", "1.1"), []string{"exact"}
		maybe(&c.settings, "top-k", "8", "top-p", "0.8", "min-p", "0.1", "temperature-last", "on")
	} else {
		c.settings = append(c.settings, "temperature", "0")
	}
	maybe(&c.settings, "guidance", "1.6", "guidance", "0.5")
	maybe(&c.settings, "repeat-penalty", "1.4", "frequency-penalty", "0.7", "dry-multiplier", "0.9")
	maybe(&c.settings, "ban", " the", "bias", " a=3", "bad-word", "draft")
	maybe(&c.settings, "min-tokens", "12")
	maybe(&c.settings, "logprobs", "2")
	maybe(&c.settings, "choices", `["It is a trick.", "I do not know that."]`, "regex", "[A-Z][a-z ,']*[.!?]", "json-schema", `{"type":"integer"}`)
	proposers := choices("speculation.proposer")[1:] // without auto
	drafting := func() []string {
		list := []string{"proposer", proposers[rng.IntN(len(proposers))], "trust", "0.2",
			"accept", rules[rng.IntN(len(rules))], "gamma", strconv.Itoa(1 + rng.IntN(8)), "gamma-rule", []string{"fixed", "windowed", "cost-aware"}[rng.IntN(3)]}
		return append(list, "speculate", fmt.Sprint(rng.IntN(6) > 0))
	}
	c.drafting = drafting()
	for range rng.IntN(4) {
		c.turns = append(c.turns, drafting())
	}
	return c
}

// With random combinations of proposers, acceptance rules, shapers, guidance, forms and changes in mid-reply, the text
// is that of plain decoding.
func TestNoCombinationOfFeaturesChangesTheText(t *testing.T) {
	engines := map[string]*engine.Engine{
		"EAGLE":      withHeads(t, eagleFile(t, false, echo(t))),
		"Medusa":     withHeads(t, medusaFile(t, 4, echo(t))),
		"translated": translated(t, strange(t, func(text string) bool { return len(text) > 4 }), "tokens"),
		"retold":     translated(t, strange(t, func(text string) bool { return len(text) > 4 }), "text"),
	}
	for name, e := range engines {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(len(name))))
			accepted := 0
			s := session(t, e)
			start := s.Settings()
			for i := range 40 {
				c := randomCombination(rng)
				if s.Settings().Constraint.Schema != start.Constraint.Schema || i%10 == 9 {
					s = session(t, e) // a session writes up to ten replies
				}
				clear := []string{"top-k", "0", "top-p", "1", "min-p", "0", "temperature-last", "off", "guidance", "1", "repeat-penalty", "1",
					"frequency-penalty", "0", "dry-multiplier", "0", "ban", "[]", "bias", "[]", "bad-word", "[]", "min-tokens", "0", "logprobs", "0",
					"choices", "[]", "regex", "", "json-schema", ""}
				change(t, s, clear...)
				change(t, s, c.settings...)
				change(t, s, c.drafting...)
				plain := session(t, e, append(slices.Clone(c.settings), "accept", "exact", "speculate", "off")...)
				want := write(t, plain, user(c.prompt), nil)
				turns := c.turns
				got := write(t, s, user(c.prompt), func(ev event.Event) {
					if round, ok := ev.(event.Round); ok && len(turns) > 0 && round.Index%3 == 2 {
						change(t, s, turns[0]...)
						turns = turns[1:]
					}
				})
				if got.failed != want.failed || got.ended.Reason != want.ended.Reason || !slices.Equal(got.ended.IDs, want.ended.IDs) {
					t.Fatalf("%d: %+v: %q (%s %q), plain %q (%s %q)", i, c, got.ended.Text, got.ended.Reason, got.failed, want.ended.Text, want.ended.Reason, want.failed)
				}
				accepted += got.ended.Totals.Accepted
			}
			if accepted < 20 {
				t.Errorf("only %d drafted tokens were accepted", accepted)
			}
		})
	}
}
