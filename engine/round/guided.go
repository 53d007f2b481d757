package round

import (
	"context"
	"fmt"
	"math"
	"slices"

	"specula/engine/compute"
	"specula/engine/sample"
	"specula/engine/spec"
)

// Guided is a target under classifier-free guidance (Sanchez et al. 2023, «Stay on topic with
// classifier-free guidance»): it reads the reply twice, once after the prompt and once after a second,
// negative prompt. Every logit becomes negative + Scale · (prompt − negative), and each step rounds to
// float32, on every device. With a Scale above 1 the effect of the prompt grows.
//
// The reply after the negative prompt is called the companion. It has its own cache. Its rows are in
// the same pass as those of the reply after the prompt, so the weights are read once. Drafts are made
// without guidance and judged by the guided logits, so the text is exact with any draft.
type Guided struct {
	*Local
	Scale float64
	// Longer is the number of tokens by which the negative prompt is longer than the prompt;
	// negative if it is shorter.
	Longer int

	Companion compute.Cache
	Holds     []int32 // the tokens in the companion's cache
}

// NewGuided allocates the companion's cache.
func NewGuided(l *Local) (*Guided, error) {
	cache, err := l.Model.NewCache()
	if err != nil {
		return nil, fmt.Errorf("allocating the cache of guidance: %w", err)
	}
	return &Guided{Local: l, Companion: cache}, nil
}

// Follow makes the companion's cache hold context, which is the negative prompt and the reply without
// its last token. The longest beginning of context that the cache already holds stays, as far as the cache
// can be cut back to it (compute.Reach). If tokens are missing, Follow calls reading once. reading then
// calls its argument read, which runs the model over these tokens, and may show the progress.
func (g *Guided) Follow(ctx context.Context, context []int32, reading func(read func(progress func(done, total int)) error) error) error {
	n := 0
	for n < min(len(g.Holds), len(context)) && g.Holds[n] == context[n] {
		n++
	}
	n = compute.Reach(g.Companion, n)
	if err := g.cut(n); err != nil || n == len(context) {
		return err
	}
	err := reading(func(progress func(done, total int)) error {
		missing := context[n:]
		err := compute.ReadWithCheckpoint(g.Companion, missing, func(part []int32, before int) error {
			_, err := g.Model.Prefill(ctx, g.Companion, part, func(done, _ int) { progress(before+done, len(missing)) })
			return err
		})
		g.Holds = append(g.Holds, context[n:g.Companion.Len()]...)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the negative prompt: %w", err)
	}
	return nil
}

func (g *Guided) cut(n int) error {
	if err := g.Companion.Truncate(n); err != nil {
		return fmt.Errorf("rolling the cache of guidance back to %d tokens: %w", n, err)
	}
	g.Holds = g.Holds[:n]
	return nil
}

// Truncate cuts the target's cache to n tokens, and the companion's cache to the same token of the reply.
func (g *Guided) Truncate(n int) error {
	if err := g.Local.Truncate(n); err != nil {
		return err
	}
	return g.cut(n + g.Longer)
}

// Forget empties the companion's cache.
func (g *Guided) Forget() error { return g.cut(0) }

// Close frees the companion's cache.
func (g *Guided) Close() error { return g.Companion.Close() }

// unseen stands in Holds for a token that only the device knows. No other token equals it.
const unseen = -1

// Score runs one pass over the reply and its companion. A device that can judge a draft also computes the
// guided rows, so no row of the companion is copied to the host. Otherwise the host computes them.
func (g *Guided) Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (Pass, error) {
	logits, err := g.forward(ctx, last, draft, g.Cache, g.Companion)
	if err != nil {
		return Pass{}, err
	}
	at := len(g.Holds) + 1
	g.Holds = append(append(g.Holds, last), slices.Repeat([]int32{unseen}, logits.Rows()/2-1)...)
	pass := Pass{Scores: &guidedScores{logits, float32(g.Scale), make([]float32, logits.Vocab())}}
	if device, ok := logits.(compute.Judge); ok {
		if err := device.Guide(float32(g.Scale)); err != nil {
			return Pass{}, fmt.Errorf("guiding rows on the device: %w", err)
		}
		if pass, err = g.settle(logits, draft, terms); err != nil {
			return Pass{}, err
		}
	}
	copy(g.Holds[at:], draft.Tokens)
	return pass, nil
}

// guidedScores are guided logits that the host computes. The pass has the rows of the reply twice: the first
// half belongs to the reply after the prompt, the second half to its companion.
type guidedScores struct {
	compute.Logits // of both sequences: twice as many rows as Rows returns
	scale          float32
	negative       []float32
}

// Unwrap returns the logits of both sequences.
func (g *guidedScores) Unwrap() compute.Logits { return g.Logits }

func (g *guidedScores) Rows() int { return g.Logits.Rows() / 2 }

// Row writes guided scores: negative + scale · (prompt − negative).
func (g *guidedScores) Row(i int, dst []float32) error {
	if err := g.Logits.Row(i, dst); err != nil {
		return err
	}
	if err := g.Logits.Row(g.Rows()+i, g.negative); err != nil {
		return err
	}
	for id, without := range g.negative {
		// A score of −Inf stays. If only the companion's score is −Inf, the token keeps the score that it has
		// without guidance.
		if with := dst[id]; !math.IsInf(float64(with), -1) && !math.IsInf(float64(without), -1) {
			dst[id] = without + float32(g.scale*(with-without)) // the conversion forbids a fused addition
		}
	}
	return nil
}

// Argmax writes the best token of each guided row. It copies whole rows to the host.
func (g *guidedScores) Argmax(dst []int32) error {
	row := make([]float32, g.Vocab())
	for i := range dst {
		if err := g.Row(i, row); err != nil {
			return err
		}
		best, err := sample.Argmax(row)
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		dst[i] = best
	}
	return nil
}
