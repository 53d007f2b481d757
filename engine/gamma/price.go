package gamma

// What a round costs changes all the time for reasons that all its parts share: others use the machine, its clock falls, the context grows.
// Parts that have not run for a while would be compared at the prices of another time, and would look cheap when the machine has become slow.
// So every price is kept as a share of one level. Each duration is a sample of the product of both, and what it says beyond what was
// expected is divided between them by how uncertain either is: as a Kalman filter does, in which the level may change
// quickly and shares slowly.

const (
	sampleVariance = 0.03 // of a duration, relative to what is expected: a pass that others disturb errs by a sixth
	levelDrift     = 3e-4 // variance that the level gains from one round to the next
	shareDrift     = 1e-5 // and a share
	shareMost      = 0.04 // the most a share's variance grows to
	clamp          = 0.25 // the largest relative surprise that one sample can argue for: stalls of the machine happen
	rehearsed      = 0.01 // variance of the level behind a rehearsal, which knows shares well: its caches are warm, and its context is empty
	trusted        = 3    // samples from which a share is a mean; before, the smallest counts, since what disturbs adds time
)

// level is what all prices have in common; 1 when the first was seen.
type level struct {
	value    float64
	variance float64
	rounds   int
}

// age lets a round pass.
func (l *level) age() {
	if l.value == 0 {
		l.value = 1
	}
	l.rounds++
	l.variance += levelDrift
}

// price is what some part of a round costs, as a share of the level.
type price struct {
	share    float64 // milliseconds at level 1
	variance float64 // relative
	samples  int
	seen     int // in the level's count of rounds
}

// at is the price at a level, 0 if none was seen.
func (p *price) at(l *level) float64 { return p.share * l.value }

// observe learns from a duration of x milliseconds.
func (p *price) observe(x float64, l *level) {
	p.samples++
	share := x / l.value
	switch {
	case p.samples == 1:
		p.share, p.variance = share, sampleVariance+l.variance
	case p.samples <= trusted:
		p.share, p.variance = min(p.share, share), sampleVariance // the smallest may err as much as one sample: they were taken together
	case p.share > 0:
		p.variance = min(p.variance+shareDrift*float64(l.rounds-p.seen), shareMost)
		surprise := max(-clamp, min(clamp, share/p.share-1))
		all := p.variance + l.variance + sampleVariance
		l.value *= 1 + surprise*l.variance/all
		p.share *= 1 + surprise*p.variance/all
		l.variance *= 1 - l.variance/all
		p.variance *= 1 - p.variance/all
	}
	p.seen = l.rounds
}
