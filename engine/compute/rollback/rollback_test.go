package rollback

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const (
	mostKept    = 4  // rows of a pass that can be taken back one by one
	mostRows    = 12 // rows of a pass
	checkpoints = 2
	window      = 3                 // rows before the next one that it reads
	ring        = window + mostRows // rows that are kept at least
)

// state has the text that it was made of, in place of numbers: the tokens that it has seen, and later ones whose
// inputs are kept.
type state struct {
	seen, kept []int
}

// clone returns a copy that shares nothing.
func (s state) clone() state { return state{slices.Clone(s.seen), slices.Clone(s.kept)} }

// pass reads tokens after the first position tokens of a text.
func (s *state) pass(position int, tokens []int) {
	all := slices.Concat(s.seen, s.kept)[:position]
	all = append(all, tokens...)
	at := max(position, len(all)-mostKept)
	s.seen, s.kept = slices.Clone(all[:at]), slices.Clone(all[at:])
}

// text is a cache of three layers: two with a state, between them one with keys and values in a ring.
type text struct {
	*History
	tokens      []int
	layers      [3]state
	before      [3]state
	lowest      int // the first token whose keys and values are there
	checkpoints [checkpoints]struct {
		layers [3]state
		lowest int
	}
}

func (x *text) Seen(layer int) int { return len(x.layers[layer].seen) }
func (x *text) Keep(layer int)     { x.before[layer] = x.layers[layer].clone() }
func (x *text) Undo(layer int)     { x.layers[layer] = x.before[layer].clone() }
func (x *text) Reset(layer int)    { x.layers[layer] = state{} }
func (x *text) HasRows(n int) bool { return max(0, n-window) >= x.lowest }

func (x *text) Save(i int) {
	for l := range x.layers {
		x.checkpoints[i].layers[l] = x.layers[l].clone()
	}
	x.checkpoints[i].lowest = max(0, len(x.tokens)-window)
}

func (x *text) Load(i, n int) {
	for l := range x.layers {
		x.layers[l] = x.checkpoints[i].layers[l].clone()
	}
	x.lowest = x.checkpoints[i].lowest
}

// read reads tokens in one pass, which ends after so many layers: early, if not after the last one.
func (x *text) read(t *testing.T, tokens []int, layers int) {
	for l := range layers {
		if l == 1 {
			x.lowest = max(x.lowest, len(x.tokens)+len(tokens)-ring)
			continue
		}
		x.Begin(l, len(tokens), len(x.tokens))
		x.layers[l].pass(len(x.tokens), tokens)
	}
	if layers == len(x.layers) {
		x.tokens = append(x.tokens, tokens...)
		x.check(t, "after a pass")
	}
}

// back goes back to n tokens.
func (x *text) back(t *testing.T, n int) {
	x.GoBack(n)
	if x.tokens = x.tokens[:n]; n == 0 {
		x.lowest = 0
	}
	x.check(t, "after going back")
}

// check compares the states with the text.
func (x *text) check(t *testing.T, when string) {
	t.Helper()
	for _, l := range []int{0, 2} {
		s := x.layers[l]
		if had := slices.Concat(s.seen, s.kept); len(had) < len(x.tokens) || !slices.Equal(had[:len(x.tokens)], x.tokens) {
			t.Fatalf("%s: layer %d has the text %v and %v, not %v", when, l, s.seen, s.kept, x.tokens)
		}
		if len(s.seen) > len(x.tokens) {
			t.Fatalf("%s: layer %d has seen %d tokens of %d", when, l, len(s.seen), len(x.tokens))
		}
	}
	if x.lowest > max(0, len(x.tokens)-window) {
		t.Fatalf("%s: the rows from %d on are there, of %d", when, x.lowest, len(x.tokens))
	}
}

// Whatever passes came, ended early or were taken back, a cache goes back to the rows of the last short pass, to the
// start of a long one, to its checkpoints and to nothing. It then has the text up to there, and nothing of what came
// after.
func TestHistoryKeepsItsPromises(t *testing.T) {
	rng, token, partly := rand.New(rand.NewPCG(1, 2)), 0, 0
	tokens := func(most int) (list []int) {
		for range 1 + rng.IntN(most) {
			token++
			list = append(list, token)
		}
		return list
	}
	for range 300 {
		x := &text{}
		x.History = New(x, len(x.layers), mostKept, checkpoints)
		var promised, saved []int // lengths of the last pass and of checkpoints, to which the cache must go back
		for range 60 {
			length := len(x.tokens)
			switch rng.IntN(6) {
			case 0, 1:
				next := tokens([]int{mostKept, mostRows}[rng.IntN(2)])
				if promised = []int{length}; len(next) <= mostKept {
					for i := 1; i < len(next); i++ {
						promised = append(promised, length+i)
					}
				}
				x.read(t, next, len(x.layers))
			case 2:
				promised = nil
				x.read(t, tokens(mostRows), 1+rng.IntN(2))
			case 3:
				if x.Checkpoint(length); length > 0 && !slices.Contains(saved, length) {
					saved = append(saved, length)
					saved = saved[max(0, len(saved)-checkpoints):]
				}
			default:
				n := rng.IntN(length + 1)
				if rng.IntN(2) == 0 {
					n = max(0, length-rng.IntN(mostKept+1))
				}
				reach := x.Reach(n)
				least := 0
				for _, l := range slices.Concat(promised, saved, []int{length}) {
					if l == n || l < n && slices.Contains(saved, l) {
						least = max(least, l)
					}
				}
				if reach > n || reach < least {
					t.Fatalf("of %d tokens to %d: reaches %d, but %d was promised", length, n, reach, least)
				}
				x.back(t, reach)
				longer := func(l int) bool { return l > reach }
				promised, saved = slices.DeleteFunc(promised, longer), slices.DeleteFunc(saved, longer)
				if reach > 0 && reach < length {
					partly++
				}
			}
		}
	}
	if partly < 1000 {
		t.Errorf("only %d times back to a length between", partly)
	}
}
