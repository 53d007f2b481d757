package gamma

const (
	// startRate is the acceptance assumed before there is evidence. It is high, so that drafts are tried.
	// The first estimate of a position counts as startWeight observations.
	startRate   = 0.8
	startWeight = 5
	// memory is the largest number of observations that an estimate rests on. With 100, an acceptance has a
	// standard error of at most 5 points, and the speed that it predicts for γ = 1 one of at most 4 %. With
	// fewer, a run of bad luck would end drafts that gain a few percent.
	memory = 100
	// longMemory takes the place of memory for position.here and position.usual. 1000 observations of one
	// position come from some 50 replies. Those of memory come from about five, which may all be hard.
	longMemory = 1000
	// After the first reply, the acceptance is assumed to have the variance usualSpread between replies.
	// This counts as spreadStart observations.
	usualSpread, spreadStart = 0.05, 20
	// In a round that does not reach a position, the weight of the position's evidence is multiplied by
	// 1 − fading, so that new evidence will count quickly. Its estimate moves towards that of the position
	// before it, by the fraction drift of their difference. Without the drift, a position that once had bad
	// luck would never be drafted again.
	fading, drift = 0.01, 0.004
	// When a reply begins, the estimate moves towards the usual acceptance, as far as backVerdicts verdicts
	// would move it. With more verdicts, drafts that nearly pay would begin again too often.
	backVerdicts = 2
)

// acceptance estimates for each draft position the chance that its token is accepted, given that all
// tokens before it were. A round is evidence only for the positions up to its first rejection.
type acceptance []position

// position is what is known of one position in drafts.
type position struct {
	rate       // acceptance over all replies, the last ones above all
	here  rate // acceptance in the current reply alone
	usual rate // acceptance over many replies
	// variance is how much the acceptance differs between replies, beyond chance (an empirical Bayes estimate:
	// Efron and Morris, 1973). It is 0 until a reply that tested the position has ended.
	variance rate
}

// rate is a running mean. At first all observations count equally. Once the weight has reached the limit
// that add gets (memory), older observations count exponentially less.
type rate struct {
	mean   float64
	weight float64 // observations that the mean rests on
}

// add takes x as the mean of n observations.
func (r *rate) add(x, n, memory float64) {
	r.weight = min(r.weight+n, memory)
	r.mean += (x - r.mean) * n / r.weight
}

// begin starts a new reply, and learns from the finished one how much replies differ. The estimates move
// back towards the usual acceptance. Otherwise a few hard replies could end drafts for easy replies after
// them: where nothing is drafted, nothing shows that a reply is easier.
func (a acceptance) begin() {
	for i := range a {
		p := &a[i]
		if n := p.here.weight; n > 0 {
			if p.variance.weight == 0 {
				p.variance = rate{mean: usualSpread, weight: spreadStart}
			}
			apart := p.here.mean - p.mean
			p.variance.add(apart*apart-p.luck()/n, n, memory)
		}
		p.here = rate{}
		p.mean += p.trust(backVerdicts) * (p.usual.mean - p.mean)
	}
}

// luck is the variance of a single verdict.
func (p *position) luck() float64 { return p.mean * (1 - p.mean) }

// trust is the weight, from 0 to 1, of n verdicts of one reply beside the acceptance over all replies. The
// more replies differ, the sooner a reply is judged by its own verdicts.
func (p *position) trust(n float64) float64 {
	if n == 0 || p.variance.mean <= 0 {
		return 0
	}
	return n / (n + p.luck()/p.variance.mean)
}

// observe learns from a round. Of the tested tokens, all were accepted, or all except the last.
func (a *acceptance) observe(o Observation) {
	for i := range o.Tested {
		if i == len(*a) {
			begun := rate{mean: a.at(i), weight: startWeight}
			*a = append(*a, position{rate: begun, usual: begun})
		}
		p := &(*a)[i]
		p.add(o.held(i), 1, memory)
		p.here.add(o.held(i), 1, longMemory)
		p.usual.add(o.held(i), 1, longMemory)
	}
	for i := o.Tested; i < len(*a); i++ {
		p := &(*a)[i]
		p.weight = max(startWeight, p.weight*(1-fading))
		if i > 0 {
			p.mean += drift * ((*a)[i-1].mean - p.mean)
		}
	}
}

// at returns the estimate for position i, counted from 0, in the current reply. A position that was never
// tested gets the estimate of the last tested position, or startRate if there is none.
func (a acceptance) at(i int) float64 {
	if i = min(i, len(a)-1); i < 0 {
		return startRate
	}
	p := &a[i]
	return p.mean + p.trust(p.here.weight)*(p.here.mean-p.mean)
}
