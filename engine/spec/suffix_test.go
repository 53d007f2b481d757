package spec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSuffixProposes(t *testing.T) {
	for _, c := range []struct {
		name    string
		earlier [][]int32
		context []int32
		trust   float64
		want    []int32
	}{
		{"nothing after nothing", nil, nil, 0, nil},
		{"nothing seen before", nil, []int32{1, 2, 3}, 0, nil},
		{"what followed", nil, []int32{1, 2, 3, 4, 5, 1, 2}, 0, []int32{3, 4, 5}},
		{"what followed more often, not last", nil, []int32{1, 2, 9, 1, 2, 9, 1, 2, 3, 1, 2}, 0, []int32{9, 1, 2}},
		{"a match of 2 that came once is trusted for 2 tokens at a half", nil, []int32{1, 2, 3, 4, 5, 1, 2}, 0.5, []int32{3, 4}},
		{"a longer one for longer", nil, []int32{1, 2, 3, 4, 5, 6, 1, 2, 3}, 0.5, []int32{4, 5, 6}},
		{"nothing if too unsure", nil, []int32{1, 2, 1, 3, 1, 4, 1}, 0.5, nil},
		{"never, if certainty is asked for", nil, []int32{1, 1, 1, 1}, 1, nil},
		{"a cycle goes on", nil, []int32{8, 8, 8}, 0.2, []int32{8, 8, 8}},
		{"an earlier text", [][]int32{{5, 6, 7, 8, 9}}, []int32{1, 6, 7}, 0.3, []int32{8, 9}},
		{"an earlier text is not continued by the next", [][]int32{{5, 6, 7}, {8, 9}}, []int32{1, 6, 7}, 0, nil},
		{"a text that the context repeats counts once", [][]int32{{1, 2, 3, 1, 2}}, []int32{1, 2, 3, 1, 2, 4, 1, 2}, 0.1, []int32{4, 1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			corpus := NewCorpus()
			for _, text := range c.earlier {
				corpus.Add(text)
			}
			s := NewSuffix(corpus)
			_, err := s.Begin(c.context)
			must(t, err)
			draft, err := s.Propose(t.Context(), Ask{Gamma: 3, Trust: c.trust})
			must(t, err)
			if !slices.Equal(draft.Tokens, c.want) {
				t.Errorf("proposed %v (%v sure), want %v", draft.Tokens, draft.Confidence, c.want)
			}
			if (len(draft.Tokens) < 3) != (draft.Stop != "") {
				t.Errorf("%d tokens, stop %q", len(draft.Tokens), draft.Stop)
			}
			if len(draft.Q) != len(draft.Tokens) || len(draft.Confidence) != len(draft.Tokens) {
				t.Fatalf("%d tokens, %d distributions, %d shares", len(draft.Tokens), len(draft.Q), len(draft.Confidence))
			}
			for i, q := range draft.Q {
				if q.P != nil || q.Hot != draft.Tokens[i] || draft.Confidence[i] <= 0 || draft.Confidence[i] >= 1 {
					t.Errorf("q of token %d is %+v, its share %g; want one-hot, and a share between 0 and 1", i, q, draft.Confidence[i])
				}
			}
		})
	}
}

func TestSuffixStopsAfterAStopToken(t *testing.T) {
	s := NewSuffix(nil)
	_, err := s.Begin([]int32{1, 2, 3, 4, 1})
	must(t, err)
	draft, err := s.Propose(t.Context(), Ask{Gamma: 4, IsStop: func(id int32) bool { return id == 3 }})
	must(t, err)
	if !slices.Equal(draft.Tokens, []int32{2, 3}) || draft.Stop == "" {
		t.Errorf("%v, stop %q", draft.Tokens, draft.Stop)
	}
}

// However the context came about, and whatever was proposed on the way, the proposals are those of
// a Suffix that reads the whole context at once.
func TestSuffixFollowsLikeAFreshOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	for range 300 {
		s := NewSuffix(nil)
		a := Ask{Gamma: 1 + rng.IntN(5), Trust: rng.Float64() / 2}
		context := few(rng, rng.IntN(20))
		_, err := s.Begin(context)
		must(t, err)
		for range 20 {
			draft, err := s.Propose(t.Context(), a)
			must(t, err)
			fresh := NewSuffix(nil)
			_, err = fresh.Begin(context)
			must(t, err)
			want, err := fresh.Propose(t.Context(), a)
			must(t, err)
			if !slices.Equal(draft.Tokens, want.Tokens) || !slices.Equal(draft.Confidence, want.Confidence) {
				t.Fatalf("after %v: %v, who reads it at once says %v", context, draft, want)
			}
			// None, some or all of the draft, then something else.
			committed := append(slices.Clone(draft.Tokens[:rng.IntN(len(draft.Tokens)+1)]), few(rng, rng.IntN(2))...)
			must(t, s.Committed(committed))
			context = append(context, committed...)
		}
	}
}

func few(rng *rand.Rand, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(rng.IntN(3))
	}
	return ids
}

func TestSuffixIsBounded(t *testing.T) {
	corpus := NewCorpus()
	s := NewSuffix(corpus)
	s.most = 1000
	rng := rand.New(rand.NewPCG(5, 5))
	for range 60 {
		context := random(rng, 100)
		_, err := s.Begin(context)
		must(t, err)
		for range 10 {
			more := random(rng, 10)
			must(t, s.Committed(more))
			context = append(context, more...)
		}
		corpus.Add(context)
		if s.automaton.tokens > s.most {
			t.Fatalf("%d tokens, allowed %d", s.automaton.tokens, s.most)
		}
	}
	must(t, s.Committed([]int32{900, 901, 902, 903, 900, 901}))
	draft, err := s.Propose(t.Context(), Ask{Gamma: 2})
	must(t, err)
	if !slices.Equal(draft.Tokens, []int32{902, 903}) {
		t.Errorf("after forgetting: %v", draft.Tokens)
	}
}

func TestSuffixForgetsOnReset(t *testing.T) {
	s := NewSuffix(nil)
	_, err := s.Begin([]int32{1, 2, 3, 1, 2})
	must(t, err)
	must(t, s.Reset())
	_, err = s.Begin([]int32{7, 1, 2})
	must(t, err)
	draft, err := s.Propose(t.Context(), Ask{Gamma: 2})
	must(t, err)
	if len(draft.Tokens) != 0 {
		t.Errorf("after a reset: %v", draft.Tokens)
	}
}

func TestACorpusKeepsTheNewestTexts(t *testing.T) {
	c := NewCorpus()
	c.most = 20
	sizes := func() (n []int) {
		for _, text := range c.since(0) {
			n = append(n, len(text))
		}
		return n
	}
	rising := []int32{1, 2, 3, 4, 5, 6, 7, 8}
	c.Add(rising[:3])
	c.Add([]int32{9})
	c.Add(rising[:8]) // continues the first text
	c.Add(rising[:5]) // the beginning of a known text
	if got := sizes(); !slices.Equal(got, []int{1, 8}) {
		t.Errorf("texts of %v tokens, want 1 and 8", got)
	}
	if got := c.since(2); len(got) != 1 || len(got[0]) != 8 {
		t.Errorf("after the second: %v", got)
	}
	c.Add([]int32{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}) // kept are its newest tokens, as many as half the room
	c.Add([]int32{40, 41, 42})
	if got := sizes(); !slices.Equal(got, []int{3}) {
		t.Errorf("texts of %v tokens, want only the newest", got)
	}
	c.Hide(true)
	if len(c.since(0)) != 0 || c.count() != 0 {
		t.Error("a hidden corpus shows something")
	}
}

func TestNgramRecallsEarlierTexts(t *testing.T) {
	corpus := NewCorpus()
	g := NewNgram(3, 1).Recalling(corpus)
	propose := func(context []int32, want ...int32) {
		t.Helper()
		_, err := g.Begin(context)
		must(t, err)
		draft, err := g.Propose(t.Context(), Ask{Gamma: 4})
		must(t, err)
		if !slices.Equal(draft.Tokens, want) || (len(want) < 4) != (draft.Stop != "") {
			t.Errorf("after %v: %v, stop %q, want %v", context, draft.Tokens, draft.Stop, want)
		}
	}
	propose([]int32{1, 2, 3, 4, 5})
	corpus.Add([]int32{1, 2, 3, 4, 5})
	propose([]int32{7, 2, 3}, 4, 5)
	corpus.Add([]int32{7, 2, 3, 8})
	propose([]int32{7, 2, 3, 8, 6, 2, 3}, 8, 6, 2, 3) // the latest match; the text that the context repeats is not searched twice
	propose([]int32{5, 7}, 2, 3, 8)
	propose([]int32{5})
}
