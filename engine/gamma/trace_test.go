package gamma_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"specula/engine/gamma"
)

func TestTrace(t *testing.T) {
	for s := range uint64(4) {
		m := &machine{accept: always(.8), draftMS: .2, passMS: cliff(3), noise: .05, stalls: .01, rng: rand.New(rand.NewPCG(s, 1))}
		c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 8})
		n := 0
		last := -1
		r := m.run(c, 4000, func(d gamma.Decision, o gamma.Observation) {
			if d.Gamma != last || d.Probe {
				fmt.Printf("%d %4d γ%d %v %s  %.2f a=%.2f\n", s, n, d.Gamma, d.Probe, d.Why, o.VerifyMS, d.Acceptance)
			}
			last = d.Gamma
			n++
		})
		fmt.Println(r)
	}
}
