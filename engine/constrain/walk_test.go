package constrain

import (
	"math/rand/v2"
	"testing"
)

// randomText is walk for a form within all limits: if a limit is reached, the test fails.
func randomText(t testing.TB, a *automaton, rng *rand.Rand, length int, likely string) string {
	t.Helper()
	text, ok := walk(t, a, rng, length, likely)
	if !ok {
		t.Fatalf("after %q: %v", text, a.work.err)
	}
	return text
}

// walk writes random bytes for a while, and then the closing. The bytes likely are tried first, so
// that not all walks end in strings of control characters. ok is false if a limit of the automaton
// ended the walk.
func walk(t testing.TB, a *automaton, rng *rand.Rand, length int, likely string) (_ string, ok bool) {
	t.Helper()
	var text []byte
	s := a.start
	for len(text) < length {
		if a.accepts(s) && rng.IntN(8) == 0 {
			return string(text), a.work.err == nil
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
			if a.work.err != nil {
				return string(text), false
			}
			t.Fatalf("no way to an end after %q", text)
		}
		before = a.states[s].bytes
		text, s = append(text, a.states[s].closingByte), a.states[s].closingNext
	}
	if a.work.err != nil {
		return string(text), false
	}
	if !a.accepts(s) {
		t.Fatalf("%q is not accepted", text)
	}
	return string(text), true
}
