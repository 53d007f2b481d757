package constrain

import (
	"math/rand/v2"
	"testing"
)

// randomText walks an automaton: random bytes for a while, then the closing. likely are bytes that are tried first, so that not
// every walk is lost in strings of control characters.
func randomText(t testing.TB, a *automaton, rng *rand.Rand, length int, likely string) string {
	t.Helper()
	var text []byte
	s := a.start
	for len(text) < length {
		if a.accepts(s) && rng.IntN(8) == 0 {
			return string(text)
		}
		var next []byte
		for _, b := range []byte(likely) {
			if a.step(s, b) != dead {
				next = append(next, b)
			}
		}
		if len(next) == 0 || rng.IntN(10) == 0 {
			next = next[:0]
			for b := range 256 {
				if a.step(s, byte(b)) != dead {
					next = append(next, byte(b))
				}
			}
		}
		if len(next) == 0 {
			break
		}
		b := next[rng.IntN(len(next))]
		text, s = append(text, b), a.step(s, b)
	}
	for before := a.states[s].bytes + 1; a.states[s].bytes > 0; {
		if a.states[s].bytes >= before || !a.approach(s) {
			t.Fatalf("no way to an end behind %q: %v", text, a.err)
		}
		before = a.states[s].bytes
		text, s = append(text, a.states[s].closingByte), a.states[s].closingNext
	}
	if a.err != nil {
		t.Fatal(a.err)
	}
	if !a.accepts(s) {
		t.Fatalf("%q is not accepted", text)
	}
	return string(text)
}
