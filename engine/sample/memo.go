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
	rough  bool
	dist   Dist // of len(logits) and whatever dst had beyond
}

// mostRemembered bounds a Memo; beyond it, it begins anew.
const mostRemembered = 1024

// find copies what is known about a row to dst.
func (m *Memo) find(key uint64, dst []float64, logits []float32, p Params, rough bool) (Dist, bool) {
	m.mu.RLock()
	e, ok := m.entries[key]
	m.mu.RUnlock()
	if !ok || e.params != p || e.rough != rough || !slices.Equal(e.logits, logits) { // hashes may collide
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

func (m *Memo) keep(key uint64, d Dist, logits []float32, p Params, rough bool) {
	d.P = slices.Clone(d.P)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil || len(m.entries) >= mostRemembered {
		m.entries = map[uint64]remembered{}
	}
	m.entries[key] = remembered{slices.Clone(logits), p, rough, d}
}

// hash mixes scores in four lanes, because one would wait for each multiplication.
func hash(logits []float32) uint64 {
	const prime = 0x9E3779B97F4A7C15
	lanes := [4]uint64{1, 2, 3, uint64(len(logits))}
	n := len(logits) &^ 3
	for i := 0; i < n; i += 4 {
		four := logits[i : i+4 : i+4]
		for j, score := range four {
			lanes[j] = (lanes[j] ^ uint64(math.Float32bits(score))) * prime
		}
	}
	for _, score := range logits[n:] {
		lanes[0] = (lanes[0] ^ uint64(math.Float32bits(score))) * prime
	}
	key := uint64(0)
	for _, lane := range lanes {
		key = (key ^ lane ^ lane>>29) * prime
	}
	return key
}
