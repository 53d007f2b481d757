package proof

import (
	"context"
	"sync"

	"specula/engine/sample"
	"specula/engine/spec"
)

// stage is a place with everything that is computed there once, for all trials and goroutines.
type stage struct {
	*place
	judged map[int32]bool
	firsts []int32 // likeliest first tokens
	target *rows
	memo   *sample.Memo

	readers *readers
	mu      sync.Mutex
	models  map[string]remembering
}

func (t *trial) newStage(p *place) *stage {
	s := &stage{place: p, judged: map[int32]bool{}, memo: &sample.Memo{}, readers: t.readers, models: map[string]remembering{}}
	s.firsts = likeliest(p.p, judgedMost)
	for _, id := range s.firsts {
		s.judged[id] = true
	}
	s.target = s.rowsOf(targetName, t.Target)
	return s
}

// targetName is the target's among the models.
const targetName = "target"

func (s *stage) rowsOf(name string, m spec.Model) *rows {
	return &rows{readers: s.readers, name: name, model: m, root: s.root, judged: s.judged, known: map[string][]float32{}}
}

// wrap gives every proposer of a stage the same memory of a model.
func (s *stage) wrap(name string, m spec.Model) spec.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	wrapped, ok := s.models[name]
	if !ok {
		wrapped = remembering{s.rowsOf(name, m)}
		s.models[name] = wrapped
	}
	return wrapped
}

// bins are the cells of a case: a token of firsts followed by one of its likeliest seconds or by any other, or any other first.
type bins struct {
	firsts  map[int32]int
	seconds []map[int32]int
	p       []float64 // (cells) the exact probabilities
	first   []float64 // (firsts and the rest) those of the first token alone
	tokens  [][]int32 // (cells) what names the cell: two tokens, one with any other behind it, or none
}

const perFirst = judgedMost + 1

func (t *trial) newBins(ctx context.Context, s *stage) (*bins, error) {
	b := &bins{firsts: map[int32]int{}}
	dist := func(suffix ...int32) (sample.Dist, error) {
		row, err := s.target.behind(ctx, suffix...)
		if err != nil {
			return sample.Dist{}, err
		}
		return sample.FromLogits(make([]float64, len(row)), row, t.Params)
	}
	p, err := dist()
	if err != nil {
		return nil, err
	}
	rest := 1.0
	for i, x := range s.firsts {
		b.firsts[x] = i
		reach := p.Prob(x)
		rest -= reach
		b.first = append(b.first, reach)
		second := sample.Dist{P: []float64{}} // of nothing, behind a token that ends the reply
		if !t.IsStop(x) {
			if second, err = dist(x); err != nil {
				return nil, err
			}
		}
		b.addSeconds(x, reach, second)
	}
	b.first = append(b.first, rounded(rest))
	b.p, b.tokens = append(b.p, rounded(rest)), append(b.tokens, nil)
	return b, nil
}

// addSeconds adds the cells behind a first token that comes with probability reach.
func (b *bins) addSeconds(x int32, reach float64, second sample.Dist) {
	ids := []int32{second.Hot}
	if second.P != nil {
		ids = likeliest(second.P, judgedMost)
	}
	index, rest := map[int32]int{}, 1.0
	for j := range judgedMost {
		cell, id := 0.0, int32(-1)
		if j < len(ids) {
			id = ids[j]
			index[id] = j
			cell = second.Prob(id)
			rest -= cell
		}
		b.p, b.tokens = append(b.p, reach*cell), append(b.tokens, []int32{x, id})
	}
	b.p, b.tokens = append(b.p, reach*rounded(rest)), append(b.tokens, []int32{x})
	b.seconds = append(b.seconds, index)
}

// rounded is 0 for what only rounding left: a cell that cannot be hit must not look as if it could, nor the other way round.
func rounded(rest float64) float64 {
	if rest < 1e-12 {
		return 0
	}
	return rest
}

// cell is the place of two tokens; second is -1 when the first ended the reply.
func (b *bins) cell(first, second int32) (first1, cell int) {
	i, ok := b.firsts[first]
	if !ok {
		return len(b.seconds), len(b.seconds) * perFirst
	}
	j, ok := b.seconds[i][second]
	if !ok {
		j = judgedMost
	}
	return i, i*perFirst + j
}
