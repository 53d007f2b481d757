package sample

import (
	"math"
	"slices"
	"sync"
)

// Memo remembers the distributions of rows of scores that come again and again, as they do where one place of a reply is
// sampled a hundred thousand times. What it gives back is bit for bit what was computed from the same scores before. Samplers
// of several goroutines may share one. The zero Memo is empty.
type Memo struct {
	mu      sync.RWMutex
	entries map[uint64]remembered
}

type remembered struct {
	logits []float32
	params Params
	fast   bool
	dist   Dist // of len(logits) and whatever dst had beyond
}

// mostRemembered bounds a Memo; beyond it, it begins anew.
const mostRemembered = 1024

// find copies what is known about a row to dst.
func (m *Memo) find(key uint64, dst []float64, logits []float32, p Params, fast bool) (Dist, bool) {
	m.mu.RLock()
	e, ok := m.entries[key]
	m.mu.RUnlock()
	if !ok || e.params != p || e.fast != fast || !slices.Equal(e.logits, logits) { // hashes may collide
		return Dist{}, false
	}
	if e.dist.P == nil {
		return e.dist, true
	}
	if len(e.dist.P) != len(dst) {
		return Dist{}, false
	}
	copy(dst, e.dist.P)
	return Dist{P: dst}, true
}

func (m *Memo) keep(key uint64, d Dist, logits []float32, p Params, fast bool) {
	d.P = slices.Clone(d.P)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil || len(m.entries) >= mostRemembered {
		m.entries = map[uint64]remembered{}
	}
	m.entries[key] = remembered{slices.Clone(logits), p, fast, d}
}

// hash looks at a part of the scores, spread over the row; find compares them all.
func hash(logits []float32) uint64 {
	const prime, looks = 0x9E3779B97F4A7C15, 128
	key := uint64(len(logits))
	for i := 0; i < len(logits); i += 1 + len(logits)/looks {
		key = (key ^ key>>29 ^ uint64(math.Float32bits(logits[i]))) * prime
	}
	return key
}
