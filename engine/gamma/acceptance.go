package gamma

import "math"

const (
	// startRate is the acceptance assumed before there is evidence. It is high, so that speculation
	// gets its chance. A position that was not reached yet is assumed to have the rate of the
	// position before it. Either counts as startWeight observations.
	startRate   = 0.8
	startWeight = 5
	// memory is the largest number of observations that an estimate rests on. With 100 its standard
	// error is 5 points, and that of the speed predicted for γ = 1 is 4 %. With fewer, a run of bad
	// luck would end drafts that gain a few percent.
	memory = 100
	// usualSpread is the variance between replies that is assumed after the first one. It counts as
	// spreadStart observations; the variance rests on spreadMemory of them at most.
	usualSpread               = 0.05
	spreadMemory, spreadStart = 300, 20
	// While no round reaches a position, its evidence loses the share fading of its weight per
	// round, so that new evidence counts quickly. Its estimate moves by the share drift towards
	// that of the position before it. Otherwise old bad luck would rule out a depth forever.
	fading = 0.01
	drift  = 0.004
)

// acceptance estimates for each draft position the chance to be accepted, given that all positions
// before were. A round is evidence about the positions up to its first rejection only. The
// estimates of later positions fade and drift (see fading).
type acceptance struct {
	positions []rate
	here      []rate   // of the current reply alone, as far as its drafts reached
	spreads   []spread // for each position, the variance between replies
}

// spread is how much the acceptance differs between replies, beyond chance. In one reply nearly
// every draft is accepted, in another hardly any. The larger the variance, the sooner a reply is
// judged by its own rounds. (Empirical Bayes estimate, Efron and Morris, 1973)
type spread struct {
	variance float64
	weight   float64 // observations that the variance rests on; 0 during the first reply
}

// observe learns from a finished reply: here is its own rate, mean the rate over all replies.
func (s *spread) observe(here rate, mean float64) {
	if s.weight == 0 {
		s.variance, s.weight = usualSpread, spreadStart
	}
	s.weight = min(s.weight+here.weight, spreadMemory)
	s.variance += ((here.mean-mean)*(here.mean-mean) - mean*(1-mean)/here.weight - s.variance) * here.weight / s.weight
}

// begin starts a new reply.
func (a *acceptance) begin() {
	for i, here := range a.here {
		a.spreads[i].observe(here, a.positions[i].mean)
	}
	a.here = a.here[:0]
}

// rate is a running mean that follows changes. It starts as an average. When its weight has reached
// the memory, it is exponentially weighted.
type rate struct {
	mean   float64
	weight float64 // observations that the mean rests on
}

func (r *rate) observe(x, memory float64) {
	r.weight = min(r.weight+1, memory)
	r.mean += (x - r.mean) / r.weight
}

// observe learns from a round. Of its tested tokens all were accepted, or all except the last.
func (a *acceptance) observe(o Observation) {
	for i := range o.Tested {
		if i == len(a.positions) {
			a.positions = append(a.positions, rate{mean: a.at(i), weight: startWeight})
		}
		if i == len(a.here) {
			a.here = append(a.here, rate{})
			if i == len(a.spreads) {
				a.spreads = append(a.spreads, spread{})
			}
		}
		a.positions[i].observe(o.held(i), memory)
		a.here[i].observe(o.held(i), math.Inf(1))
	}
	for i := o.Tested; i < len(a.positions); i++ {
		r := &a.positions[i]
		r.weight = max(startWeight, r.weight*(1-fading))
		if i > 0 {
			r.mean += drift * (a.positions[i-1].mean - r.mean)
		}
	}
}

// at returns the estimate for position i, counted from 0. A position that was never tested gets the
// estimate of the last one that was; startRate if none was.
func (a *acceptance) at(i int) float64 {
	if i = min(i, len(a.positions)-1); i < 0 {
		return startRate
	}
	mean := a.positions[i].mean
	if i >= len(a.here) || a.spreads[i].variance <= 0 {
		return mean
	}
	here, luck := a.here[i], mean*(1-mean)
	return mean + (here.mean-mean)*here.weight/(here.weight+luck/a.spreads[i].variance)
}

// atLeast returns the estimate for position i less doubt standard errors.
func (a *acceptance) atLeast(i int) float64 {
	mean, weight := a.at(i), float64(startWeight)
	if i < len(a.positions) {
		weight = a.positions[i].weight
	}
	return max(0, mean-doubt*math.Sqrt(mean*(1-mean)/weight))
}

// shown returns what the current reply has shown of position i; the estimate, if that is little.
func (a *acceptance) shown(i int) float64 {
	if i < len(a.here) && a.here[i].weight >= hindsightTests {
		return a.here[i].mean
	}
	return a.at(i)
}

// first returns the estimates of the first n positions.
func (a *acceptance) first(n int) []float64 {
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = a.at(i)
	}
	return rates
}
