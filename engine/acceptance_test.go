package engine_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"specula/assets"
	"specula/engine/event"
	"specula/engine/spec"
)

// expectedKept compares two rules on the same draft. It returns how many of its tokens the rule token accepts on
// average, Σᵢ Π_{j≤i} min(1, pⱼ/qⱼ), and the rule block, Σᵢ wᵢ (engine/spec/block.go): wᵢ is the chance that token i
// is kept, whatever is drafted after it. A round judged as a block tells p and q of every draft token.
func expectedKept(round event.Round) (token, block float64) {
	reached, w := 1.0, 1.0
	for _, t := range round.Draft {
		if t.P == nil || t.Q == nil || *t.P == 0 {
			break // a token without p was not tested; one with p = 0 is refused, and so is all after it
		}
		reached *= min(1, *t.P / *t.Q)
		w = min(1, w**t.P / *t.Q)
		token += reached
		block += w
	}
	return token, block
}

// lengths adds up over rounds how many draft tokens the rules token and block accept.
type lengths struct {
	rounds                     float64
	token, block               float64 // expected
	difference, squares        float64
	observedToken, observedBlk float64
}

func (l *lengths) add(t testing.TB, round event.Round) {
	if len(round.Draft) == 0 {
		return
	}
	token, block := expectedKept(round)
	if block < token-1e-9 {
		t.Errorf("round %d keeps %g tokens as a block, %g token by token", round.Index, block, token)
	}
	l.rounds++
	l.token += token
	l.block += block
	l.difference += block - token
	l.squares += (block - token) * (block - token)
	for _, r := range round.Rules {
		switch r.Rule {
		case "token":
			l.observedToken += float64(r.Accepted)
		case "block":
			l.observedBlk += float64(r.Accepted)
		}
	}
}

// gain returns how many more tokens a round writes with the rule block, in percent of those with the rule
// token, and the standard error.
func (l *lengths) gain() (percent, se float64) {
	mean := l.difference / l.rounds
	share := 100 / (1 + l.token/l.rounds)
	return mean * share, share * math.Sqrt((l.squares/l.rounds-mean*mean)/l.rounds)
}

// BenchmarkAcceptance compares how many draft tokens of the demo pair the rules block and token keep,
// at fixed draft lengths:
//
//	go test -run '^$' -bench Acceptance -benchtime 200x ./engine
//
// One iteration answers one prompt, judged as blocks. token-kept and block-kept are the expected numbers
// of accepted tokens a round (expectedKept). gain-% is how many more tokens a round writes with block, in
// percent, ± its standard error. The seen-… are the numbers with the uniforms that were really drawn.
func BenchmarkAcceptance(b *testing.B) {
	prompts := assets.Prompts()
	for _, temperature := range []string{"0.5", "0.7", "1"} {
		for _, gamma := range []string{"4", "8"} {
			b.Run(fmt.Sprintf("T=%s/γ=%s", temperature, gamma), func(b *testing.B) {
				s := session(b, pair(), "acceptance", "block", "temperature", temperature, "gamma-rule", "fixed", "gamma-max", "8", "gamma", gamma)
				var l lengths
				for i := range b.N {
					change(b, s, "seed", strconv.Itoa(i))
					for _, round := range write(b, s, user(prompts[i%len(prompts)]), nil).rounds {
						l.add(b, round)
					}
				}
				gain, se := l.gain()
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(l.rounds, "rounds")
				b.ReportMetric(l.token/l.rounds, "token-kept")
				b.ReportMetric(l.block/l.rounds, "block-kept")
				b.ReportMetric(gain, "gain-%")
				b.ReportMetric(se, "±%")
				b.ReportMetric(l.observedToken/l.rounds, "seen-token")
				b.ReportMetric(l.observedBlk/l.rounds, "seen-block")
			})
		}
	}
}

func TestBlockVerificationKeepsMoreOfTheDemoPair(t *testing.T) {
	for _, temperature := range []string{"0.5", "0.7", "1"} {
		s := session(t, pair(), "acceptance", "block", "temperature", temperature, "seed", "1", "gamma-rule", "fixed", "gamma", "6", "max-tokens", "40")
		var l lengths
		for _, prompt := range append(unsure(), assets.Prompts()[:8]...) {
			for _, round := range write(t, s, user(prompt), nil).rounds {
				l.add(t, round)
				checkRules(t, round)
			}
		}
		if gain, _ := l.gain(); gain <= 0 || l.rounds < 50 {
			t.Errorf("temperature %s: the gain is %.2f %% over %g rounds", temperature, gain, l.rounds)
		}
	}
}

// checkRules checks that the rule in force accepts as many tokens as the comparison of rules says.
func checkRules(t *testing.T, round event.Round) {
	t.Helper()
	if len(round.Draft) == 0 {
		if len(round.Rules) > 0 {
			t.Errorf("round %d has no draft, but rules to keep some of it: %v", round.Index, round.Rules)
		}
		return
	}
	at := slices.IndexFunc(round.Rules, func(r event.RuleOutcome) bool { return r.Rule == round.Rule })
	if len(round.Rules) != len(spec.Rules) || at < 0 {
		t.Fatalf("round %d, rule %q: %d rules are compared, the register has %d: %v", round.Index, round.Rule, len(round.Rules), len(spec.Rules), round.Rules)
	}
	if in := round.Rules[at]; in.Accepted != round.Accepted || in.Lossy != round.Lossy {
		t.Errorf("round %d keeps %d by %s, and is said to keep %+v", round.Index, round.Accepted, round.Rule, in)
	}
	if want := spec.Rule(round.Rule).Lossy(); round.Lossy != want {
		t.Errorf("the rule %s is said to be lossy: %t, want %t", round.Rule, round.Lossy, want)
	}
}

// Under the rule exact, a seed gives one text with every proposer and draft length. Under the other rules the
// drafts make a difference. The field Drawn in the register of rules must say the same.
func TestExactMatchMakesATextIndependentOfItsDrafts(t *testing.T) {
	for _, rule := range spec.Rules {
		write := func(settings ...string) []int32 {
			s := session(t, pair(), append([]string{"acceptance", string(rule.Rule), "temperature", "1", "seed", "5", "gamma-rule", "fixed", "max-tokens", "60"}, settings...)...)
			return write(t, s, user(unsure()[0]), nil).ended.IDs
		}
		plain, same := write("speculate", "false"), true
		for _, settings := range [][]string{{"gamma", "1"}, {"gamma", "4"}, {"gamma", "8"}, {"gamma", "4", "proposer", "ngram"}, {"gamma-rule", "cost-aware"}} {
			if got := write(settings...); !slices.Equal(got, plain) {
				same = false
				t.Logf("%s, %v: %v, without speculation %v", rule.Rule, settings, got, plain)
			}
		}
		if same != rule.Drawn {
			t.Errorf("%s: one seed gives one text, whatever is drafted: %t; its row of Rules in engine/spec/rule.go has Drawn: %t", rule.Rule, same, rule.Drawn)
		}
	}
}

func TestRuleChangesInMidReply(t *testing.T) {
	s := session(t, pair(), "temperature", "1", "seed", "3", "gamma-rule", "fixed", "gamma", "4")
	var order []string // the second rule and all after it, then the first
	for i := range spec.Rules {
		order = append(order, string(spec.Rules[(i+1)%len(spec.Rules)].Rule))
	}
	r := write(t, s, user(unsure()[0]), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok && round.Index < len(order) {
			change(t, s, "acceptance", order[round.Index])
		}
	})
	for i, rule := range append(order[len(order)-1:], order...) {
		if got := r.rounds[i].Rule; got != rule {
			t.Errorf("round %d goes by %q, want %q", i, got, rule)
		}
		checkRules(t, r.rounds[i])
	}
}

func TestTypicalBoundsHoldFromTheNextRound(t *testing.T) {
	const changed = 3 // after this round the bounds are lifted
	s := session(t, pair(), "acceptance", "typical-lossy", "temperature", "1", "seed", "3",
		"gamma-rule", "fixed", "gamma", "4", "max-tokens", "60")
	var kept, tested [2]int // by strict bounds, then by none
	for _, prompt := range unsure() {
		change(t, s, "epsilon", "1", "delta", "1")
		write(t, s, user(prompt), func(ev event.Event) {
			round, ok := ev.(event.Round)
			if !ok {
				return
			}
			bounds := 0
			if round.Index > changed {
				bounds = 1
			}
			kept[bounds] += round.Accepted
			tested[bounds] += round.Tested
			if round.Index == changed {
				change(t, s, "epsilon", "0", "delta", "0")
			}
		})
	}
	if tested[0] == 0 || kept[0] == tested[0] || tested[1] == 0 || kept[1] < tested[1]-len(unsure()) {
		t.Errorf("by strict bounds %d of %d are kept, by none %d of %d", kept[0], tested[0], kept[1], tested[1])
	}
	t.Logf("by strict bounds %d of %d are kept, by none %d of %d", kept[0], tested[0], kept[1], tested[1])
}
