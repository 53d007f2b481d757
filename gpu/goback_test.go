//go:build cuda && linux && cgo

package gpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/model/modeltest"
)

// withStates are models of each kind of layer with a state: a delta net; a short convolution; and Mamba-2 in three
// ways: in a mixture of experts, beside attention in the same layer, and in layers of its own.
var withStates = []string{"qwen35", "lfm2", "granitehybrid-moe", "falcon-h1", "nemotron_h"}

// hybrid loads a tiny model with states.
func hybrid(t *testing.T, b compute.Backend, name string, o model.Options) *model.Model {
	t.Helper()
	return load(t, b, modeltest.Unpack(t, "../engine/model/testdata/architectures/"+name+".gguf.gz"), o)
}

// stateReader reads texts with a cache of its own.
type stateReader struct {
	*model.Model
	t     *testing.T
	cache compute.Cache
}

func readerOf(t *testing.T, m *model.Model) *stateReader {
	t.Helper()
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cache.Close() })
	return &stateReader{m, t, cache}
}

// forward returns the scores of a pass.
func (r *stateReader) forward(ids ...int32) (rows [][]float32) {
	r.t.Helper()
	logits, err := r.Forward(r.t.Context(), r.cache, ids)
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range ids {
		row := make([]float32, logits.Vocab())
		if err := logits.Row(i, row); err != nil {
			r.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// prefill reads ids and returns the scores after the last.
func (r *stateReader) prefill(ids []int32) []float32 {
	r.t.Helper()
	logits, err := r.Prefill(r.t.Context(), r.cache, ids, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	row := make([]float32, logits.Vocab())
	if err := logits.Row(0, row); err != nil {
		r.t.Fatal(err)
	}
	return row
}

func (r *stateReader) truncate(n int) {
	r.t.Helper()
	if err := r.cache.Truncate(n); err != nil {
		r.t.Fatal(err)
	}
}

func (r *stateReader) checkpoint() {
	r.t.Helper()
	if err := compute.Checkpoint(r.cache); err != nil {
		r.t.Fatal(err)
	}
}

// cancelled begins a pass that ends in one of the layers.
func (r *stateReader) cancelled(ids []int32, operations int) {
	r.t.Helper()
	before := r.cache.Len()
	ctx := &countdown{Context: context.Background(), left: operations}
	if _, err := r.Prefill(ctx, r.cache, ids, nil); err == nil {
		r.t.Fatal("the pass was not cancelled")
	}
	if r.cache.Len() != before {
		r.t.Fatalf("a pass that was cancelled left %d tokens of %d", r.cache.Len(), before)
	}
}

// countdown is a context that is cancelled once Err was called left times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func sameScores(t *testing.T, got, want []float32, what string, about ...any) {
	t.Helper()
	record{"scores": got}.compare(t, record{"scores": want}, fmt.Sprintf(what, about...))
}

func randomText(rng *rand.Rand, n, vocab int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = rng.Int32N(int32(vocab))
	}
	return ids
}

// fewer returns n, or a fifth of n if the emulator's schedule is random.
func fewer(n int) int {
	if seed := os.Getenv("EMULATOR_SEED"); seed != "" && seed != "0" {
		return n / 5
	}
	return n
}

// A pass of 1 to 33 rows over states gives the bits of decoding, and so does the row that follows when some of these
// rows were taken back. The text before the passes ends inside the ring or has gone around it.
func TestStatesGoBackToEachRow(t *testing.T) {
	b := open(t)
	const most = 33
	for _, name := range []string{"qwen35", "lfm2", "granitehybrid"} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 9))
			r := readerOf(t, hybrid(t, b, name, model.Options{MaxTokens: 120, MaxRows: most, PrefillRows: 2 * most}))
			text := randomText(rng, most+1, r.Config().Vocab)
			for _, c := range []struct {
				base int
				rows []int
			}{{1, []int{2, most}}, {2*most + 3, rowsOfVerification(most)}} {
				r.truncate(0)
				r.prefill(randomText(rng, c.base, r.Config().Vocab))
				r.checkpoint()
				var want [][]float32
				for _, id := range text {
					want = append(want, r.forward(id)...)
				}
				for _, rows := range c.rows {
					for kept := rng.IntN(2); kept <= rows; kept += 1 + rng.IntN(2*rows) {
						r.truncate(c.base)
						for i, row := range r.forward(text[:rows]...) {
							sameScores(t, row, want[i], "row %d of %d after %d tokens", i, rows, c.base)
						}
						r.truncate(c.base + kept)
						sameScores(t, r.forward(text[kept])[0], want[kept], "after %d rows, of which %d stay", rows, kept)
					}
				}
			}
		})
	}
}

// rowsOfVerification are 1 to most, or some of these numbers if the emulator's schedule is random.
func rowsOfVerification(most int) (all []int) {
	if fewer(most) < most {
		return []int{2, 9, most}
	}
	for rows := 1; rows <= most; rows++ {
		all = append(all, rows)
	}
	return all
}

// A cache with states goes back to any length that it says it reaches: by rows of a short pass one by one, by a long
// pass as a whole, to a checkpoint, or to nothing. What is read from there has the bits that reading the whole text
// from its start gives. Passes that are cancelled in between leave no trace.
func TestStatesGoBackOnTheDevice(t *testing.T) {
	b := open(t)
	const most, steps = 48, 35
	for _, name := range withStates {
		t.Run(name, func(t *testing.T) {
			m := hybrid(t, b, name, model.Options{MaxTokens: most, MaxRows: 6, PrefillRows: 16})
			r, whole := readerOf(t, m), readerOf(t, m)
			rng := rand.New(rand.NewPCG(4, 4))
			text := randomText(rng, most, m.Config().Vocab)
			reached := map[bool]int{}
			for range fewer(steps) {
				n := 1 + rng.IntN(most-1)
				if rng.IntN(2) == 0 {
					n = max(1, r.cache.Len()-rng.IntN(6))
				}
				if n <= r.cache.Len() {
					reach := compute.Reach(r.cache, n)
					reached[reach > 0]++
					if reach > n || reach < n && r.cache.Truncate(n) == nil {
						t.Fatalf("of %d tokens to %d: reaches %d", r.cache.Len(), n, reach)
					}
					r.truncate(reach)
					copy(text[reach:], randomText(rng, most-reach, m.Config().Vocab)) // another text goes on from there
				}
				if ids := text[r.cache.Len():min(most, r.cache.Len()+1+rng.IntN(16))]; rng.IntN(4) == 0 && len(ids) > 0 {
					r.cancelled(ids, 2+len(ids)/2)
				}
				if rng.IntN(3) == 0 {
					r.checkpoint()
				}
				if n > r.cache.Len() {
					r.prefill(text[r.cache.Len():n])
				}
				if r.cache.Len() == 0 || r.cache.Len() == most {
					continue
				}
				got := r.forward(text[r.cache.Len()])[0]
				whole.truncate(0)
				sameScores(t, got, whole.prefill(text[:r.cache.Len()]), "token %d after going back", r.cache.Len())
			}
			if reached[true] < fewer(10) {
				t.Fatalf("to a length above 0 the cache went back %d times, to 0 %d times", reached[true], reached[false])
			}
		})
	}
}
