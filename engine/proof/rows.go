package proof

import (
	"context"
	"encoding/binary"
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

// open returns what reads with a model, made when it is first asked for.
func (r *readers) open(name string, model spec.Model) (*reader, error) {
	if m := r.models[name]; m != nil {
		return m, nil
	}
	cache, err := model.NewCache()
	if err != nil {
		return nil, fmt.Errorf("making a cache: %w", err)
	}
	m := &reader{model: model, cache: cache}
	r.models[name] = m
	return m, nil
}

// capacity is how many tokens a model can read.
func (r *readers) capacity(name string, model spec.Model) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, err := r.open(name, model)
	if err != nil {
		return 0, err
	}
	return m.cache.Cap(), nil
}

// row is what a model says behind tokens, reusing what it has read before.
func (r *readers) row(ctx context.Context, name string, model spec.Model, tokens []int32) ([]float32, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, err := r.open(name, model)
	if err != nil {
		return nil, err
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

// rows are the scores of one model at one place, computed when first asked for.
type rows struct {
	readers *readers
	name    string
	model   spec.Model
	root    []int32
	judged  map[int32]bool // first tokens behind which the model itself is asked

	mu    sync.Mutex
	known map[string][]float32 // by context
	bytes int                  // of known
}

// mostBytes bounds what is known of one model at one place.
const mostBytes = 256 << 20

// context is where the scores behind tokens are computed: there, behind the root with a judged token, and at the root itself for
// everything else that begins with it. What does not begin with the root is spelled in another vocabulary.
func (r *rows) context(tokens []int32) []int32 {
	n := len(r.root)
	switch {
	case len(tokens) <= n, !slices.Equal(tokens[:n], r.root), len(tokens) == n+1 && r.judged[tokens[n]]:
		return tokens
	}
	return r.root
}

// at is the row behind a context.
func (r *rows) at(ctx context.Context, context []int32) ([]float32, error) {
	key := spelled(context)
	r.mu.Lock()
	defer r.mu.Unlock()
	if row, ok := r.known[key]; ok {
		return row, nil
	}
	row, err := r.readers.row(ctx, r.name, r.model, context)
	if err != nil {
		return nil, err
	}
	if r.bytes += 4 * len(row); r.bytes > mostBytes {
		clear(r.known)
		r.bytes = 4 * len(row)
	}
	r.known[key] = row
	return row, nil
}

// spelled is a context as the key of a map.
func spelled(tokens []int32) string {
	key := make([]byte, 0, 4*len(tokens))
	for _, id := range tokens {
		key = binary.LittleEndian.AppendUint32(key, uint32(id))
	}
	return string(key)
}

// behind is the row behind the root and tokens.
func (r *rows) behind(ctx context.Context, tokens ...int32) ([]float32, error) {
	return r.at(ctx, r.context(slices.Concat(r.root, tokens)))
}

// remembering is a model whose scores are computed once.
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

func (m remembering) NewCache() (compute.Cache, error) {
	capacity, err := m.readers.capacity(m.name, m.model)
	return &tape{capacity: capacity}, err
}

// Prefill computes nothing yet: of most passes nobody asks for the scores.
func (m remembering) Prefill(ctx context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	c, ok := cache.(*tape)
	if !ok {
		return nil, fmt.Errorf("a remembering model was given a cache of another")
	}
	c.ids = append(c.ids, ids...)
	return &pass{ctx: ctx, rows: m.rows, at: [][]int32{slices.Clone(m.context(c.ids))}}, nil
}

// pass hands out the rows behind some contexts.
type pass struct {
	ctx  context.Context
	rows *rows
	at   [][]int32
}

// pass is a pass of the target over drafted tokens behind the root and what was written.
func (s *stage) pass(ctx context.Context, written, drafted []int32) *pass {
	p := &pass{ctx: ctx, rows: s.target}
	tokens := slices.Concat(s.root, written, drafted)
	for n := len(tokens) - len(drafted); n <= len(tokens); n++ {
		p.at = append(p.at, s.target.context(tokens[:n]))
	}
	return p
}

func (p *pass) Rows() int { return len(p.at) }

func (p *pass) Vocab() int {
	row, err := p.row(0)
	if err != nil {
		return 0
	}
	return len(row)
}

func (p *pass) row(i int) ([]float32, error) { return p.rows.at(p.ctx, p.at[i]) }

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
