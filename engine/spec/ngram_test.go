package spec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// lookup is prompt lookup by definition: the longest tail that occurred before, its latest
// occurrence, and what followed it.
func lookup(context []int32, longest, shortest, gamma int) []int32 {
	for n := min(longest, len(context)-1); n >= shortest; n-- {
		tail := context[len(context)-n:]
		for at := len(context) - 1; at >= n; at-- {
			if !slices.Equal(context[at-n:at], tail) {
				continue
			}
			grown := slices.Clone(context)
			for i := range gamma {
				grown = append(grown, grown[at+i])
			}
			return grown[len(context):]
		}
	}
	return nil
}

func TestNgramProposes(t *testing.T) {
	for _, c := range []struct {
		name              string
		context           []int32
		longest, shortest int
		want              []int32
	}{
		{"nothing after nothing", nil, 3, 1, nil},
		{"nothing seen before", []int32{1, 2, 3}, 3, 1, nil},
		{"what followed the last time", []int32{1, 2, 3, 4, 5, 1, 2}, 3, 1, []int32{3, 4, 5}},
		{"the longest match beats a later one", []int32{1, 2, 3, 9, 2, 4, 1, 2}, 2, 1, []int32{3, 9, 2}},
		{"the latest of equal matches", []int32{1, 2, 1, 3, 1, 4, 1}, 1, 1, []int32{4, 1, 4}},
		{"shorter than the shortest", []int32{5, 6, 7, 6}, 3, 2, nil},
		{"a cycle goes on", []int32{8, 8}, 3, 1, []int32{8, 8, 8}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewNgram(c.longest, c.shortest)
			_, err := g.Begin(c.context)
			must(t, err)
			draft, err := g.Propose(t.Context(), Ask{Gamma: 3})
			must(t, err)
			if !slices.Equal(draft.Tokens, c.want) {
				t.Errorf("proposed %v, want %v", draft.Tokens, c.want)
			}
			if (len(c.want) == 0) != (draft.Stop != "") {
				t.Errorf("stop %q", draft.Stop)
			}
			for i, q := range draft.Q {
				if q.P != nil || q.Hot != draft.Tokens[i] {
					t.Errorf("q of token %d is %+v, want one-hot", i, q)
				}
			}
		})
	}
}

func TestNgramEqualsPlainSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		longest := 1 + rng.IntN(4)
		shortest := 1 + rng.IntN(longest)
		g := NewNgram(longest, shortest)
		var context []int32
		more := func(n int) []int32 {
			ids := make([]int32, n)
			for i := range ids {
				ids[i] = int32(rng.IntN(4))
			}
			context = append(context, ids...)
			return ids
		}
		_, err := g.Begin(more(rng.IntN(30)))
		must(t, err)
		for range 30 {
			draft, err := g.Propose(t.Context(), Ask{Gamma: 5})
			must(t, err)
			if want := lookup(context, longest, shortest, 5); !slices.Equal(draft.Tokens, want) {
				t.Fatalf("after %v with %d to %d: %v, want %v", context, longest, shortest, draft.Tokens, want)
			}
			must(t, g.Committed(more(rng.IntN(4))))
		}
	}
}

func TestNgramStopsAfterAStopToken(t *testing.T) {
	g := NewNgram(2, 1)
	_, err := g.Begin([]int32{1, 2, 3, 4, 1})
	must(t, err)
	draft, err := g.Propose(t.Context(), Ask{Gamma: 4, IsStop: func(id int32) bool { return id == 3 }})
	must(t, err)
	if !slices.Equal(draft.Tokens, []int32{2, 3}) || draft.Stop == "" {
		t.Errorf("%v, stop %q", draft.Tokens, draft.Stop)
	}
}

// However often a token occurs, a search compares at most mostPlaces places, the latest ones.
func TestNgramSearchIsBounded(t *testing.T) {
	for _, c := range []struct {
		between int
		want    []int32
	}{{mostPlaces - 1, []int32{3}}, {mostPlaces, []int32{4}}} {
		g := NewNgram(2, 1)
		context := []int32{1, 2, 3}
		for range c.between {
			context = append(context, 5, 2, 4)
		}
		_, err := g.Begin(append(context, 1, 2))
		must(t, err)
		draft, err := g.Propose(t.Context(), Ask{Gamma: 1})
		must(t, err)
		if !slices.Equal(draft.Tokens, c.want) {
			t.Errorf("%d places after the match: %v, want %v", c.between, draft.Tokens, c.want)
		}
	}
}

// After a Reset, nothing that was read before is found.
func TestNgramForgets(t *testing.T) {
	g := NewNgram(3, 1)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		must(t, g.Committed(random(rng, 100)))
		must(t, g.Reset())
	}
	context := []int32{7, 8, 9, 7}
	_, err := g.Begin(context)
	must(t, err)
	draft, err := g.Propose(t.Context(), Ask{Gamma: 4})
	must(t, err)
	if want := lookup(context, 3, 1, 4); !slices.Equal(draft.Tokens, want) {
		t.Errorf("proposed %v, want %v", draft.Tokens, want)
	}
	must(t, g.Reset())
	must(t, g.Committed([]int32{7}))
	if draft, err = g.Propose(t.Context(), Ask{Gamma: 4}); err != nil || len(draft.Tokens) > 0 {
		t.Errorf("after nothing: %v, error %v", draft.Tokens, err)
	}
}
