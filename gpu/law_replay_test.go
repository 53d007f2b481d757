//go:build cuda && linux && cgo

package gpu_test

import (
	"fmt"
	"slices"
	"testing"

	"specula/engine/spec"
	"specula/kernels/ref"
)

// byRule has the rules as the device judges by them.
var byRule = map[spec.Rule]func(p, q []ref.WeightRow, ids []int32, round ref.Round) ref.Rejection{
	spec.Token: ref.Reject, spec.ExactMatch: ref.MatchDraws,
	spec.Block: func(p, q []ref.WeightRow, ids []int32, round ref.Round) ref.Rejection {
		return ref.JudgeBlock(p, q, ids, round).Rejection
	},
}

// replay returns a check that repeats a round on the host, with kernels/ref, and wants the same
// result.
func (l *tables) replay(certain bool, rule spec.Rule) func(round ref.Round, context, ids []int32, o spec.Outcome) error {
	return func(round ref.Round, context, ids []int32, o spec.Outcome) error {
		round.Drafts = int32(len(ids))
		row := func(scores []float32, sharpen float64) ref.WeightRow {
			f := l.world.Params
			by := ref.Filters{Temperature: float32(sharpen * f.Temperature),
				FilterTemperature: float32(sharpen * f.Temperature), TopP: float32(f.TopP),
				MinP: float32(f.MinP), TopK: int32(f.TopK)}
			if f.TemperatureLast {
				by.FilterTemperature = 1
			}
			return ref.SoftmaxRow(scores, ref.CutRow(scores, by), by)
		}
		var p, q []ref.WeightRow
		before, position := context[len(context)-1], len(context)-1
		for i := range len(ids) + 1 {
			masked := func(scores []float32) []float32 {
				scores = slices.Clone(scores)
				if l.masked {
					ref.MaskRow(scores, l.masks(position+i, []int32{before}))
				}
				return scores
			}
			p = append(p, row(masked(l.world.TargetScores(position+i, before)), 1))
			if i == len(ids) {
				break
			}
			if certain {
				round.Certain |= 1 << i
				q = append(q, ref.WeightRow{})
			} else {
				q = append(q, row(masked(l.world.DraftScores(position+i, before)), lawSharpen))
				if want := q[i].Draw(round, ref.DraftDraw, i); int(ids[i]) != want {
					return fmt.Errorf("draft token %d is %d, on the host %d", i, ids[i], want)
				}
			}
			before = ids[i]
		}
		want := byRule[rule](p, q, ids, round)
		if o.Accepted != want.Accepted || int(o.Commit.ID) != want.Commit ||
			float32(o.Commit.P) != want.Chance {
			return fmt.Errorf("accepted %d and then %d with p %v; on the host %d, %d, %v", o.Accepted,
				o.Commit.ID, o.Commit.P, want.Accepted, want.Commit, want.Chance)
		}
		return nil
	}
}

// The host can compute the device's uniforms, and comes to the same tokens.
func TestSampledRoundsReplayedOnTheHost(t *testing.T) {
	b := open(t)
	for _, l := range languages {
		if l.damaged {
			continue // after a draft that broke off, device and host use different uniforms
		}
		t.Run(l.name, func(t *testing.T) {
			p := l.player(t, b)
			p.check = p.replay(l.certain, l.rule)
			for trial := range 100 {
				p.play(t, trial)
			}
			again := l.player(t, b)
			for trial := range 5 {
				if first, second := p.play(t, trial), again.play(t, trial); !slices.Equal(first.Tokens,
					second.Tokens) {
					t.Errorf("reply %d is %v, and a second time %v", trial, first.Tokens, second.Tokens)
				}
			}
			t.Logf("%d rounds, %d draft tokens accepted", p.rounds, p.accepted)
			if p.accepted < 10 {
				t.Errorf("only %d draft tokens were accepted", p.accepted)
			}
		})
	}
}
