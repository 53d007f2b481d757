package gamma_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"specula/engine/gamma"
)

func TestExplore(t *testing.T) {
	passes := map[string]func(int) float64{"flat": flat, "steep": steep, "cliff5": cliff(5), "cliff9": cliff(9), "cliff3": cliff(3), "half": func(r int) float64 { return 10 * (1 + .3*float64(r-1)) },
		"steps": func(r int) float64 { return 10 * (1 + .5*float64((r-1)/4)) }}
	for _, tokens := range []int{400, 4000} {
		for name, p := range passes {
			for _, a := range []float64{0, .1, .3, .5, .7, .8, .9, .97} {
				for _, d := range []float64{.2, 1, 3, 10, 30} {
					sum, best := 0.0, 0.0
					hist := make([]int, 9)
					const seeds = 12
					bg := 0
					for s := range uint64(seeds) {
						m := &machine{accept: always(a), draftMS: d, passMS: p, noise: .05, stalls: .01, rng: rand.New(rand.NewPCG(s, 1))}
						c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 8})
						sum += m.run(c, tokens, func(d gamma.Decision, _ gamma.Observation) { hist[d.Gamma]++ })
						g, b := m.bestFixed(8)
						bg = g
						best += b
					}
					if r := best / sum; r < .97 {
						fmt.Printf("%5d %-7s a=%.2f d=%4.1f  best γ%d  %.3f  %v\n", tokens, name, a, d, bg, r, hist)
					}
				}
			}
		}
	}
}
