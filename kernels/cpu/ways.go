package cpu

import (
	"time"

	"specula/kernels/format"
)

// Ways says which of several ways to compute the same bits is faster on this machine.
type Ways struct {
	// WidenFirst: products with many activation rows convert 16-bit float weights to float32 once for
	// a batch of groups of rows, before they multiply. Otherwise they convert the weights again for each group.
	WidenFirst bool
	Prefetching
	measured bool // false where there is only one way
}

// Prefetching says how products prefetch quantised weights.
type Prefetching struct {
	// FillCaches: products of one or two activation rows, whose sums stay in registers, prefetch into all
	// caches, because this was measured to be faster. Otherwise they use PREFETCHNTA, which leaves the
	// last-level cache to other data. But on some processors PREFETCHNTA has half the speed: its requests
	// bypass the second-level cache, which can have more requests under way than the first-level cache.
	FillCaches bool
	// SecondCache: products of 3 to 8 activation rows prefetch into the second-level cache, which can have
	// more requests under way. Otherwise they prefetch into the first-level cache.
	SecondCache bool
}

// String says which ways were chosen. It is empty where there was no choice.
func (w Ways) String() string {
	if !w.measured {
		return ""
	}
	when := "while they are multiplied"
	if w.WidenFirst {
		when = "first"
	}
	return "many rows are faster if float weights are converted " + when + "; " + w.said()
}

// said says which ways were chosen. It is not named String: products embed Prefetching, so they would have
// this method String, too.
func (p Prefetching) said() string {
	one, few := "one row's weights pass by the last-level cache", "first"
	if p.FillCaches {
		one = "one row is faster if its weights go through all caches"
	}
	if p.SecondCache {
		few = "second"
	}
	return one + "; weights of 3 to 8 rows are prefetched into the " + few + "-level cache"
}

const (
	// waysTime is how long measureWays takes for each choice.
	waysTime = 2 * time.Millisecond
	// The measured product is as large as a chunk of the product of a small matrix with a long prompt.
	waysRows, waysCols, waysM = 64, 1024, 96
	// The measured products of few rows read so many weights that the time to start them counts little.
	lineRows, lineCols = 2048, 1024
	// secondM is the number of rows for which SecondCache is measured.
	secondM = 5
	// FillCaches has a cost that the measurement does not see: it drives other data out of the caches.
	// So it is chosen only if it takes less than clearlyLess times the time of PREFETCHNTA.
	clearlyLess = 0.9
)

// measureWays times every way on the caller's thread. It is so short that its result need not be
// kept for the next start.
func measureWays() (w Ways) {
	t := MatMulFloat{M: waysM, Type: F16, Rows: waysRows, Cols: waysCols}
	if !t.hasManyRows() {
		return w
	}
	w.measured = true
	t.Dst, t.X, t.W = make([]float32, t.M*t.Rows), make([]float32, t.M*t.Cols), make([]byte,
		t.Rows*t.Cols*t.Type.bytes)
	// Write all of it: memory that was never written is the same page of zeros everywhere, which
	// stays in the first-level cache.
	for i := range t.X {
		t.X[i] = 1
	}
	for i := range t.W {
		t.W[i] = 1
	}
	w.WidenFirst = fastest(waysTime, 1, func(way int) time.Duration {
		t.WidenFirst = way == 1
		start := time.Now()
		t.Do(0, t.Items())
		return time.Since(start)
	}) == 1
	w.FillCaches = fastest(waysTime, clearlyLess, fromMemory(1)) == 1
	w.SecondCache = fastest(waysTime, 1, fromMemory(secondM)) == 1
	return w
}

// fromMemory returns the ways to multiply quantised weights, which come from memory, with m rows.
func fromMemory(m int) func(way int) time.Duration {
	f, _ := FormatOf(format.Q8_0)
	t := MatMulQuantized{Dst: make([]float32, m*lineRows), X: new(Quantized), W: NewPanels(f, lineRows, lineCols)}
	t.X.Quantize(make([]float32, m*lineCols), m, lineCols)
	for i := range t.W.data {
		t.W.data[i] = 1
	}
	return func(way int) time.Duration {
		t.Prefetching = Prefetching{FillCaches: way == 1, SecondCache: way == 1}
		flushLines(&t.W.data[0], len(t.W.data)/(4*lineFloats))
		start := time.Now()
		t.Do(0, t.Items())
		return time.Since(start)
	}
}

// fastest runs ways 0 and 1 in turn, each at least twice, until the duration long has passed. run returns
// the time that a way took. fastest returns 1 if the shortest time of way 1 is below limit times the shortest
// time of way 0, else 0. It compares shortest times: other programs can only make a run slower.
func fastest(long time.Duration, limit float64, run func(way int) time.Duration) int {
	var shortest [2]time.Duration
	for begun, n := time.Now(), 0; n < 4 || time.Since(begun) < long; n++ {
		if took := run(n % 2); n < 2 || took < shortest[n%2] {
			shortest[n%2] = took
		}
	}
	if float64(shortest[1]) < limit*float64(shortest[0]) {
		return 1
	}
	return 0
}
