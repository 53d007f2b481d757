package spec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// worldModel is a draft model whose scores are those of a gate's World, after a prompt.
type worldModel struct {
	world  *gate.World
	prompt int // tokens of the prompt, the last of which is gate.Root
}

func (m worldModel) NewCache() (compute.Cache, error) { return &tape{capacity: 1000}, nil }

func (m worldModel) Prefill(_ context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	c := cache.(*tape)
	c.ids = append(c.ids, ids...)
	return &oneRow{row: m.world.DraftScores(max(0, len(c.ids)-m.prompt), c.ids[len(c.ids)-1])}, nil
}

// Whole replies, written by a proposer and the verifier round after round, have the target's
// distribution, too: no round leaves a state that makes the next one wrong.
func TestRepliesOfEveryProposerHaveTheTargetsDistribution(t *testing.T) {
	prompt := []int32{0, 1, 2, 1, 0, 2, 2, 1, 0, 1, 1, 2, gate.Root}
	filtered := sample.Params{Temperature: 0.8, TopK: 5, TopP: 0.95}
	drafts := map[string]bool{"auto": true}
	for i, c := range []struct {
		name     string
		vocab    int
		params   sample.Params
		proposer func(t *testing.T, w *gate.World) Proposer
		damaged  bool // some of the draft's scores are NaN
	}{
		{"draft model", 10, warm, newWorldDraft(len(prompt)), false},
		{"draft model, filtered", 10, filtered, newWorldDraft(len(prompt)), false},
		{"draft model, damaged", 10, warm, newWorldDraft(len(prompt)), true},
		{"draft of another vocabulary, by tokens", 10, warm, newTranslatedWorldDraft(len(prompt)), false},
		{"draft of another vocabulary, filtered", 10, filtered, newTranslatedWorldDraft(len(prompt)), false},
		{"draft of another vocabulary, by tokens, damaged", 10, warm, newTranslatedWorldDraft(len(prompt)), true},
		{"draft of another vocabulary, by text", 10, warm, newRetoldWorldDraft(len(prompt)), false},
		{"draft of another vocabulary, by text, damaged", 10, warm, newRetoldWorldDraft(len(prompt)), true},
		{"n-gram", 3, warm, func(*testing.T, *gate.World) Proposer { return NewNgram(3, 1) }, false},
		{"suffix", 3, warm, func(*testing.T, *gate.World) Proposer { return NewSuffix(nil) }, false},
		{"combined", 5, warm, newWorldCascade(len(prompt)), false},
		{"combined, damaged", 5, warm, newWorldCascade(len(prompt)), true},
		{"the target without some layers", 10, filtered, func(t *testing.T, w *gate.World) Proposer {
			return newWorldDraft(len(prompt))(t, w).(*DraftModel).Named("skip")
		}, false},
		{"EAGLE", 10, warm, newWorldHeads(len(prompt), false), false},
		{"EAGLE, damaged", 10, warm, newWorldHeads(len(prompt), false), true},
		{"Medusa, filtered", 10, filtered, newWorldHeads(len(prompt), true), false},
		{"MTP", 10, warm, func(t *testing.T, w *gate.World) Proposer {
			heads := newWorldHeads(len(prompt), false)(t, w).(*Heads)
			heads.name = "mtp"
			return heads
		}, false},
	} {
		drafts[c.proposer(t, gate.NewWorld(c.vocab, 2, c.params, gate.Near, 1)).Name()] = true
		for k, rule := range exactRules {
			gamma := 1 + (i+k)%3
			if c.damaged {
				gamma = 2 + k%2 // a draft of one token cannot break off
			}
			t.Run(fmt.Sprintf("%s, %s, γ=%d", c.name, rule, gamma), func(t *testing.T) {
				t.Parallel()
				const length = 5
				w := gate.NewWorld(c.vocab, length+gamma+1, c.params, gate.Near, uint64(i))
				if c.damaged {
					w.Damage()
				}
				r := reply{world: w, proposer: c.proposer(t, w), verifier: NewVerifier(), rule: rule, gamma: gamma, length: length,
					prompt: prompt, uniforms: sample.NewPhilox(9, 2), by: map[string]int{}}
				report := w.Judge(rounds/2, length, 3, func(trial int) gate.Played { return r.play(t, trial) })
				if failed := report.Failures(); failed != "" {
					t.Error(failed)
				}
				if c.damaged && r.brokenOff < 100 {
					t.Errorf("only %d drafts broke off", r.brokenOff)
				}
				if c.name == "combined" && gamma == 1 && (r.by["suffix"] < 100 || r.by["draft"] < 100) {
					t.Errorf("rounds by %v: want many of each", r.by)
				}
			})
		}
	}
	setting, _ := config.Lookup("speculation.proposer")
	for _, name := range setting.Choices {
		if !drafts[name] {
			t.Errorf("the proposer %s writes no replies here: add a row", name)
		}
	}
}

func newWorldDraft(prompt int) func(*testing.T, *gate.World) Proposer {
	return func(t *testing.T, w *gate.World) Proposer { return newDraft(t, worldModel{w, prompt}, w.Vocab) }
}

func newWorldCascade(prompt int) func(*testing.T, *gate.World) Proposer {
	return func(t *testing.T, w *gate.World) Proposer {
		return newCascade(t, worldModel{w, prompt}, w.Vocab)
	}
}

// reply writes a reply with a proposer and the verifier, as the engine does.
type reply struct {
	world         *gate.World
	proposer      Proposer
	verifier      *Verifier
	rule          Rule
	gamma, length int
	prompt        []int32
	uniforms      sample.Uniforms
	by            map[string]int // number of rounds by Draft.By
	brokenOff     int            // drafts that ended early because the scores after a token are NaN
}

func (r *reply) play(t *testing.T, trial int) gate.Played {
	known, err := r.proposer.Begin(r.prompt)
	must(t, err)
	if h, ok := r.proposer.(HiddenReader); ok {
		must(t, h.Take(t.Context(), known, len(r.prompt)-1-known))
	}
	played := gate.Played{Bonus: -1}
	for round := trial * r.length; len(played.Tokens) < r.length; round++ {
		draft, err := readFirst(t, r.proposer, Ask{Gamma: r.gamma, Params: r.world.Params, Uniforms: r.uniforms, Round: round})
		if !errors.Is(err, ErrNoDraft) { // after ErrNoDraft the draft is empty
			must(t, err)
		}
		r.by[draft.By]++
		if len(draft.Tokens) > 0 && strings.Contains(draft.Stop, compute.ErrNotFinite.Error()) {
			r.brokenOff++
		}
		before := gate.Root
		if n := len(played.Tokens); n > 0 {
			before = played.Tokens[n-1]
		}
		rows := r.world.Rows(len(played.Tokens), append([]int32{before}, draft.Tokens...))
		out, err := r.verifier.Verify(rows, draft, Terms{Params: r.world.Params, Uniforms: r.uniforms, Round: round,
			Written: 100*trial + len(played.Tokens), Rule: r.rule})
		must(t, err)
		must(t, r.proposer.Committed(out.Committed()))
		played.Tokens = append(played.Tokens, out.Committed()...)
		if played.Bonus < 0 && out.Commit.Verdict == event.Bonus {
			played.Bonus = len(played.Tokens) - 1
		}
	}
	return played
}
