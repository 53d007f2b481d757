//go:build cuda && linux && cgo

package gpu_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"specula/engine/compute"
	"specula/engine/spec/gate"
	"specula/kernels/ref"
)

// tables are the scores of a world: for each position one row per previous token.
type tables struct {
	compute.Backend
	compute.Feeder
	world         *gate.World
	draft, target []compute.Matrix // by position: a row of scores for each previous token
	scores, row   compute.Buffer
	rows          compute.Buffer // of the target
	ahead         compute.Tokens // for drafts that come from the host
	masked        bool           // tokens are forbidden, as lawAllows says
}

func newTables(t *testing.T, b compute.Backend, w *gate.World, most int) *tables {
	t.Helper()
	w.Round(func(f float32) float32 { return ref.FromHalf(ref.ToHalf(f)) })
	l := &tables{Backend: b, Feeder: b.(compute.Feeder), world: w}
	for position := range w.Depth {
		l.draft = append(l.draft, l.matrix(t, position, w.DraftScores))
		l.target = append(l.target, l.matrix(t, position, w.TargetScores))
	}
	for _, buffer := range []struct {
		to   *compute.Buffer
		rows int
	}{{&l.scores, 1}, {&l.row, 1}, {&l.rows, most + 1}} {
		var err error
		if *buffer.to, err = b.Buffer(buffer.rows, w.Vocab); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if l.ahead, err = l.Feeder.Tokens(most + 2); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.ahead.Close() })
	return l
}

func (l *tables) matrix(t *testing.T, position int, scores func(int, int32) []float32) compute.Matrix {
	var data []byte
	for before := range l.world.Vocab {
		for _, score := range scores(position, int32(before)) {
			data = binary.LittleEndian.AppendUint16(data, ref.ToHalf(score))
		}
	}
	m, err := l.Matrix(t.Context(),
		compute.Weight{Name: "scores", Type: compute.F16, Rows: l.world.Vocab,
			Cols: l.world.Vocab, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read is a cache that only counts.
type read struct {
	compute.Cache
	n int
}

func (r *read) Len() int             { return r.n }
func (r *read) Cap() int             { return 1000 }
func (r *read) Truncate(n int) error { r.n = n; return nil }
func (r *read) Close() error         { return nil }

func (l *tables) NewCache() (compute.Cache, error) { return &read{}, nil }
func (l *tables) Feeds() bool                      { return true }

func (l *tables) Tokens(n int) (compute.Tokens, error) { return l.Feeder.Tokens(n) }

// Prefill gives the draft's scores after the last of ids. Before a chain they are not needed.
func (l *tables) Prefill(_ context.Context, cache compute.Cache, ids []int32,
	_ func(int, int)) (compute.Logits, error) {
	cache.(*read).n += len(ids)
	if err := l.Embed(l.scores, l.draft[cache.Len()-1], ids[len(ids)-1:]); err != nil {
		return nil, err
	}
	return l.Logits(l.scores, 1)
}

// Chain draws n tokens. The first follows the last of ids.
func (l *tables) Chain(_ context.Context, cache compute.Cache, ids []int32, n int, t compute.Tokens,
	by *compute.Sampling) error {
	position := cache.Len() + len(ids) - 1 // of the first token drawn
	last := ids[len(ids)-1]
	err := errors.Join(l.Embed(l.scores, l.draft[position], []int32{last}), t.Sample(*by), t.Put(0, last),
		l.Draw(l.scores, t, 1))
	for i := 1; i < n && err == nil; i++ {
		err = errors.Join(l.EmbedTokens(l.scores, l.draft[position+i], t, i, 1), l.Draw(l.scores, t, i+1))
	}
	cache.(*read).n += len(ids) + n - 1
	return errors.Join(err, t.Mark())
}

// pass scores n+1 tokens of t. The first of them is the token just before position.
func (l *tables) pass(t compute.Tokens, position, n int) (compute.Logits, error) {
	var err error
	for i := range n + 1 {
		err = errors.Join(err, l.EmbedTokens(l.row, l.target[position+i], t, i, 1),
			l.Copy(l.rows, l.row, 1, compute.Block{Row: i}))
	}
	if err != nil {
		return nil, err
	}
	return l.Logits(l.rows, n+1)
}

// lawMask is the mask of a masked language as a shaper of drafts.
type lawMask struct {
	*tables
	from []int32 // the context of the draft, and what was pushed
}

func (m *lawMask) Name() string        { return "mask" }
func (m *lawMask) Push(id int32)       { m.from = append(m.from, id) }
func (m *lawMask) Pop(n int)           { m.from = m.from[:len(m.from)-n] }
func (m *lawMask) Reset([]int32) error { return nil }

func (m *lawMask) Shape([]float32) error { return errors.New("a row came to the host") }

func (m *lawMask) Mask(allowed []uint64) error {
	last := len(m.from) - 1
	for i, word := range m.masks(last, m.from[last:]) {
		allowed[i] &= word
	}
	return nil
}

// lawAllows is the mask of a masked language: whether a token may come at a position, given the token before.
func lawAllows(position int, before, id int32) bool { return (7*int(id)+3*int(before)+position)%5 >= 2 }

// masks returns the masks of the rows after each of ids, of which the first is the token before position.
func (l *tables) masks(position int, ids []int32) []uint64 {
	words := compute.MaskWords(l.world.Vocab)
	masks := make([]uint64, words*len(ids))
	for i, before := range ids {
		for id := range l.world.Vocab {
			if lawAllows(position+i, before, int32(id)) {
				masks[i*words+id/64] |= 1 << (id % 64)
			}
		}
	}
	return masks
}
