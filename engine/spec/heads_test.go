package spec

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// trunk is a target that has only hidden states: the state after a token is a hash of the whole
// text up to it.
type trunk struct{ tap []uint64 }

func stateOf(text []int32) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, text)
	return h.Sum64()
}

// read is a pass over text[from:to].
func (tr *trunk) read(text []int32, from, to int) {
	tr.tap = tr.tap[:0]
	for at := from; at < to; at++ {
		tr.tap = append(tr.tap, stateOf(text[:at+1]))
	}
}

// pairs is an EAGLE head made of hashes: its scores depend on each token and each state that it
// read.
type pairs struct {
	trunk *trunk
	vocab int
	room  int
	first int
	kept  []uint64
	last  uint64
	fail  error // the error of the next pass
}

// pairTape is the cache of pairs.
type pairTape struct {
	tape
	states []uint64 // the state before each token but the first
}

func (m *pairs) NewCache() (compute.Cache, error) {
	return &pairTape{tape: tape{capacity: 10_000}}, nil
}
func (m *pairs) Tap() *compute.Tap { return nil }
func (m *pairs) Room() int         { return m.room }
func (m *pairs) Reads() bool       { return true }
func (m *pairs) Longest() int      { return 5 }
func (m *pairs) Embeddings() int   { return m.vocab }

func (m *pairs) Keep(at, rows int, fresh bool) error {
	if fresh {
		m.first, m.kept = at, nil
	}
	if at < m.first || at > m.first+len(m.kept) || at-m.first+rows > m.room || rows > len(m.trunk.tap) {
		return fmt.Errorf("keeping %d of %d rows at %d after %d from %d on", rows, len(m.trunk.tap), at, len(m.kept), m.first)
	}
	m.kept = append(m.kept[:at-m.first], m.trunk.tap[:rows]...)
	return nil
}

func (m *pairs) Prefill(_ context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	if m.fail != nil {
		return nil, m.fail
	}
	c := cache.(*pairTape)
	c.states = c.states[:len(c.ids)] // Truncate has only cut ids
	single := len(ids) == 1
	for _, id := range ids {
		at := len(c.ids) - 1 - m.first
		switch {
		case len(c.ids) == 0:
			c.states = append(c.states, 0)
		case at >= 0 && at < len(m.kept):
			c.states = append(c.states, m.kept[at])
		case single && at >= len(m.kept):
			c.states = append(c.states, m.last)
		default:
			return nil, fmt.Errorf("token %d: states are kept from %d on, %d of them", len(c.ids), m.first, len(m.kept))
		}
		c.ids = append(c.ids, id)
	}
	m.last = madeOf(c.ids, c.states)
	return &oneRow{row: guessOf(m.last, m.vocab)}, nil
}

func madeOf(ids []int32, states []uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, ids, states)
	return h.Sum64()
}

func guessOf(state uint64, vocab int) []float32 {
	return scoresOf([]int32{int32(state), int32(state >> 32)}, vocab)
}

// chain returns what pairs should draft after a text that it reads at once.
func chain(t *testing.T, text []int32, gamma, vocab int) (draft []int32) {
	t.Helper()
	ids, states := slices.Clone(text), []uint64{0}
	for at := range len(text) - 1 {
		states = append(states, stateOf(text[:at+1]))
	}
	for range gamma {
		made := madeOf(ids, states)
		best, err := sample.Argmax(guessOf(made, vocab))
		must(t, err)
		draft, ids, states = append(draft, best), append(ids, best), append(states, made)
	}
	return draft
}

// Whatever was accepted, left out, cancelled, or taken over from the reply before: heads draft what
// they would draft if they had just read the text, with the target's states and no others.
func TestHeadsStayInStepWithTheTarget(t *testing.T) {
	const vocab = 5
	for _, room := range []int{6, 8, 100} {
		t.Run(fmt.Sprint("room ", room), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, uint64(room)))
			tr := &trunk{}
			model := &pairs{trunk: tr, vocab: vocab, room: room}
			h, err := NewHeads("eagle", model, vocab)
			must(t, err)
			random := func(n int) (ids []int32) {
				for range n {
					ids = append(ids, int32(rng.IntN(vocab)))
				}
				return ids
			}
			var text []int32
			for range 60 {
				text = append(text[:rng.IntN(len(text)+1)], random(1+rng.IntN(15))...)
				if rng.IntN(4) == 0 { // the prompt is cancelled half-way
					prompt(t, h, tr, text, len(text)/2)
					continue
				}
				prompt(t, h, tr, text, len(text))
				for range rng.IntN(12) {
					if model.fail = errors.New("a pass failed"); rng.IntN(6) == 0 && len(text) > 1 {
						if _, err := h.Propose(t.Context(), Ask{Gamma: 2}); !errors.Is(err, model.fail) {
							t.Fatalf("a failed pass: %v", err)
						}
						must(t, h.Committed(nil))
					}
					model.fail = nil
					var draft Draft
					if rng.IntN(4) > 0 {
						gamma := 1 + rng.IntN(5)
						draft, err = h.Propose(t.Context(), Ask{Gamma: gamma})
						must(t, err)
						if len(text) == 1 {
							gamma = 0 // the target has read nothing
						}
						if want := chain(t, text, gamma, vocab); !slices.Equal(draft.Tokens, want) {
							t.Fatalf("drafted %v after %d tokens, want %v (%s)", draft.Tokens, len(text), want, draft.Stop)
						}
					}
					if rng.IntN(6) == 0 { // the round is abandoned
						must(t, h.Committed(nil))
						continue
					}
					tr.read(append(slices.Clone(text), draft.Tokens...), len(text)-1, len(text)+len(draft.Tokens))
					accepted := rng.IntN(len(draft.Tokens) + 1)
					committed := append(slices.Clone(draft.Tokens[:accepted]), random(1)...)
					must(t, h.Committed(committed))
					text = append(text, committed...)
				}
				if rng.IntN(5) == 0 {
					must(t, h.Reset())
				}
			}
		})
	}
}

// prompt begins a reply as the engine does, in passes of three rows, and stops at token until.
func prompt(t *testing.T, h *Heads, tr *trunk, text []int32, until int) {
	t.Helper()
	at, err := h.Begin(text)
	must(t, err)
	if at < 0 || len(text) > 1 && at > len(text)-2 {
		t.Fatalf("%d of %d tokens reused: the last but one must be read again", at, len(text))
	}
	at -= len(text) * at / 2 % (at + 1) // the target's cache may hold fewer tokens than the heads have states
	for at < min(until, len(text)-1) {
		to := min(at+3, len(text)-1)
		tr.read(text, at, to)
		must(t, h.Take(t.Context(), at, to-at))
		at = to
	}
}

func TestHeadsReuseWhatTwoPromptsHaveInCommon(t *testing.T) {
	tr := &trunk{}
	h, err := NewHeads("eagle", &pairs{trunk: tr, vocab: 9, room: 100}, 9)
	must(t, err)
	for _, c := range []struct {
		text   []int32
		reused int
	}{
		{[]int32{1, 2, 3, 4, 5}, 0},
		{[]int32{1, 2, 3, 4, 5, 6, 7}, 4}, // nothing was drafted, so nothing was read, but the states are kept
		{[]int32{1, 2, 3, 4, 5, 6, 8, 8}, 6},
		{[]int32{1, 2, 8}, 1},
		{[]int32{1, 2, 8}, 1}, // the state before the last token is needed again
		{[]int32{7}, 0},
	} {
		reused, err := h.Begin(c.text)
		must(t, err)
		if reused != c.reused {
			t.Errorf("%v: %d tokens reused, want %d", c.text, reused, c.reused)
		}
		prompt(t, h, tr, c.text, len(c.text))
		if len(c.text) != 5 {
			_, err = h.Propose(t.Context(), Ask{Gamma: 1})
			must(t, err)
			must(t, h.Committed(nil))
		}
	}
}

// Heads tell before a draft how many tokens its first pass has to read.
func TestHeadsTellWhatTheyHaveToRead(t *testing.T) {
	for _, c := range []struct{ prompt, unread int }{{12, 11}, {9, 0}} { // a few tokens count as none
		tr := &trunk{}
		h, err := NewHeads("eagle", &pairs{trunk: tr, vocab: 9, room: 100}, 9)
		must(t, err)
		text := slices.Repeat([]int32{1, 2, 3}, 4)[:c.prompt]
		prompt(t, h, tr, text, len(text))
		if n := h.Unread(); n != c.unread {
			t.Errorf("after a prompt of %d tokens, %d are unread, want %d", c.prompt, n, c.unread)
		}
		_, err = h.Propose(t.Context(), Ask{Gamma: 1})
		must(t, err)
		must(t, h.Committed(nil))
		if n := h.Unread(); n != 0 {
			t.Errorf("after a draft, %d tokens are unread", n)
		}
	}
	h, err := NewHeads("medusa", &worldHeads{blind: true, worldModel: worldModel{world: &gate.World{Vocab: 9}}}, 9)
	must(t, err)
	_, err = h.Begin(slices.Repeat([]int32{1}, 40))
	must(t, err)
	must(t, h.Take(t.Context(), 0, 39))
	if n := h.Unread(); n != 0 {
		t.Errorf("heads that draft from the last state alone have %d tokens unread", n)
	}
}

func TestHeadsSayWhyTheyStop(t *testing.T) {
	tr := &trunk{}
	h, err := NewHeads("medusa", &pairs{trunk: tr, vocab: 4, room: 100}, 4)
	must(t, err)
	_, err = h.Begin([]int32{1, 2, 3})
	must(t, err)
	if draft, err := h.Propose(t.Context(), Ask{Gamma: 2}); err != nil || len(draft.Tokens) != 0 || !strings.Contains(draft.Stop, "no hidden state") {
		t.Errorf("without states: %v, %v", draft, err)
	}
	prompt(t, h, tr, []int32{1, 2, 3}, 3)
	for _, at := range []int{-1, 2, 3} {
		if err := h.Take(t.Context(), at, 1); err == nil {
			t.Errorf("a state after token %d was taken", at)
		}
	}
	if draft, err := h.Propose(t.Context(), Ask{Gamma: 9}); err != nil || len(draft.Tokens) != 5 || draft.Stop != "there are 5 heads" {
		t.Errorf("beyond the heads: %v, %v", draft, err)
	}
	if h.Name() != "medusa" || h.Tap() != nil {
		t.Errorf("name %q", h.Name())
	}
	must(t, h.Close())
}

// worldHeads are heads whose draft distribution is that of a gate's World.
type worldHeads struct {
	worldModel
	blind bool // ignores the tokens of the draft, as Medusa's heads do
	last  int  // the place of the last token that the target has read
}

func (m *worldHeads) Tap() *compute.Tap { return nil }
func (m *worldHeads) Room() int         { return 100 }
func (m *worldHeads) Reads() bool       { return !m.blind }
func (m *worldHeads) Longest() int      { return 100 }
func (m *worldHeads) Embeddings() int   { return m.world.Vocab }

func (m *worldHeads) Keep(at, rows int, _ bool) error {
	m.last = at + rows
	return nil
}

func (m *worldHeads) Prefill(ctx context.Context, cache compute.Cache, ids []int32, progress func(done, total int)) (compute.Logits, error) {
	logits, err := m.worldModel.Prefill(ctx, cache, ids, progress)
	if c := cache.(*tape); m.blind {
		logits = &oneRow{row: m.world.DraftScores(max(0, len(c.ids)-m.prompt), c.ids[m.last])}
	}
	return logits, err
}

func newWorldHeads(prompt int, blind bool) func(*testing.T, *gate.World) Proposer {
	return func(t *testing.T, w *gate.World) Proposer {
		name := map[bool]string{false: "eagle", true: "medusa"}[blind]
		h, err := NewHeads(name, &worldHeads{worldModel: worldModel{w, prompt}, blind: blind}, w.Vocab)
		must(t, err)
		return h
	}
}
