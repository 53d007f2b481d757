package priced_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/bench"
	"specula/engine/event"
	"specula/engine/weights/random"
)

// chatting adapts a session to package bench.
type chatting struct{ *engine.Session }

func (c chatting) Reply(ctx context.Context, prompt string) iter.Seq[event.Event] {
	return c.Generate(ctx, asked(prompt))
}

// compare makes the report of "specula bench --gammas" for the embedded target and a draft.
func compare(t *testing.T, draft []byte, proposer string, temperature float64, repeats int, sets ...assets.Set) *bench.GammaReport {
	t.Helper()
	e := load(t, draft, proposer)
	c := bench.GammaOptions{Gammas: []int{0, 1, 2, 3}, Temperatures: []float64{temperature}, GenTokens: 64, Repeats: repeats, Seed: 1}
	for _, set := range sets {
		c.Sets = append(c.Sets, bench.PromptSet(set))
	}
	report, err := bench.CompareGammas(t.Context(), func(ctx context.Context) (bench.Opened, error) {
		s, err := e.NewSession(ctx)
		return chatting{s}, err
	}, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestCostAwareIsNearTheBestFixedGamma(t *testing.T) {
	sets := assets.Sets()
	for _, c := range []struct {
		name         string
		temperature  float64
		repeats      int
		sets         []assets.Set
		share, speed float64
	}{
		{"greedy", 0, 3, sets, 0.97, 0.99},
		// Sampled texts depend on γ, and a few replies differ by luck.
		{"sampled", 0.7, 2, sets[1:2], 0.95, 1.05},
		{"sampled and hopeless", 1.5, 2, sets[3:], 0.97, 0.99},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			near(t, compare(t, assets.Draft(), "draft", c.temperature, c.repeats, c.sets...), c.share, c.speed)
		})
	}
}

// A draft model that knows nothing, and a lookup where nothing repeats, cost next to nothing, because the
// rule turns them off.
func TestHopelessDraftsCostNextToNothing(t *testing.T) {
	hostile, err := random.Scramble("hostile", assets.Draft())
	if err != nil {
		t.Fatal(err)
	}
	sets := assets.Sets()
	for _, temperature := range []float64{0, 0.7} {
		t.Run(fmt.Sprintf("hostile, temperature %g", temperature), func(t *testing.T) {
			t.Parallel()
			near(t, compare(t, hostile, "draft", temperature, 2, sets[1]), 0.99, 0.99)
		})
		// A look-up that finds its first match late is far from its best in so short a run. Here it only must
		// not be slower than plain decoding by more than 1 %.
		t.Run(fmt.Sprintf("n-gram, temperature %g", temperature), func(t *testing.T) {
			t.Parallel()
			near(t, compare(t, assets.Draft(), "ngram", temperature, 1, sets[3]), 0, 0.99)
		})
	}
}

// near checks that the cost-aware rule reaches a share of the speed of the best fixed γ in each cell and over
// all cells. In each cell, it also must reach a speed relative to plain decoding, and greedy texts must be right.
func near(t *testing.T, r *bench.GammaReport, share, speed float64) {
	t.Helper()
	for _, c := range r.Cells {
		if c.Share() < share || c.CostAware < speed || !c.Matched {
			t.Errorf("%s at temperature %g: %.3f of plain speed, %.3f of the best γ %d's, matched %v; want %.2f and %.2f",
				c.Set, c.Temperature, c.CostAware, c.Share(), c.BestGamma, c.Matched, speed, share)
		}
	}
	fixed, aware := r.Together()
	for i, x := range fixed {
		if aware < share*x {
			t.Errorf("over all, γ %d is %.3f of plain speed and the cost-aware rule %.3f", r.Gammas[i], x, aware)
		}
	}
}
