package sample

import (
	"math"
	"slices"
	"sync"
)

// Memo remembers the distributions of rows that come again and again, as when one position of a
// reply is sampled a hundred thousand times. It returns bit for bit what was computed from the same
// logits before. Samplers of several goroutines may share a Memo. The zero Memo is empty.
type Memo struct {
	mu      sync.RWMutex
	entries map[uint64]remembered
}

type remembered struct {
	logits []float32
	params Params
	fast   bool
	dist   Dist // len(logits), or more where dst was longer
}

// mostRemembered bounds a Memo. When it is full, it drops everything and starts again.
const mostRemembered = 1024

// find copies the remembered distribution of a row to dst.
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

// hash reads about 128 scores spread over the row; find compares all of them.
func hash(logits []float32) uint64 {
	const prime, looks = 0x9E3779B97F4A7C15, 128
	key := uint64(len(logits))
	for i := 0; i < len(logits); i += 1 + len(logits)/looks {
		key = (key ^ key>>29 ^ uint64(math.Float32bits(logits[i]))) * prime
	}
	return key
}
