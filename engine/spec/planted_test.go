package spec

import (
	"fmt"
	"testing"

	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// planted puts a bug into a verifier. It may also replace the uniforms.
type planted func(*Verifier, sample.Uniforms) sample.Uniforms

func inToken(plant func(*tokenwise)) planted {
	return func(v *Verifier, us sample.Uniforms) sample.Uniforms {
		plant(&v.token)
		return us
	}
}

func inBlock(plant func(*blockwise)) planted {
	return func(v *Verifier, us sample.Uniforms) sample.Uniforms {
		plant(&v.block)
		return us
	}
}

func floored(q float64) float64 { return max(q, 0.02) }

// plantedBugs are bugs that were found in real verifiers, or that are easily made, by rule.
func plantedBugs() map[Rule]map[string]planted {
	return map[Rule]map[string]planted{Token: plantedInToken(), Block: plantedInBlock()}
}

// noneIsPlanted names the lossless rules without planted bugs, with the reason.
var noneIsPlanted = map[Rule]string{
	ExactMatch: "it computes nothing from p and q: it draws from p, and compares tokens",
}

func TestEveryExactRuleHasPlantedBugs(t *testing.T) {
	for _, rule := range exactRules {
		if planted := len(plantedBugs()[rule]) > 0; planted == (noneIsPlanted[rule] != "") {
			t.Errorf("the rule %s: add a bug to plantedBugs, or else the reason to noneIsPlanted", rule)
		}
	}
}

func plantedInToken() map[string]planted {
	return map[string]planted{
		"resampled from p instead of the residual": inToken(func(r *tokenwise) {
			r.residual = func(_ []float64, p, _ sample.Dist, _ int32) sample.Dist { return p }
		}),
		"accepted with probability p": inToken(func(r *tokenwise) {
			r.accept = func(u, p, _ float64) bool { return u < p }
		}),
		"always accepted": inToken(func(r *tokenwise) {
			r.accept = func(_, _, _ float64) bool { return true }
		}),
		"typical acceptance p > q/2": inToken(func(r *tokenwise) {
			r.accept = func(_, p, q float64) bool { return p > 0.5*q }
		}),
		"the test's uniform reused for the residual": inToken(func(r *tokenwise) {
			r.residualStream = sample.AcceptTest
		}),
		"bonus token drawn from q": inToken(func(r *tokenwise) {
			r.bonus = func(_ sample.Dist, d Draft) sample.Dist { return d.Q[len(d.Q)-1] }
		}),
		"draft probability floored": inToken(func(r *tokenwise) {
			r.accept = func(u, p, q float64) bool { return u*floored(q) < p }
		}),
		"residual is p without the draft token": inToken(func(r *tokenwise) {
			r.residual = func(dst []float64, p, _ sample.Dist, refused int32) sample.Dist {
				return sample.Residual(dst, p, sample.OneHot(refused))
			}
		}),
		"acceptance too high by 5 %": inToken(func(r *tokenwise) {
			r.accept = func(u, p, q float64) bool { return u*q < 1.05*p }
		}),
	}
}

func plantedInBlock() map[string]planted {
	// rescaled plants another residual, but keeps the mass that the tests use.
	rescaled := func(wrong func(dst []float64, w float64, p, q sample.Dist) float64) func(*blockwise) {
		return func(r *blockwise) {
			right := r.residual
			r.residual = func(dst []float64, w float64, p, q sample.Dist) float64 {
				mass := right(dst, w, p, q)
				if other := wrong(dst, w, p, q); other > 0 {
					for id := range dst {
						dst[id] *= mass / other
					}
				}
				return mass
			}
		}
	}
	bugs := map[string]planted{
		"resampled from p instead of the residual": inBlock(rescaled(func(dst []float64, _ float64, p, _ sample.Dist) float64 {
			copy(dst, p.P)
			return 1
		})),
		"residual without its weight": inBlock(rescaled(func(dst []float64, _ float64, p, q sample.Dist) float64 {
			return weightedResidual(dst, 1, p, q)
		})),
		"accepted with probability p": inBlock(func(r *blockwise) {
			r.carry = func(w, p, _ float64) float64 { return w * p }
		}),
		"always accepted": inBlock(func(r *blockwise) {
			r.end = func(_, _ float64) bool { return true }
		}),
		"typical acceptance p > q/2": inBlock(func(r *blockwise) {
			r.carry = func(w, p, q float64) float64 {
				if p > 0.5*q {
					return w
				}
				return 0
			}
		}),
		"the test's uniform reused for the residual": inBlock(func(r *blockwise) {
			r.residualStream = sample.AcceptTest
		}),
		"bonus token drawn from q": inBlock(func(r *blockwise) {
			r.bonus = func(_ sample.Dist, d Draft) sample.Dist { return d.Q[len(d.Q)-1] }
		}),
		"draft probability floored": inBlock(func(r *blockwise) {
			r.carry = func(w, p, q float64) float64 { return min(1, w*p/floored(q)) }
		}),
		"acceptance too high by 5 %": inBlock(func(r *blockwise) {
			r.carry = func(w, p, q float64) float64 { return min(1, 1.05*w*p/q) }
		}),
		"ratio not cut at 1": inBlock(func(r *blockwise) {
			r.carry = func(w, p, q float64) float64 { return w * p / q }
		}),
		"each length passes with w": inBlock(func(r *blockwise) {
			r.pass = func(u, _, w float64) bool { return u < w }
		}),
		"a single test of the whole block": inBlock(func(r *blockwise) {
			r.pass = func(_, _, _ float64) bool { return false }
		}),
	}
	bugs["residual is p without the draft token"] = func(v *Verifier, us sample.Uniforms) sample.Uniforms {
		rescaled(func(dst []float64, _ float64, p, q sample.Dist) float64 {
			for i, of := range v.evidence.draft.Q {
				if &of.P[0] == &q.P[0] {
					return weightedResidual(dst, 1, p, sample.OneHot(v.evidence.draft.Tokens[i]))
				}
			}
			panic("a distribution that is not the draft's")
		})(&v.block)
		return us
	}
	// vllm-ascend had this bug until 2026: a length passes if the product of the uniforms is within
	// the product of the ratios, and the residual is that of the rule token.
	bugs[productsOfUniforms] = func(v *Verifier, us sample.Uniforms) sample.Uniforms {
		v.block.pass = func(u, _, w float64) bool { return u <= w }
		v.block.end = func(u, w float64) bool { return u <= w }
		rescaled(func(dst []float64, _ float64, p, q sample.Dist) float64 { return weightedResidual(dst, 1, p, q) })(&v.block)
		return products{us}
	}
	return bugs
}

const productsOfUniforms = "products of uniforms, residual of single tokens"

// products multiplies the uniforms of the tests up to each position.
type products struct{ sample.Uniforms }

func (u products) Uniform(s sample.Stream, round, position int) float64 {
	if s != sample.AcceptTest {
		return u.Uniforms.Uniform(s, round, position)
	}
	product := 1.0
	for i := range position + 1 {
		product *= u.Uniforms.Uniform(s, round, i)
	}
	return product
}

func TestGateCatchesEveryPlantedBug(t *testing.T) {
	if n := len(plantedInToken()); n != 9 {
		t.Fatalf("%d bugs planted in the rule token, want 9", n)
	}
	if n := len(plantedInBlock()); n != 14 {
		t.Fatalf("%d bugs planted in the rule block, want 14", n)
	}
	params := sample.Params{Temperature: 1, TopP: 1}
	for rule, bugs := range plantedBugs() {
		for name, plant := range bugs {
			vocabs := []int{10, 32}
			if rule == Block {
				vocabs = []int{10} // there are more of these bugs
			}
			for _, vocab := range vocabs {
				t.Run(fmt.Sprintf("%s/%s/V=%d", rule, name, vocab), func(t *testing.T) {
					t.Parallel()
					w := gate.NewWorld(vocab, 5, params, gate.Near, 1)
					tr := newTrial(t, w, 4, params)
					tr.rule = rule
					tr.uniforms = plant(tr.verifier, tr.uniforms)
					// Most are caught long before the gate's own number of replies.
					var report gate.Report
					for trials := rounds / 16; trials <= rounds && report.Failures() == ""; trials *= 4 {
						report = w.Judge(trials, 5, 1, tr.play(t))
					}
					if report.Failures() == "" {
						t.Errorf("not caught: %v", report)
					}
				})
			}
		}
	}
}
