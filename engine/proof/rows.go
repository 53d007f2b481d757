package proof

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"specula/engine/compute"
	"specula/engine/sample"
	"specula/engine/spec"
)

// readers compute rows of real models. Models share a device and buffers, so one pass is made at a time.
type readers struct {
	mu     sync.Mutex
	models map[string]*reader
}

// reader is a model with a cache of its own.
type reader struct {
	model  spec.Model
	cache  compute.Cache
	cached []int32
}

func newReaders() *readers { return &readers{models: map[string]*reader{}} }

func (r *readers) close() {
	for _, m := range r.models {
		_ = m.cache.Close() // nothing of it is needed any more
	}
}

// row is what a model says behind tokens, reusing what it has read before.
func (r *readers) row(ctx context.Context, name string, model spec.Model, tokens []int32) ([]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.models[name]
	if m == nil {
		cache, err := model.NewCache()
		if err != nil {
			return nil, fmt.Errorf("making a cache: %w", err)
		}
		m = &reader{model: model, cache: cache}
		r.models[name] = m
	}
	keep := 0
	for keep < min(len(m.cached), len(tokens)-1) && m.cached[keep] == tokens[keep] {
		keep++
	}
	if err := m.cache.Truncate(keep); err != nil {
		return nil, err
	}
	m.cached = m.cached[:keep]
	logits, err := m.model.Prefill(ctx, m.cache, tokens[keep:], nil)
	if err != nil {
		return nil, fmt.Errorf("a pass behind %d tokens: %w", keep, err)
	}
	m.cached = append(m.cached, tokens[keep:]...)
	row := make([]float32, logits.Vocab())
	return row, logits.Row(0, row)
}

// standIn is the context that answers for all that are not judged: the place itself.
const standIn int32 = -1

// rows are the scores of one model at one place, computed when first asked for.
type rows struct {
	readers *readers
	name    string
	model   spec.Model
	root    []int32
	judged  map[int32]bool // first tokens behind which the model itself is asked

	mu    sync.Mutex
	known map[int32][]float32 // by first token or standIn
}

func (r *rows) at(ctx context.Context, suffix []int32) ([]float32, error) {
	key := standIn
	if len(suffix) == 1 && r.judged[suffix[0]] {
		key = suffix[0]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if row, ok := r.known[key]; ok {
		return row, nil
	}
	tokens := r.root
	if key != standIn {
		tokens = append(slices.Clone(tokens), key)
	}
	row, err := r.readers.row(ctx, r.name, r.model, tokens)
	if err == nil {
		r.known[key] = row
	}
	return row, err
}

// remembering is a model whose scores behind a place are computed once.
type remembering struct{ *rows }

// tape is a cache that holds what was read and nothing else.
type tape struct {
	ids      []int32
	capacity int
}

func (c *tape) Len() int             { return len(c.ids) }
func (c *tape) Cap() int             { return c.capacity }
func (c *tape) Truncate(n int) error { c.ids = c.ids[:n]; return nil }
func (c *tape) Advance(int) error    { return nil }
func (c *tape) Bytes() int64         { return 0 }
func (c *tape) Close() error         { return nil }
func (c *tape) KeyValue(int, int, []float32, []float32) error {
	return fmt.Errorf("a remembering model has no keys and values")
}

// slack is room behind the root for any draft.
const slack = 256

func (m remembering) NewCache() (compute.Cache, error) {
	return &tape{capacity: len(m.root) + slack}, nil
}

// Prefill computes nothing yet: of most passes nobody asks for the scores.
func (m remembering) Prefill(ctx context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	c, ok := cache.(*tape)
	if !ok {
		return nil, fmt.Errorf("a remembering model was given a cache of another")
	}
	c.ids = append(c.ids, ids...)
	return &pass{ctx: ctx, rows: m.rows, before: slices.Clone(c.suffix(m.root)), n: 1}, nil
}

// suffix is what stands behind the root; while the root is still being read, a text that is not judged.
func (c *tape) suffix(root []int32) []int32 {
	if len(c.ids) < len(root) {
		return []int32{standIn}
	}
	return c.ids[len(root):]
}

// pass hands out n rows, the last of which stands behind all of before.
type pass struct {
	ctx    context.Context
	rows   *rows
	before []int32
	n      int
}

func (p *pass) Rows() int { return p.n }

func (p *pass) Vocab() int {
	row, err := p.row(0)
	if err != nil {
		return 0
	}
	return len(row)
}

func (p *pass) row(i int) ([]float32, error) {
	return p.rows.at(p.ctx, p.before[:len(p.before)-p.n+1+i])
}

func (p *pass) Row(i int, dst []float32) error {
	row, err := p.row(i)
	if err == nil && len(dst) != len(row) {
		err = fmt.Errorf("a row of %d scores was asked for, there are %d", len(dst), len(row))
	}
	copy(dst, row)
	return err
}

func (p *pass) Argmax(dst []int32) error {
	for i := range dst {
		row, err := p.row(i)
		if err != nil {
			return err
		}
		if dst[i], err = sample.Argmax(row); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) Moved() (bytes int64, syncs int) { return 0, 0 }

var _ compute.Logits = (*pass)(nil)
