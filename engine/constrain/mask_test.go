package constrain

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive decides about one token by running the automaton over the whole reply.
func naive(t testing.TB, c *Constraint, v *Vocabulary, reply []byte, id int32) bool {
	a := newAutomaton(t.Context(), c, v.spellable(), v.Lead)
	s := a.run(a.start, reply)
	if id == stop {
		return a.accepts(s)
	}
	return v.text[id] != nil && a.run(s, v.text[id]) != dead
}

// differences counts where masks and naive differ along a random reply.
func differences(t *testing.T, c *Constraint, v *Vocabulary, rng *rand.Rand) int {
	s := newShaper(t, c, v)
	row := make([]float32, len(v.text))
	var reply []byte
	count := 0
	for range 6 {
		left := draw(t, s, row)
		for range 60 {
			id := int32(rng.IntN(len(row)))
			if rng.IntN(2) == 0 && len(left) > 0 {
				id = left[rng.IntN(len(left))]
			}
			if slices.Contains(left, id) != naive(t, c, v, reply, id) {
				count++
			}
		}
		if len(left) == 0 {
			return count + 1
		}
		id := left[rng.IntN(len(left))]
		if id == stop {
			return count
		}
		s.Push(id)
		reply = append(reply, v.text[id]...)
	}
	return count
}

func TestMasksAgreeWithSingleTokens(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for i, c := range constraints(t) {
		v := testVocabulary(rng, 600, testAlphabet, i%2 == 0)
		if n := differences(t, c, v, rng); n > 0 {
			t.Errorf("constraint %d: %d tokens are judged differently", i, n)
		}
	}
}

// Bugs are planted in a vocabulary: in its tree of texts, and in what it says about a space in front. The comparison
// with single tokens must notice each.
func TestPlantedBugsAreNoticed(t *testing.T) {
	for name, plant := range map[string]func(v *Vocabulary){
		"a branch that is left out too far": func(v *Vocabulary) {
			for i := range v.end {
				v.end[i] = min(v.end[i]+1, int32(len(v.last)))
			}
		},
		"a branch that is not left out": func(v *Vocabulary) {
			for i := range v.end {
				v.end[i] = int32(i) + 1
			}
		},
		"only one token for each text": func(v *Vocabulary) {
			for i := range v.own {
				v.own[i] = min(v.own[i], 1)
			}
		},
		"a space in front that is shown": func(v *Vocabulary) { v.Lead = !v.Lead },
	} {
		rng := rand.New(rand.NewPCG(9, 10))
		found := 0
		for _, c := range constraints(t) {
			if found > 0 {
				break
			}
			right := testVocabulary(rng, 600, testAlphabet[:20], false)
			wrong := *right
			wrong.end, wrong.own = slices.Clone(right.end), slices.Clone(right.own)
			plant(&wrong)
			s := newShaper(t, c, &wrong)
			for id, row := int32(0), draw(t, s, make([]float32, len(right.text))); int(id) < len(right.text); id++ {
				if slices.Contains(row, id) != naive(t, c, right, nil, id) {
					found++
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// The mask for a device allows the tokens that Shape allows, for rows and masks shorter and longer than the
// vocabulary, and near the limit of the reply too.
func TestMaskIsWhatShapeDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	v := testVocabulary(rng, 700, testAlphabet, false)
	near := 0 // places where the limit forbids tokens
	for _, c := range constraints(t) {
		s := newShaper(t, c, v)
		limit := shortest(t, s) + 3
		s.Bound(t.Context(), limit)
		for range limit {
			var left []int32
			for _, size := range []int{640, 900, 700} {
				left = draw(t, s, make([]float32, size))
				mask := slices.Repeat([]uint64{math.MaxUint64}, (size+63)/64)
				mask[0] &^= 1 << 7
				if err := s.Mask(mask); err != nil {
					t.Fatal(err)
				}
				for id := range size {
					if allowed := mask[id/64]>>(id%64)&1 != 0; allowed != (slices.Contains(left, int32(id)) && id != 7) {
						t.Fatalf("%s, %d ids: token %d allowed by the mask: %v", s.Name(), size, id, allowed)
					}
				}
			}
			if !slices.Equal(s.permitted(), s.masks.of(s.automaton, v, s.state()).allowed) {
				near++
			}
			if left = slices.DeleteFunc(left, func(id int32) bool { return id == stop }); len(left) == 0 {
				break
			}
			s.Push(left[rng.IntN(len(left))])
		}
	}
	if near < 20 {
		t.Errorf("only %d masks near the end of a reply", near)
	}
}
