package engine_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/bench"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights/random"
)

// timed is a backend on which time passes by a price list in place of the clock, so that what is measured on a busy machine repeats.
// The prices of passes and draft steps are about those of the demo pair on two quiet cores; those of reading a row in a prefill are estimates,
// and that of the draft is low: beside other work it was seen to take twice as long.
type timed struct {
	compute.Backend
	now    time.Time
	target compute.Matrix // the table that the target looks its tokens up in
}

func (b *timed) pass(ms float64) {
	b.now = b.now.Add(time.Duration(ms * float64(time.Millisecond)))
}

// milliseconds of a pass of the target over so many rows, from 1.
var targetMS = []float64{0.45, 0.50, 0.62, 0.72, 0.81, 0.88, 0.97, 1.08, 1.19}

const (
	draftMS, draftRowMS = 0.052, 0.009 // of the draft over one row, and of each further one
	rowMS               = 0.005        // of making a distribution of a row
)

func (b *timed) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	if b.target == nil && table.Rows() > 1 { // heads look up a constant while they load
		b.target = table // the first pass is the target's
	}
	m := len(ids)
	switch {
	case table != b.target:
		b.pass(draftMS + draftRowMS*float64(m-1))
	case m <= len(targetMS):
		b.pass(targetMS[m-1])
	default:
		b.pass(float64(m) * 0.11)
	}
	return b.Backend.Embed(dst, table, ids)
}

func (b *timed) Logits(x compute.Buffer, m int) (compute.Logits, error) {
	l, err := b.Backend.Logits(x, m)
	return timedLogits{l, l.(compute.Arithmetic), b}, err
}

type timedLogits struct {
	compute.Logits
	compute.Arithmetic
	b *timed
}

func (l timedLogits) Row(i int, dst []float32) error {
	l.b.pass(rowMS)
	return l.Logits.Row(i, dst)
}

// chatting is a session as a benchmark wants it.
type chatting struct{ *engine.Session }

func (c chatting) Reply(ctx context.Context, prompt string) iter.Seq[event.Event] {
	return c.Generate(ctx, engine.Request{Messages: user(prompt)})
}

// compare makes the table of "specula bench --gammas" on the demo pair.
func compare(t *testing.T, temperature float64, repeats int, sets ...assets.Set) *bench.GammaReport {
	t.Helper()
	return compareWith(t, assets.Draft(), "draft", temperature, repeats, sets...)
}

func compareWith(t *testing.T, draft []byte, proposer string, temperature float64, repeats int, sets ...assets.Set) *bench.GammaReport {
	t.Helper()
	backend := &timed{Backend: host.New(1), now: time.Unix(0, 0)}
	t.Cleanup(func() { _ = backend.Close() })
	o := options(backend)
	o.Draft.Embedded, o.Config.Speculation.Proposer = draft, proposer
	o.Now = func() time.Time { return backend.now }
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
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
	t.Run("greedy", func(t *testing.T) { near(t, compare(t, 0, 3, assets.Sets()...), 0.97, 0.99) })
	// What is sampled depends on γ, and a few replies differ by luck.
	t.Run("sampled", func(t *testing.T) { near(t, compare(t, 0.7, 2, assets.Sets()[1]), 0.95, 1.05) })
	t.Run("sampled and hopeless", func(t *testing.T) { near(t, compare(t, 1.5, 2, assets.Sets()[3]), 0.97, 0.99) })
}

// A draft that knows nothing, and a lookup where nothing repeats, cost next to nothing: the rule turns them off.
func TestHopelessDraftsCostNextToNothing(t *testing.T) {
	hostile, err := random.Scramble("hostile", assets.Draft())
	if err != nil {
		t.Fatal(err)
	}
	sets := assets.Sets()
	for _, temperature := range []float64{0, 0.7} {
		t.Run(fmt.Sprintf("hostile, temperature %g", temperature), func(t *testing.T) {
			near(t, compareWith(t, hostile, "draft", temperature, 2, sets[1]), 0.99, 0.99)
		})
		// A lookup that begins to hit late is far from its best in so short a run; here it only must not cost.
		t.Run(fmt.Sprintf("n-gram, temperature %g", temperature), func(t *testing.T) {
			near(t, compareWith(t, assets.Draft(), "ngram", temperature, 1, sets[3]), 0, 0.99)
		})
	}
}

// near wants the cost-aware rule to reach a share of the best fixed γ in every cell, and a speed compared with plain decoding.
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
