package cpu

import "time"

// Ways says which of several ways to compute the same bits is faster on this machine.
type Ways struct {
	// WidenFirst: products with many activation rows convert 16-bit float weights to float32 once for
	// a batch of rows, before they multiply. If it is false, they convert them again for each group.
	WidenFirst bool
	measured   bool // false where there is only one way
}

// String says which ways were chosen. It is empty if there was only one way.
func (w Ways) String() string {
	switch {
	case !w.measured:
		return ""
	case w.WidenFirst:
		return "many rows are faster if float weights are converted first"
	}
	return "many rows are faster if float weights are converted while they are multiplied"
}

const (
	// waysTime is how long measureWays takes for each choice.
	waysTime = 2 * time.Millisecond
	// The measured product is as large as a chunk of a small matrix with a long prompt.
	waysRows, waysCols, waysM = 64, 1024, 96
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
	w.WidenFirst = fastest(waysTime, func(way int) {
		t.WidenFirst = way == 1
		t.Do(0, t.Items())
	}) == 1
	return w
}

// fastest runs two ways in turn until the duration long has passed, each at least twice. It returns
// the way whose fastest run took less time. It compares fastest runs because other programs can only
// make a run slower.
func fastest(long time.Duration, run func(way int)) int {
	var shortest [2]time.Duration
	for begun, n := time.Now(), 0; n < 4 || time.Since(begun) < long; n++ {
		start := time.Now()
		run(n % 2)
		if took := time.Since(start); n < 2 || took < shortest[n%2] {
			shortest[n%2] = took
		}
	}
	if shortest[1] < shortest[0] {
		return 1
	}
	return 0
}
