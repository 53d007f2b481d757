package ref

import "math"

// RouteRow is Route in float32 with the bits of the GPU. bias may be nil. A row that Argmax refuses has NaN
// for shares. In the softmax, expert e belongs to lane e mod 32. A lane adds the exponentials of its experts
// in ascending order, and WarpSum adds the sums of the lanes.
func RouteRow(scores, bias []float32, r Router) (chosen []int32, shares []float32) {
	most := uint64(0)
	for e, s := range scores {
		most = max(most, KeyOf(s, e))
	}
	peak, total := scores[^uint32(most)], float32(1)
	share := func(e int) float32 { return Exp(scores[e]-peak) / total }
	if r.Sigmoid {
		share = func(e int) float32 { return 1 / (1 + Exp(-scores[e])) }
	} else {
		var lanes [Warp]float32
		for e, s := range scores {
			lanes[e%Warp] += Exp(s - peak)
		}
		total = WarpSum(lanes)
	}
	sum, before := float32(0), uint64(0)
	for rank := range r.Used {
		best := uint64(0)
		for e, s := range scores {
			if bias != nil {
				s = share(e) + bias[e]
			}
			if key := KeyOf(s, e); rank == 0 || key < before {
				best = max(best, key)
			}
		}
		before = best
		e := int(^uint32(best))
		chosen, shares = append(chosen, int32(e)), append(shares, share(e))
		sum += share(e)
	}
	_, ok := Argmax(scores)
	for i := range shares {
		if r.Normed {
			shares[i] /= sum + 1e-20
		}
		shares[i] *= float32(r.Scale)
		if !ok {
			shares[i] = float32(math.NaN())
		}
	}
	return chosen, shares
}

// ExpertGroup is up to 8 choices of one expert. With used experts for each row, a row's choice of rank r
// has slot row · used + r; −1 is no choice.
type ExpertGroup struct {
	Expert int32
	Slots  [8]int32
}

// GroupChoices lists the choices of each expert, in ascending order of experts and then of slots.
// touched is the number of experts that were chosen.
func GroupChoices(chosen []int32, experts int) (groups []ExpertGroup, touched int) {
	for e := range int32(experts) {
		n := 0
		for slot, c := range chosen {
			if c != e {
				continue
			}
			if n%8 == 0 {
				groups = append(groups, ExpertGroup{e, [8]int32{-1, -1, -1, -1, -1, -1, -1, -1}})
			}
			groups[len(groups)-1].Slots[n%8] = int32(slot)
			n++
		}
		if n > 0 {
			touched++
		}
	}
	return groups, touched
}

// ClampedSwiGLURows is ClampedSwiGLU with the bits of the GPU.
func ClampedSwiGLURows(gate, up float32) float32 {
	const limit, slope = 7, float32(1.702)
	g, u := gate, up
	if g > limit {
		g = limit
	}
	if u > limit {
		u = limit
	} else if u < -limit {
		u = -limit
	}
	return float32(g/(1+Exp(-float32(slope*g)))) * (u + 1)
}
