package doctor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"specula/engine/compute"
	"specula/engine/model"
)

const (
	baseTokens = 24 // tokens of the prompt before those that are compared
	candidates = 48 // tokens to try; the one after which the two best scores are closest is taken
)

// equality compares passes of one model bit by bit.
type equality struct {
	model  *model.Model
	cache  compute.Cache
	base   []int32
	margin float32 // the smallest difference of the two best scores in the compared rows
}

// trace is the result of passes over a sequence: the scores of each token, and keys and values by
// layer and token.
type trace struct {
	scores [][]float32
	cached [][]float32 // index layer·tokens + token: key and value
}

// equal compares passes of 1 to γmax+1 rows with decoding.
func (x *examination) equal(ctx context.Context, name string, m *model.Model) error {
	if m == nil {
		return nil
	}
	label := "verify = decode, " + name
	cache, err := m.NewCache()
	if err != nil {
		return err
	}
	defer cache.Close()
	rows := min(x.GammaMax+1, m.Config().MaxRows, cache.Cap()-baseTokens)
	if rows < 2 {
		x.add(label, Warn, "raise context.length", "the context of %d tokens is too short to compare anything", cache.Cap())
		return nil
	}
	e := &equality{model: m, cache: cache, base: x.base(m), margin: float32(math.Inf(1))}
	found, err := e.run(ctx, rows, x)
	switch {
	case err != nil:
		return err
	case found != "":
		x.add(label, Fail, "this device computes other bits when it verifies, so replies may differ with speculation: use another device "+
			"(--device cpu), or --speculate=false, and report it with the output of specula doctor --json", "%s", found)
	default:
		x.add(label, OK, "", "the same bits in passes of 1 to %d rows and in prefill, scores and %d layers of keys and values; "+
			"random and nearly tied tokens (nearest: %.2g apart)", rows, m.Config().Layers, e.margin)
	}
	return nil
}

// base is the start of the prompt, with ids that the model knows.
func (x *examination) base(m *model.Model) []int32 {
	base := make([]int32, baseTokens)
	for i := range base {
		base[i] = x.Prompt[i%len(x.Prompt)] % int32(m.Config().Vocab)
	}
	return base
}

// run returns a sentence about the first difference, or "".
func (e *equality) run(ctx context.Context, rows int, x *examination) (string, error) {
	if found, err := e.prefill(ctx); found != "" || err != nil {
		return found, err
	}
	rng := rand.New(rand.NewPCG(1, uint64(rows)))
	for _, tied := range []bool{false, true} {
		sequence := make([]int32, rows)
		for i := range sequence {
			sequence[i] = rng.Int32N(int32(e.model.Config().Vocab))
		}
		if tied {
			if err := e.tie(ctx, sequence, rng, x); err != nil {
				return "", err
			}
		}
		if found, err := e.compare(ctx, sequence); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// prefill reads the base (the start of the prompt) token by token, and then by Prefill. Both must give the
// same keys and values, and the same scores after the last token. It returns the first difference in
// words, or "". The base stays in the cache.
func (e *equality) prefill(ctx context.Context) (string, error) {
	decoded, err := e.decode(ctx, 0, e.base)
	if err != nil {
		return "", err
	}
	if err := e.cache.Truncate(0); err != nil {
		return "", err
	}
	logits, err := e.model.Prefill(ctx, e.cache, e.base, nil)
	if err != nil {
		return "", err
	}
	if err := compute.Checkpoint(e.cache); err != nil {
		return "", err
	}
	var got trace
	row := make([]float32, logits.Vocab())
	if err := logits.Row(0, row); err != nil {
		return "", err
	}
	got.scores = [][]float32{row}
	if got.cached, err = e.cached(0); err != nil {
		return "", err
	}
	decoded.scores = decoded.scores[len(e.base)-1:]
	return e.difference(fmt.Sprintf("a prefill of %d tokens", len(e.base)), decoded, got, len(e.base)), nil
}

// compare runs a sequence after the base, token by token and in passes of every length. It returns the first
// difference in words, or "".
func (e *equality) compare(ctx context.Context, sequence []int32) (string, error) {
	decoded, err := e.decode(ctx, len(e.base), sequence)
	if err != nil {
		return "", err
	}
	for _, row := range decoded.scores {
		e.margin = min(e.margin, margin(row))
	}
	for m := 1; m <= len(sequence); m++ {
		if err := e.cache.Truncate(len(e.base)); err != nil {
			return "", err
		}
		got, err := e.pass(ctx, sequence[:m])
		if err != nil {
			return "", err
		}
		if found := e.difference(fmt.Sprintf("a pass of %d rows", m), decoded, got, len(sequence)); found != "" {
			return found, nil
		}
	}
	return "", nil
}

// decode cuts the cache back to the length from, and then reads tokens one by one.
func (e *equality) decode(ctx context.Context, from int, tokens []int32) (t trace, err error) {
	if err := e.cache.Truncate(from); err != nil {
		return t, err
	}
	for _, id := range tokens {
		logits, err := e.model.Forward(ctx, e.cache, []int32{id})
		if err != nil {
			return t, err
		}
		row := make([]float32, logits.Vocab())
		if err := logits.Row(0, row); err != nil {
			return t, err
		}
		t.scores = append(t.scores, row)
	}
	t.cached, err = e.cached(from)
	return t, err
}

// pass reads tokens in one pass.
func (e *equality) pass(ctx context.Context, tokens []int32) (t trace, err error) {
	from := e.cache.Len()
	logits, err := e.model.Forward(ctx, e.cache, tokens)
	if err != nil {
		return t, err
	}
	for i := range tokens {
		row := make([]float32, logits.Vocab())
		if err := logits.Row(i, row); err != nil {
			return t, err
		}
		t.scores = append(t.scores, row)
	}
	t.cached, err = e.cached(from)
	return t, err
}

// cached copies the keys and values of the cache's tokens, beginning with the token at index from.
func (e *equality) cached(from int) (list [][]float32, err error) {
	c := e.model.Config()
	for layer := range c.Layers {
		width := e.model.CacheLayer(layer)
		for token := from; token < e.cache.Len(); token++ {
			both := make([]float32, width.KeyNumbers()+width.ValueNumbers())
			if err := e.cache.KeyValue(layer, token, both[:width.KeyNumbers()], both[width.KeyNumbers():]); err != nil {
				return nil, fmt.Errorf("reading keys and values of layer %d: %w", layer, err)
			}
			list = append(list, both)
		}
	}
	return list, nil
}

// difference names the first number in got that differs from decoding; "" if none does. tokens is how many
// tokens decoded has; got may have only the first of them.
func (e *equality) difference(pass string, decoded, got trace, tokens int) string {
	layers := e.model.Config().Layers
	each := len(got.cached) / layers
	for layer := range layers {
		for token := range each {
			if at, a, b, ok := same(decoded.cached[layer*tokens+token], got.cached[layer*each+token]); !ok {
				what := "key"
				if at >= e.model.CacheLayer(layer).KeyNumbers() {
					what = "value"
				}
				return fmt.Sprintf("%s differs from decoding: layer %d, token %d, %s: %g in place of %g", pass, layer, token, what, b, a)
			}
		}
	}
	for i, row := range got.scores {
		if id, a, b, ok := same(decoded.scores[i], row); !ok {
			return fmt.Sprintf("%s differs from decoding: row %d, score of token %d: %g in place of %g", pass, i, id, b, a)
		}
	}
	return ""
}

// same compares bits. If they differ, at is the index of the first difference, and a and b are the numbers
// there in want and got.
func same(want, got []float32) (at int, a, b float32, ok bool) {
	for i := range want {
		if math.Float32bits(want[i]) != math.Float32bits(got[i]) {
			return i, want[i], got[i], false
		}
	}
	return 0, 0, 0, true
}

// tie replaces the tokens of a sequence one after another. It tries random candidates, and takes the one
// after which the two best scores are closest. When less than 70 % of the time remains, which later
// steps need, it tries only one candidate, so the rest of the sequence is random.
func (e *equality) tie(ctx context.Context, sequence []int32, rng *rand.Rand, x *examination) error {
	if err := e.cache.Truncate(len(e.base)); err != nil {
		return err
	}
	row := make([]float32, e.model.Config().Vocab)
	for i := range sequence {
		nearest := float32(math.Inf(1))
		for n := range candidates {
			if n > 0 && x.left() < 0.7 {
				break
			}
			id := rng.Int32N(int32(len(row)))
			logits, err := e.model.Forward(ctx, e.cache, []int32{id})
			if err != nil {
				return err
			}
			if err := logits.Row(0, row); err != nil {
				return err
			}
			if m := margin(row); m < nearest {
				nearest, sequence[i] = m, id
			}
			if err := e.cache.Truncate(len(e.base) + i); err != nil {
				return err
			}
		}
		if _, err := e.model.Forward(ctx, e.cache, sequence[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// margin is the difference of the two best scores.
func margin(row []float32) float32 {
	best, second := float32(math.Inf(-1)), float32(math.Inf(-1))
	for _, score := range row {
		switch {
		case score > best:
			best, second = score, best
		case score > second:
			second = score
		}
	}
	return best - second
}
