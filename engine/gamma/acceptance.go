package gamma

import "math"

const (
	// startRate is the acceptance assumed before there is evidence, high enough that speculation gets its chance, and
	// startWeight the number of observations it counts for. A position not reached yet is taken to be like the one before
	// it, which counts for more.
	startRate       = 0.8
	startWeight     = 5
	neighbourWeight = 6
	// memory bounds the number of observations that an estimate rests on. At 100 it errs by 5 points, and the speed it promises for γ 1 by 4 %:
	// with less, drafts that gain a few percent are given up for a run of bad luck.
	memory = 100
	// hereMemory bounds the observations of a reply, and spreadMemory those that the difference between replies rests on. When the first reply
	// has ended it is taken to be usualSpread, which counts for as many as spreadStart; before, there is nothing to differ from.
	hereMemory, spreadMemory, spreadStart = 12, 300, 20
	usualSpread                           = 0.05
	// While nothing reaches a position, its evidence loses each round the share fading of its weight, so that fresh evidence
	// is believed quickly, and its estimate moves the share drift of the way to that of the position before it: old bad luck
	// must not bar a depth for good.
	fading = 0.01
	drift  = 0.003
	// doubt is by how many standard errors an estimate is lowered where something is paid for beforehand. More would leave drafts alone that pay.
	doubt = 0.5
)

// acceptance estimates, per draft position, the chance to be accepted given that all positions before were. A round tells
// about the positions up to its first rejection only; the estimates behind it stay as they are.
type acceptance struct {
	positions []rate
	here      []rate   // of the reply under way alone, as far as it got
	spreads   []spread // of each position, between replies
}

// spread is by how much replies differ from each other, beyond luck: of one nearly every draft holds, of another hardly any. The more they do,
// the sooner a reply is judged by itself (the empirical Bayes estimate of Efron and Morris, 1973).
type spread struct {
	variance float64
	weight   float64 // observations it rests on, up to spreadMemory
}

// observe learns from a reply of which here is known, where mean is usual.
func (s *spread) observe(here rate, mean float64) {
	s.weight = min(s.weight+here.weight, spreadMemory)
	s.variance += ((here.mean-mean)*(here.mean-mean) - mean*(1-mean)/here.weight - s.variance) * here.weight / s.weight
}

// begin turns to a new reply.
func (a *acceptance) begin() {
	for i, here := range a.here {
		a.spreads[i].observe(here, a.positions[i].mean)
	}
	a.here = a.here[:0]
}

// rate is a running mean that follows changes: an average at first, exponentially weighted once memory is full.
type rate struct {
	mean   float64
	weight float64 // observations it rests on, up to memory
}

func (r *rate) observe(x float64) {
	r.weight = min(r.weight+1, memory)
	r.mean += (x - r.mean) / r.weight
}

// observe learns from a round that accepted all or all but the last of the draft tokens it tested.
func (a *acceptance) observe(o Observation) {
	for i := range o.Tested {
		if i == len(a.positions) {
			a.positions = append(a.positions, rate{mean: a.at(i), weight: leastWeight(i)})
		}
		if i == len(a.here) {
			a.here = append(a.here, rate{})
			if i == len(a.spreads) {
				a.spreads = append(a.spreads, spread{variance: usualSpread, weight: spreadStart})
			}
		}
		a.positions[i].observe(o.held(i))
		a.here[i].observe(o.held(i))
		a.here[i].weight = min(a.here[i].weight, hereMemory)
	}
	for i := o.Tested; i < len(a.positions); i++ {
		r := &a.positions[i]
		r.weight = max(leastWeight(i), r.weight*(1-fading))
		if i > 0 {
			r.mean += drift * (a.positions[i-1].mean - r.mean)
		}
	}
}

// leastWeight is the weight of what position i is taken to be before it has observations of its own.
func leastWeight(i int) float64 {
	if i == 0 {
		return startWeight
	}
	return neighbourWeight
}

// at returns the estimate for position i from 0. One never tested is taken to be like the one before it.
func (a *acceptance) at(i int) float64 {
	mean := a.usual(i)
	i = min(i, len(a.positions)-1)
	if i < 0 || i >= len(a.here) || a.spreads[i].variance <= 0 || a.spreads[i].weight == spreadStart {
		return mean
	}
	here, luck := a.here[i], mean*(1-mean)
	return mean + (here.mean-mean)*here.weight/(here.weight+luck/a.spreads[i].variance)
}

// usual is at without what is peculiar to the reply under way.
func (a *acceptance) usual(i int) float64 {
	if len(a.positions) == 0 {
		return startRate
	}
	return a.positions[min(i, len(a.positions)-1)].mean
}

// atLeast returns the estimate for position i less what is doubtful about it.
func (a *acceptance) atLeast(i int) float64 {
	mean, weight := a.at(i), leastWeight(i)
	if i < len(a.positions) {
		weight = a.positions[i].weight
	}
	return max(0, mean-doubt*math.Sqrt(mean*(1-mean)/weight))
}

// first returns the estimates of n positions.
func (a *acceptance) first(n int) []float64 {
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = a.at(i)
	}
	return rates
}
