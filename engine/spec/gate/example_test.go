package gate_test

import (
	"fmt"
	"math/rand/v2"

	"specula/engine/sample"
	"specula/engine/spec/gate"
)

// pick draws from p by inverse transform.
func pick(p []float64, u float64) int32 {
	for id, share := range p {
		if u -= share; u < 0 {
			return int32(id)
		}
	}
	return int32(len(p) - 1)
}

// A sampler is right if its replies have the world's distribution. A sampler that flattens the distribution is found
// out.
func ExampleWorld_Judge() {
	w := gate.NewWorld(8, 2, sample.Params{Temperature: 1, TopP: 1}, gate.Near, 1)
	replies := func(change func(p float64) float64) func(trial int) gate.Played {
		return func(trial int) gate.Played {
			r := rand.New(rand.NewPCG(1, uint64(trial)))
			p, sum := append([]float64{}, w.P(0, gate.Root)...), 0.0
			for i := range p {
				p[i] = change(p[i])
				sum += p[i]
			}
			return gate.Played{Tokens: []int32{pick(p, r.Float64()*sum)}, Bonus: -1}
		}
	}
	right := w.Judge(5000, 1, 2, replies(func(p float64) float64 { return p }))
	wrong := w.Judge(5000, 1, 2, replies(func(p float64) float64 { return p / (p + 0.2) }))
	fmt.Println("right sampler refused:", right.Failures() != "")
	fmt.Println("wrong sampler refused:", wrong.Failures() != "")
	// Output:
	// right sampler refused: false
	// wrong sampler refused: true
}
