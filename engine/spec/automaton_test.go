package spec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// trie counts stretches by definition: sequences share their beginnings, and a stretch occurs at
// each node whose path from the top ends with it.
type trie struct {
	nodes map[string]bool // every sequence and each of its beginnings, with the border
}

func spelled(tokens []int32) string {
	runes := make([]rune, len(tokens))
	for i, id := range tokens {
		runes[i] = rune(id + 2)
	}
	return string(runes)
}

func (o *trie) read(tokens []int32) {
	sequence := append([]int32{border}, tokens...)
	for n := 1; n <= len(sequence); n++ {
		o.nodes[spelled(sequence[:n])] = true
	}
}

// stretches returns how often every stretch of up to most tokens occurs.
func (o *trie) stretches(most int) map[string]int {
	counts := map[string]int{}
	for node := range o.nodes {
		runes := []rune(node)
		for n := 1; n <= min(most, len(runes)); n++ {
			counts[string(runes[len(runes)-n:])]++
		}
	}
	return counts
}

// occurrences follows a stretch from the root and returns its count.
func (a *automaton) occurrences(tokens []int32) int {
	at := root
	for _, id := range tokens {
		to, ok := a.follow(at, id)
		if !ok {
			return 0
		}
		at = to
	}
	return int(a.states[at].count)
}

// sequences returns random sequences over a small vocabulary. Some begin like an earlier one.
func sequences(rng *rand.Rand, vocab int) [][]int32 {
	var list [][]int32
	for range 1 + rng.IntN(4) {
		var tokens []int32
		if len(list) > 0 && rng.IntN(2) == 0 {
			earlier := list[rng.IntN(len(list))]
			tokens = slices.Clone(earlier[:rng.IntN(len(earlier)+1)])
		}
		for range rng.IntN(25) {
			tokens = append(tokens, int32(rng.IntN(vocab)))
		}
		list = append(list, tokens)
	}
	return list
}

func TestAutomatonCountsLikeATrie(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for range 2000 {
		horizon, vocab := 2+rng.IntN(8), 1+rng.IntN(4)
		a, o := newAutomaton(int32(horizon)), &trie{map[string]bool{}}
		list := sequences(rng, vocab)
		for _, tokens := range list {
			o.read(tokens)
			a.start()
			for _, id := range tokens {
				a.add(id)
			}
		}
		if a.tokens != len(o.nodes) {
			t.Fatalf("%v: %d tokens, the trie has %d nodes", list, a.tokens, len(o.nodes))
		}
		for stretch, want := range o.stretches(horizon) {
			ids := make([]int32, 0, horizon)
			for _, r := range stretch {
				ids = append(ids, r-2)
			}
			if got := a.occurrences(ids); got != want {
				t.Fatalf("%v with horizon %d: %v occurs %d times, the automaton says %d", list, horizon, ids, want, got)
			}
		}
		if most := 2 * a.tokens; len(a.states) > most+1 || len(a.edges) > 3*a.tokens+1 {
			t.Fatalf("%d tokens made %d states and %d edges", a.tokens, len(a.states), len(a.edges))
		}
		checkTail(t, a, o, list[len(list)-1], horizon)
	}
}

// checkTail compares the longest match of a sequence's end, and what followed it, with a plain
// search.
func checkTail(t *testing.T, a *automaton, o *trie, tokens []int32, horizon int) {
	t.Helper()
	counts := o.stretches(horizon)
	sequence := append([]int32{border}, tokens...)
	for n := min(horizon-1, len(sequence)); n > 0; n-- {
		end := sequence[len(sequence)-n:]
		total, most := 0, 0
		for id := range int32(5) {
			c := counts[spelled(append(slices.Clone(end), id))]
			total, most = total+c, max(most, c)
		}
		if total == 0 {
			continue
		}
		match := a.matched(a.tail)
		token, _, count, sum := a.next(match)
		if int(match.length) != n || count != most || sum != total || counts[spelled(append(slices.Clone(end), token))] != most {
			t.Fatalf("after %v a match of %d, then %d, %d of %d times; want a match of %d, %d of %d", sequence, match.length, token, count, sum, n, most, total)
		}
		return
	}
	if match := a.matched(a.tail); match.length != 0 {
		t.Fatalf("after %v a match of %d, want none", sequence, match.length)
	}
}

func FuzzAutomaton(f *testing.F) {
	f.Add([]byte("abcabcab\xffabx\xffaaaaaaaa"), byte(3))
	f.Fuzz(func(t *testing.T, text []byte, horizon byte) {
		if len(text) > 200 {
			return
		}
		a, o := newAutomaton(int32(horizon%10)+2), &trie{map[string]bool{}}
		var last []int32
		a.start()
		o.read(nil)
		for _, b := range text {
			if b == 0xff {
				last = nil
				a.start()
				continue
			}
			last = append(last, int32(b%5))
			a.add(int32(b % 5))
			o.read(last)
		}
		checkTail(t, a, o, last, int(horizon%10)+2)
	})
}

// An endless repetition is the worst case: all its states are linked in one long chain.
func TestRepetitionTakesConstantTimeAToken(t *testing.T) {
	a := newAutomaton(countedLength)
	a.start()
	for i := range 200_000 { // in quadratic time this would take hours
		a.add(int32(i % 2))
	}
	if len(a.states) > 2*a.tokens {
		t.Errorf("%d states", len(a.states))
	}
}

func BenchmarkAutomaton(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	tokens := make([]int32, 1<<16)
	for i := range tokens {
		tokens[i] = int32(rng.ExpFloat64() * 300)
	}
	for b.Loop() {
		a := newAutomaton(countedLength)
		a.start()
		for _, id := range tokens {
			a.add(id)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(tokens)), "ns/token")
}
