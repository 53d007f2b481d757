package shape

import "math"

// Dry lowers the scores of tokens that would continue a repetition. If the last n tokens of the
// context occurred before, the token that followed them there loses multiplier·base^(n−allowed),
// for n ≥ allowed. If a token would continue several repetitions, the longest counts. A repetition
// reaches back to the last sequence breaker at most. A token that is a breaker by itself never loses
// anything. (p-e-w, "DRY: a modern repetition penalty", 2024, as defined by llama.cpp.)
type Dry struct {
	multiplier, base float64
	allowed          int // number of tokens that may repeat without a penalty
	last             int // number of tokens to look back; −1 for all
	breakers         Breakers
	context          []int32       // prompt and pushed tokens
	common           []int         // scratch of repetitions: a number for each token of the window
	longest          map[int32]int // scratch of Shape
}

// NewDry returns a Dry. The parameter last is how many tokens the Dry looks back over, −1 for all.
func NewDry(multiplier, base float64, allowed, last int, breakers Breakers) *Dry {
	return &Dry{multiplier: multiplier, base: base, allowed: allowed, last: last, breakers: breakers, longest: map[int32]int{}}
}

func (d *Dry) Name() string { return "DRY" }

// Mild implements sample.Mild.
func (d *Dry) Mild() {}

// Shape costs a few steps for each token of the window.
func (d *Dry) Shape(logits []float32) error {
	window := d.context
	if d.last >= 0 && len(window) > d.last {
		window = window[len(window)-d.last:]
	}
	limit := d.breakers.sinceLast(window)
	if limit < d.allowed {
		return nil
	}
	clear(d.longest)
	for back, n := range d.repetitions(window) {
		if n = min(n, limit); back == 0 || n < d.allowed {
			continue
		}
		// The last n tokens of the window equal the n tokens that end earlier by the distance back. If the
		// token that followed there is written now, the repetition becomes n+1 long.
		next := window[len(window)-back]
		if seen, ok := d.longest[next]; !ok || n > seen {
			d.longest[next] = n
		}
	}
	for id, n := range d.longest {
		if int(id) < len(logits) && !d.breakers.breaks(id) {
			logits[id] = finite(logits[id], float64(logits[id])-d.multiplier*math.Pow(d.base, float64(n-d.allowed)))
		}
	}
	return nil
}

// repetitions returns, for each k, how many tokens at the end of the window equal the tokens that end k
// places earlier; 0 for k = 0. The result is the Z-function of the reversed window. It takes linear time
// however repetitive the text is. (Gusfield, "Algorithms on strings, trees and sequences", 1997,
// section 1.4)
func (d *Dry) repetitions(window []int32) []int {
	n := len(window)
	if cap(d.common) < n {
		d.common = make([]int, 2*n)
	}
	z := d.common[:n]
	if n > 0 {
		z[0] = 0
	}
	at := func(i int) int32 { return window[n-1-i] }
	left, right := 0, 0 // [left, right) is the known match that ends last
	for k := 1; k < n; k++ {
		z[k] = 0
		if k < right {
			z[k] = min(right-k, z[k-left])
		}
		for k+z[k] < n && at(z[k]) == at(k+z[k]) {
			z[k]++
		}
		if k+z[k] > right {
			left, right = k, k+z[k]
		}
	}
	return z
}

func (d *Dry) Push(id int32) { d.context = append(d.context, id) }

func (d *Dry) Pop(n int) { d.context = d.context[:len(d.context)-n] }

func (d *Dry) Reset(prompt []int32) error {
	d.context = append(d.context[:0], prompt...)
	return nil
}

// Breakers are the token sequences at which repetitions end. The key is the first token of a sequence. The
// value has, for each sequence that begins with this token, the tokens after it; none for a token that is a
// breaker by itself.
type Breakers map[int32][][]int32

// sinceLast returns how many tokens of the window come after its last breaker, or the length of the window
// if it has no breaker. Of several breakers that begin at the same place the longest counts.
func (b Breakers) sinceLast(window []int32) int {
	if len(b) == 0 {
		return len(window)
	}
	for at := len(window) - 1; at >= 0; at-- {
		longest := -1
		for _, rest := range b[window[at]] {
			if len(rest) > longest && hasPrefix(window[at+1:], rest) {
				longest = len(rest)
			}
		}
		if longest >= 0 {
			return len(window) - 1 - at - longest
		}
	}
	return len(window)
}

// breaks reports whether a token is a breaker by itself.
func (b Breakers) breaks(id int32) bool {
	for _, rest := range b[id] {
		if len(rest) == 0 {
			return true
		}
	}
	return false
}

func hasPrefix(tokens, prefix []int32) bool {
	if len(tokens) < len(prefix) {
		return false
	}
	for i, id := range prefix {
		if tokens[i] != id {
			return false
		}
	}
	return true
}
