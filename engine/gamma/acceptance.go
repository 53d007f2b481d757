package gamma

import "math"

const (
	// startRate is the acceptance assumed before there is evidence. It is high, so that drafts are
	// tried. A position in drafts that no round has reached yet starts with the estimate of the
	// position before it. Both assumptions count as startWeight observations.
	startRate   = 0.8
	startWeight = 5
	// memory is the largest number of observations that an estimate rests on. With 100, an acceptance has a
	// standard error of at most 5 points, and the speed that it predicts for γ = 1 one of at most 4 %. With
	// fewer, a run of bad luck would end drafts that gain a few percent.
	memory = 100
	// usualSpread is the variance of the acceptance between replies that is assumed after the first
	// reply. It counts as spreadStart observations. The later estimate of this variance rests on at
	// most spreadMemory observations.
	usualSpread               = 0.05
	spreadMemory, spreadStart = 300, 20
	// A round that does not reach a position gives no evidence about it. Then the weight of the
	// position's old evidence is multiplied by 1 − fading, so that new evidence will count quickly. The
	// position's estimate also moves towards the estimate of the position before it, by the fraction
	// drift of their difference. Without the drift, a position that once had bad luck would never be
	// drafted again.
	fading = 0.01
	drift  = 0.004
	// usualMemory is the largest number of observations that the usual acceptance rests on: those of some
	// 50 replies. The observations of memory come from about five, which may all be hard. See back.
	usualMemory = 1000
	// When a reply begins, the estimate moves towards the usual acceptance, as far as the method at would
	// move it towards the mean of a reply with backVerdicts verdicts. With more verdicts, drafts that nearly
	// pay would begin again too often.
	backVerdicts = 2
)

// acceptance estimates for each draft position the chance that its token is accepted, given that all
// tokens before it were. A round is evidence only for the positions up to its first rejection. The
// estimates of later positions fade and drift (see fading).
type acceptance []position

// position is what is known of one position in drafts.
type position struct {
	rate       // acceptance over all replies, the last ones above all
	here  rate // acceptance in the current reply alone
	usual rate // acceptance over many replies
	// variance is how much the acceptance differs between replies, beyond chance: in some replies
	// nearly all drafts are accepted, in others nearly none. The larger it is, the sooner a reply is
	// judged by its own rounds. (Empirical Bayes estimate, Efron and Morris, 1973)
	variance rate // its weight is 0 until a reply that tested the position has ended
}

// begin starts a new reply, and learns from the finished one how much replies differ. The estimates move back
// towards the usual acceptance. Without this move, a few hard replies could end drafts for easy replies after
// them: where nothing is drafted, nothing shows that a reply is easier.
func (a acceptance) begin() {
	for i := range a {
		p := &a[i]
		if n := p.here.weight; n > 0 {
			if p.variance.weight == 0 {
				p.variance = rate{mean: usualSpread, weight: spreadStart}
			}
			apart := p.here.mean - p.mean
			p.variance.add(apart*apart-p.mean*(1-p.mean)/n, n, spreadMemory)
		}
		p.here = rate{}
		p.mean += p.trust(backVerdicts) * (p.usual.mean - p.mean)
	}
}

// trust returns how far n verdicts of one reply move the estimate for that reply from the acceptance over all
// replies to the acceptance in that reply: 0 is not at all, 1 all the way. It is near 1 if n is large and replies
// differ much, and 0 if they do not differ.
func (p *position) trust(n float64) float64 {
	if n == 0 || p.variance.mean <= 0 {
		return 0
	}
	return n / (n + p.mean*(1-p.mean)/p.variance.mean)
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

// observe learns from a round. Of the tested tokens, all were accepted, or all except the last. The
// estimates of positions that the round did not reach fade and drift.
func (a *acceptance) observe(o Observation) {
	for i := range o.Tested {
		if i == len(*a) {
			begun := rate{mean: a.at(i), weight: startWeight}
			*a = append(*a, position{rate: begun, usual: begun})
		}
		p := &(*a)[i]
		p.add(o.held(i), 1, memory)
		p.here.add(o.held(i), 1, math.Inf(1))
		p.usual.add(o.held(i), 1, usualMemory)
	}
	for i := o.Tested; i < len(*a); i++ {
		p := &(*a)[i]
		p.weight = max(startWeight, p.weight*(1-fading))
		if i > 0 {
			p.mean += drift * ((*a)[i-1].mean - p.mean)
		}
	}
}

// at returns the estimate for position i, counted from 0. It lies between the acceptance over all replies
// and that of the current reply, and nearer to the latter the more rounds of this reply have tested the
// position. A position that was never tested gets the estimate of the last tested position, or startRate if
// there is none.
func (a acceptance) at(i int) float64 {
	if i = min(i, len(a)-1); i < 0 {
		return startRate
	}
	p := &a[i]
	return p.mean + p.trust(p.here.weight)*(p.here.mean-p.mean)
}

// shown returns the acceptance of position i in the current reply alone, or the estimate if the reply
// has tested this position fewer than enough times.
func (a acceptance) shown(i int) float64 {
	if i < len(a) && a[i].here.weight >= enough {
		return a[i].here.mean
	}
	return a.at(i)
}
