package shape

import (
	"math"
	"slices"

	"specula/engine/compute"
)

// Ban forbids certain tokens.
type Ban struct {
	stateless
	banned set
}

// NewBan forbids ids.
func NewBan(ids []int32) *Ban { return &Ban{banned: newSet(ids)} }

func (b *Ban) Name() string { return "banned tokens" }

func (b *Ban) Shape(logits []float32) error {
	b.banned.forbid(logits)
	return nil
}

// Allows implements sample.Allower.
func (b *Ban) Allows(id int32) bool { return !b.banned.has(id) }

// Edits implements sample.Editor.
func (b *Ban) Edits() int { return len(b.banned.ids) }

// Edit implements sample.Editor.
func (b *Ban) Edit(_ *compute.Edits, token func(id int32) *compute.Edit) {
	b.banned.ban(math.MaxInt32, token)
}

// Allow forbids all tokens but certain ones.
type Allow struct {
	stateless
	allowed set
	mask    []uint64  // has the bits of the allowed tokens, as Mask
	kept    []float32 // scratch of Shape: the scores of the allowed tokens
}

// NewAllow forbids everything but ids, of which there must be one at least.
func NewAllow(ids []int32) *Allow {
	a := &Allow{allowed: newSet(ids), mask: make([]uint64, compute.MaskWords(int(slices.Max(ids))+1))}
	a.kept = make([]float32, len(a.allowed.ids))
	for _, id := range ids {
		a.mask[id/64] |= 1 << (id % 64)
	}
	return a
}

func (a *Allow) Name() string { return "allowed tokens" }

func (a *Allow) Shape(logits []float32) error {
	for i, id := range a.allowed.ids {
		if int(id) < len(logits) {
			a.kept[i] = logits[id]
		}
	}
	for i := range logits {
		logits[i] = forbidden
	}
	for i, id := range a.allowed.ids {
		if int(id) < len(logits) {
			logits[id] = a.kept[i]
		}
	}
	return nil
}

// Allows implements sample.Allower.
func (a *Allow) Allows(id int32) bool { return a.allowed.has(id) }

// Mask implements sample.Masker.
func (a *Allow) Mask(allowed []uint64) error {
	n := min(len(allowed), len(a.mask))
	for i, word := range a.mask[:n] {
		allowed[i] &= word
	}
	clear(allowed[n:])
	return nil
}

// set is a small set of ids.
type set struct {
	ids []int32
	in  map[int32]bool
}

func newSet(ids []int32) set {
	s := set{in: make(map[int32]bool, len(ids))}
	for _, id := range ids {
		if !s.in[id] {
			s.in[id] = true
			s.ids = append(s.ids, id)
		}
	}
	return s
}

func (s set) has(id int32) bool { return s.in[id] }

func (s set) forbid(logits []float32) {
	for _, id := range s.ids {
		if int(id) < len(logits) {
			logits[id] = forbidden
		}
	}
}

// mask clears the bits of the ids.
func (s set) mask(allowed []uint64) {
	for _, id := range s.ids {
		if int(id/64) < len(allowed) {
			allowed[id/64] &^= 1 << (id % 64)
		}
	}
}

// ban bans the ids in the first rows of a round; rows is how many rows.
func (s set) ban(rows int, token func(id int32) *compute.Edit) {
	for _, id := range s.ids {
		t := token(id)
		t.Banned = max(t.Banned, int32(rows))
	}
}

// MinTokens forbids the tokens that end a reply while the reply is shorter than a minimum.
type MinTokens struct {
	least   int // the minimum, in tokens
	stops   set
	written int // number of tokens of the reply
}

// NewMinTokens forbids stops while the reply has fewer than least tokens.
func NewMinTokens(least int, stops []int32) *MinTokens {
	return &MinTokens{least: least, stops: newSet(stops)}
}

func (m *MinTokens) Name() string { return "min tokens" }

func (m *MinTokens) Shape(logits []float32) error {
	if m.Active() {
		m.stops.forbid(logits)
	}
	return nil
}

// Allows implements sample.Allower.
func (m *MinTokens) Allows(id int32) bool { return !m.Active() || !m.stops.has(id) }

// Active implements sample.Temporary.
func (m *MinTokens) Active() bool { return m.written < m.least && len(m.stops.ids) > 0 }

// Edits implements sample.Editor.
func (m *MinTokens) Edits() int { return len(m.stops.ids) }

// Edit implements sample.Editor.
func (m *MinTokens) Edit(_ *compute.Edits, token func(id int32) *compute.Edit) {
	m.stops.ban(m.least-m.written, token)
}

func (m *MinTokens) Push(int32) { m.written++ }

func (m *MinTokens) Pop(n int) { m.written -= n }

func (m *MinTokens) Reset([]int32) error {
	m.written = 0
	return nil
}
