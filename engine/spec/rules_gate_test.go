package spec

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// exactRules are the rules of which the register does not say that they change the target's distribution.
var exactRules = func() (list []Rule) {
	for _, rule := range Rules {
		if !rule.Changes {
			list = append(list, rule.Rule)
		}
	}
	return list
}()

// No rule runs as another one or is explained by another one's words, and the register says what is lossy.
func TestEveryRuleHasItsOwnCode(t *testing.T) {
	v := NewVerifier()
	runs, said := map[acceptance]Rule{}, map[[4]string]Rule{}
	for _, rule := range Rules {
		code := v.acceptance(rule.Rule, warm)
		if other, taken := runs[code]; taken {
			t.Errorf("the rule %s runs as %s", rule.Rule, other)
		}
		runs[code] = rule.Rule
		if why := faultOf(code); why != nil {
			t.Errorf("the rule %s panics in a new verifier (%v): set its state in NewVerifier", rule.Rule, why)
		}
		if rule.Help == "" || rule.Lossy() != strings.HasSuffix(string(rule.Rule), "lossy") {
			t.Errorf("%+v: a lossy rule says so by its name, and each has words", rule.Rule)
		}
		words := WordsOf(string(rule.Rule))
		sentences := [4]string{words.Accepted, words.Rejected, words.Replaced, words.Source}
		if other, taken := said[sentences]; taken || slices.Contains(sentences[:], "") {
			t.Errorf("%s is explained by %q, as is %q: the screen needs words of its own", rule.Rule, sentences, other)
		}
		said[sentences] = rule.Rule
		numbers, verdict := words.Numbers != nil && words.BelowNumbers != nil, words.Passed != "" && words.Failed != ""
		if words.Decision == nil || numbers == verdict {
			t.Errorf("%s has no sentence for its decision, or not one of numbers and words for its test", rule.Rule)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a rule that is not in the register runs")
		}
	}()
	v.acceptance("unknown", warm)
}

// faultOf returns the panic of a rule that judges a draft of one token; nil if there is none.
func faultOf(rule acceptance) (why any) {
	defer func() { why = recover() }()
	p := dist(.5, .5)
	e := evidence{draft: CertainDraft([]int32{0}), terms: Terms{Params: warm, Uniforms: uniforms{}}, judged: make([]Judged, 1)}
	rule.begin()
	rule.weigh(&e, 0, p)
	if rule.settle(&e, 1) == 0 {
		rule.replace(&e, 0)
	} else {
		rule.follow(&e, 1, p)
	}
	return nil
}

// Every exact rule, with sampled and one-hot drafts, at every temperature, with and without filters,
// for short and long drafts.
func TestEveryExactRuleHasTheTargetsDistribution(t *testing.T) {
	const vocab = 10
	for _, rule := range exactRules {
		for _, gamma := range []int{1, 2, 4, 8} {
			for _, temperature := range []float64{0, 0.3, 1, 1.5} {
				if temperature == 0 && rule != Token {
					continue // every rule is the same then
				}
				for _, filtered := range []bool{false, true} {
					for _, oneHot := range []bool{false, true} {
						target := sample.Params{Temperature: temperature, TopP: 1}
						if filtered {
							target.TopK, target.TopP, target.MinP = 6, 0.9, 0.02
						}
						draft := target
						if oneHot {
							draft.Temperature = 0
						}
						t.Run(fmt.Sprintf("%s γ=%d T=%g filtered=%t one-hot=%t", rule, gamma, temperature, filtered, oneHot), func(t *testing.T) {
							t.Parallel()
							w := gate.NewWorld(vocab, gamma+1, target, gate.Near, uint64(gamma))
							tr := newTrial(t, w, gamma, draft)
							tr.rule = rule
							if failed := w.Judge(rounds/5, gamma+1, 4, tr.play(t)).Failures(); failed != "" {
								t.Error(failed)
							}
						})
					}
				}
			}
		}
	}
}

// Block verification looks ahead. So it is tested with all ways to cut a draft short, and with all
// relations of draft to target.
func TestBlockVerificationHasTheTargetsDistribution(t *testing.T) {
	for i, c := range gateCases() {
		if c.vocab != 10 {
			continue
		}
		for _, cut := range []string{"never", "where the draft doubts", "by stop tokens"} {
			if cut != "never" && c.pairing != gate.Near {
				continue
			}
			t.Run(fmt.Sprintf("%s, cut %s", c, cut), func(t *testing.T) {
				t.Parallel()
				w := gate.NewWorld(c.vocab, c.gamma+1, c.target, c.pairing, uint64(i))
				tr := newTrial(t, w, c.gamma, c.draft)
				tr.rule = Block
				switch cut {
				case "where the draft doubts":
					tr.least = 0.4
				case "by stop tokens":
					tr.isStop = func(id int32) bool { return id%3 == 1 }
				}
				if failed := w.Judge(rounds/4, c.gamma+1, 5, tr.play(t)).Failures(); failed != "" {
					t.Error(failed)
				}
			})
		}
	}
}

// The gate must notice that a lossy rule is lossy; otherwise it proves nothing about the others.
func TestGateCatchesTypicalAcceptance(t *testing.T) {
	for _, vocab := range []int{10, 32} {
		for _, temperature := range []float64{0.3, 1, 1.5} {
			params := sample.Params{Temperature: temperature, TopP: 1}
			w := gate.NewWorld(vocab, 5, params, gate.Near, 1)
			tr := newTrial(t, w, 4, params)
			tr.rule, tr.typical = TypicalLossy, Typical{Epsilon: 0.09, Delta: 0.3}
			if report := w.Judge(rounds/4, 5, 1, tr.play(t)); report.Failures() == "" {
				t.Errorf("V=%d T=%g: typical acceptance passes: %v", vocab, temperature, report)
			}
		}
	}
}

// reach returns the exact probability that each draft token is accepted, by the rules token and
// block.
func reach(w *gate.World, tr *trial) (token, block []float64) {
	token, block = make([]float64, tr.gamma), make([]float64, tr.gamma)
	var walk func(i int, before int32, drafted, t, b float64)
	walk = func(i int, before int32, drafted, t, b float64) {
		if i == tr.gamma {
			return
		}
		q := tr.q[i*w.Vocab+int(before)]
		for id, p := range w.P(i, before) {
			chance := q.Prob(int32(id))
			if chance == 0 {
				continue
			}
			ratio, drafted := p/chance, drafted*chance
			t, b := t*min(1, ratio), min(1, b*ratio)
			token[i] += drafted * t
			block[i] += drafted * b
			walk(i+1, int32(id), drafted, t, b)
		}
	}
	walk(0, gate.Root, 1, 1, 1)
	return token, block
}

// Block verification accepts as many tokens as the theory says: at each place at least as many as
// the rule token, and more of long drafts. For one token, and for a one-hot draft, both accept
// equally many.
func TestBlockVerificationKeepsMore(t *testing.T) {
	const gamma, trials = 4, 40_000
	for _, pairing := range gate.Pairings {
		for _, draft := range []sample.Params{warm, {}} {
			t.Run(fmt.Sprintf("%s T=%g", pairing, draft.Temperature), func(t *testing.T) {
				t.Parallel()
				w := gate.NewWorld(6, gamma+1, warm, pairing, 3)
				tr := newTrial(t, w, gamma, draft)
				token, block := reach(w, tr)
				counts := map[Rule][]float64{Token: make([]float64, gamma), Block: make([]float64, gamma)}
				for round := range trials {
					d := tr.draft(round)
					rows := w.Rows(0, append([]int32{gate.Root}, d.Tokens...))
					in, err := tr.verifier.Inspect(1, rows, d, tr.terms(round))
					must(t, err)
					for k, rule := range Rules[:2] {
						for i := range in.Kept[k] {
							counts[rule.Rule][i] += 1.0 / trials
						}
					}
				}
				for i := range gamma {
					same := i == 0 || draft.Temperature == 0 || pairing == gate.Equal
					if block[i] < token[i]-rounding || same && block[i] > token[i]+rounding {
						t.Errorf("token %d is kept with %g, token by token with %g", i, block[i], token[i])
					}
					for rule, want := range map[Rule]float64{Token: token[i], Block: block[i]} {
						if got, sigma := counts[rule][i], math.Sqrt(want*(1-want)/trials); math.Abs(got-want) > 5.5*sigma+rounding {
							t.Errorf("%s keeps token %d with %.4f, want %.4f ± %.4f", rule, i, got, want, sigma)
						}
					}
				}
				if pairing == gate.Near && draft.Temperature > 0 && block[gamma-1] < 1.05*token[gamma-1] {
					t.Errorf("the last token is kept with %g by block, %g token by token", block[gamma-1], token[gamma-1])
				}
			})
		}
	}
}
