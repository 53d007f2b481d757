package spec

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// Exact enumeration: for small vocabularies the tests integrate the verifier over its uniforms.
// This gives the probability of each outcome, which must equal the target's. Nothing is drawn, so the tests need no
// statistics.

// rounding bounds the rounding error of the sums in float64.
const rounding = 1e-12

// variable names one uniform that the verifier may ask for.
type variable struct {
	stream   sample.Stream
	position int
}

// script answers known uniforms, and records the first unknown one.
type script struct {
	known map[variable]float64
	first *variable
}

func (s *script) Uniform(stream sample.Stream, _, position int) float64 {
	v := variable{stream, position}
	if u, ok := s.known[v]; ok {
		return u
	}
	if s.first == nil {
		s.first = &v
	}
	return 0.5
}

// integrate adds to out, for each committed sequence, the volume of the uniforms that lead to this sequence.
// Two runs may give the same tokens now, and different ones once further uniforms are known. The notes of
// run tell such runs apart.
func integrate(run func(sample.Uniforms) (tokens []int32, notes string), known map[variable]float64, weight float64, out map[string]float64) {
	s := &script{known: known}
	tokens, _ := run(s)
	if s.first == nil {
		out[key(tokens)] += weight
		return
	}
	at := func(u float64) string {
		known[*s.first] = u
		tokens, notes := run(&script{known: known})
		return key(tokens) + "|" + notes
	}
	low := 0.0
	for _, high := range append(jumps(at, 0, 1, at(0), at(math.Nextafter(1, 0))), 1) {
		known[*s.first] = low + (high-low)/2
		integrate(run, known, weight*(high-low), out)
		low = high
	}
	delete(known, *s.first)
}

// jumps returns where the function at of one uniform changes between low and high, ascending. Each step of
// the verifier is monotone in its uniform. So if the function has the same value at both ends of an
// interval, it is constant inside.
func jumps(at func(float64) string, low, high float64, atLow, atHigh string) []float64 {
	if atLow == atHigh {
		return nil
	}
	middle := low + (high-low)/2
	if middle == low || middle == high || high-low < 1e-16 {
		return []float64{high}
	}
	atMiddle := at(middle)
	return append(jumps(at, low, middle, atLow, atMiddle), jumps(at, middle, high, atMiddle, atHigh)...)
}

// key makes a sequence of small ids comparable.
func key(tokens []int32) string {
	b := make([]byte, len(tokens))
	for i, id := range tokens {
		b[i] = byte(id)
	}
	return string(b)
}

// enumerate returns the largest difference between the probability that a verifier writes some
// sequence of gamma+1 tokens and the target's probability of it.
func enumerate(t *testing.T, w *gate.World, gamma int, filters sample.Params, v *Verifier, rule Rule) float64 {
	tr := newTrial(t, w, gamma, filters)
	notes := noteTests(&v.block)
	written := map[string]float64{}
	eachSequence(w.Vocab, gamma, func(draft []int32) {
		d, chance := Draft{Tokens: draft}, 1.0
		before := gate.Root
		for i, id := range draft {
			q := tr.q[i*w.Vocab+int(before)]
			d.Q = append(d.Q, q)
			chance *= q.Prob(id)
			before = id
		}
		if chance == 0 {
			return
		}
		rows := w.Rows(0, append([]int32{gate.Root}, draft...))
		integrate(func(us sample.Uniforms) ([]int32, string) {
			*notes = (*notes)[:0]
			out, err := v.Verify(rows, d, Terms{Params: w.Params, Uniforms: us, Rule: rule})
			if err != nil {
				t.Fatal(err)
			}
			return out.Committed(), string(*notes)
		}, map[variable]float64{}, chance, written)
	})
	worst := 0.0
	eachSequence(w.Vocab, gamma+1, func(tokens []int32) {
		// A shorter output is continued by exact draws.
		got := 0.0
		for n := 1; n <= len(tokens); n++ {
			got += written[key(tokens[:n])] * probability(w, n, tokens)
		}
		before := probability(w, 0, tokens)
		worst = max(worst, math.Abs(got-before))
	})
	return worst
}

// noteTests makes a block's tests record their results. The last test that passes decides, so the
// result of an earlier one may not show in the tokens.
func noteTests(r *blockwise) *[]byte {
	var notes []byte
	note := func(passed bool) bool {
		notes = fmt.Append(notes, passed)
		return passed
	}
	pass, end := r.pass, r.end
	r.pass = func(u, mass, w float64) bool { return note(pass(u, mass, w)) }
	r.end = func(u, w float64) bool { return note(end(u, w)) }
	return &notes
}

// probability returns the probability of tokens[from:] given tokens[:from].
func probability(w *gate.World, from int, tokens []int32) float64 {
	p := 1.0
	for i := from; i < len(tokens); i++ {
		before := gate.Root
		if i > 0 {
			before = tokens[i-1]
		}
		p *= w.P(i, before)[tokens[i]]
	}
	return p
}

func eachSequence(vocab, length int, visit func([]int32)) {
	tokens := make([]int32, length)
	for {
		visit(slices.Clone(tokens))
		i := length - 1
		for i >= 0 && int(tokens[i]) == vocab-1 {
			tokens[i] = 0
			i--
		}
		if i < 0 {
			return
		}
		tokens[i]++
	}
}

func TestEveryOutcomeHasExactlyTheTargetsProbability(t *testing.T) {
	filters := []sample.Params{
		{Temperature: 0, TopP: 1},
		{Temperature: 0.3, TopP: 1},
		{Temperature: 1, TopP: 1},
		{Temperature: 1.5, TopK: 3, TopP: 0.95, MinP: 0.01},
	}
	for _, rule := range exactRules {
		for _, vocab := range []int{2, 3, 4} {
			for gamma := range 3 {
				for _, pairing := range gate.Pairings {
					for i, target := range filters {
						if target.Temperature == 0 && rule != Token {
							continue // every rule is the same then
						}
						draft := filters[(i+vocab)%len(filters)]
						t.Run(fmt.Sprintf("%s V=%d γ=%d %s T=%g/%g", rule, vocab, gamma, pairing, target.Temperature, draft.Temperature), func(t *testing.T) {
							t.Parallel()
							w := gate.NewWorld(vocab, gamma+1, target, pairing, uint64(i))
							if worst := enumerate(t, w, gamma, draft, NewVerifier(), rule); worst > rounding {
								t.Errorf("a sequence is off by %g", worst)
							}
						})
					}
				}
			}
		}
	}
}

func TestEnumerationCatchesEveryPlantedBug(t *testing.T) {
	params := sample.Params{Temperature: 1, TopP: 1}
	w := gate.NewWorld(4, 3, params, gate.Near, 3)
	for rule, bugs := range plantedBugs() {
		if worst := enumerate(t, w, 2, params, NewVerifier(), rule); worst > rounding {
			t.Fatalf("%s: without a bug a sequence is off by %g", rule, worst)
		}
		for name, plant := range bugs {
			if name == productsOfUniforms {
				continue // it cannot be integrated: outcomes do not belong to intervals of a uniform
			}
			t.Run(string(rule)+"/"+name, func(t *testing.T) {
				t.Parallel()
				v := NewVerifier()
				plant(v, nil)
				if worst := enumerate(t, w, 2, params, v, rule); worst < 1000*rounding {
					t.Errorf("not caught: no sequence is off by more than %g", worst)
				}
			})
		}
	}
}
