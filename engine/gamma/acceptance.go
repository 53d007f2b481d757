package gamma

const (
	// startRate is the acceptance assumed before there is evidence: high enough that speculation gets its chance,
	startRate = 0.8
	// startWeight is after how many observations that assumption counts no more than they do.
	startWeight = 2
	// memory is the number of observations that an estimate remembers.
	memory = 40
	// drift is the part of the way that the estimate of a position moves each round, while nothing reaches it, to the one of
	// the position before: old bad luck must not bar a depth for good.
	drift = 0.005
)

// acceptance estimates, per draft position, the chance to be accepted given that all positions before were. A round tells
// about the positions up to its first rejection only; the estimates behind it stay as they are.
type acceptance struct {
	positions []rate
}

// rate is a running mean that follows changes: an average at first, an exponentially weighted one from memory on.
type rate struct {
	mean   float64
	weight float64 // observations it rests on, up to memory
}

func (r *rate) observe(x float64) {
	r.weight = min(r.weight+1, memory)
	r.mean += (x - r.mean) / r.weight
}

// observe learns from a round that tested so many draft tokens and accepted all or all but the last of them.
func (a *acceptance) observe(tested, accepted int) {
	for i := range tested {
		if i == len(a.positions) {
			a.positions = append(a.positions, rate{mean: a.at(i), weight: startWeight})
		}
		outcome := 0.0
		if i < accepted {
			outcome = 1
		}
		a.positions[i].observe(outcome)
	}
	for i := tested; i < len(a.positions); i++ {
		r := &a.positions[i]
		r.weight = max(startWeight, r.weight*(1-drift))
		if i > 0 {
			r.mean += drift * (a.positions[i-1].mean - r.mean)
		}
	}
}

// at returns the estimate for position i from 0. One never tested is taken to be like the one before it.
func (a *acceptance) at(i int) float64 {
	if len(a.positions) == 0 {
		return startRate
	}
	return a.positions[min(i, len(a.positions)-1)].mean
}

// first returns the estimates of n positions.
func (a *acceptance) first(n int) []float64 {
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = a.at(i)
	}
	return rates
}

// expected returns the mean number of tokens that a draft with these chances commits, with the target's own token:
// 1 + a₁ + a₁a₂ + …, which for equal chances a is (1 − a^(γ+1))/(1 − a).
func expected(rates []float64) float64 {
	tokens, reach := 1.0, 1.0
	for _, a := range rates {
		reach *= a
		tokens += reach
	}
	return tokens
}
