package gamma

// The cost of a round changes all the time, and for reasons that all its parts share: other
// programs use the machine, the clock rate falls, the context grows. A part that has not run for a
// while has an old price. After the machine became slow, that part would look cheap.
//
// So each price is kept as a share of one common level: duration = share · level. When a duration
// differs from what was expected, the difference is split between share and level in proportion to
// their variances, as in a Kalman filter. The level may change quickly, the shares only slowly.

const (
	sampleVariance = 0.03 // relative variance of a measured duration: disturbed passes are off by 17 %
	levelDrift     = 3e-4 // variance that the level gains per round
	shareDrift     = 1e-5 // variance that a share gains per round
	shareMost      = 0.04 // the most that a share's variance can grow to
	clamp          = 0.25 // the largest relative surprise that one sample may cause: machines stall
	// rehearsed is the level's variance after a rehearsal. A rehearsal knows the shares well but
	// not the level: its caches are warm and its context is empty.
	rehearsed = 0.01
	// Up to trusted samples a share is the smallest of them, because disturbances only add time.
	// After that it is a running mean.
	trusted = 3
)

// level is the factor common to all prices. It is 1 when the first price is seen.
type level struct {
	value    float64
	variance float64
	rounds   int
}

// age lets one round pass.
func (l *level) age() {
	if l.value == 0 {
		l.value = 1
	}
	l.rounds++
	l.variance += levelDrift
}

// price is the cost of one part of a round, as a share of the level.
type price struct {
	share    float64 // milliseconds at level 1
	variance float64 // relative
	samples  int
	seen     int // the level's round count at the last sample
}

// at returns the price at a level, in milliseconds; 0 if there was no sample.
func (p *price) at(l *level) float64 { return p.share * l.value }

// observe learns from a duration of x milliseconds.
func (p *price) observe(x float64, l *level) {
	p.samples++
	share := x / l.value
	switch {
	case p.samples == 1:
		p.share, p.variance = share, sampleVariance+l.variance
	case p.samples <= trusted:
		// Keep the variance of one sample. These samples were taken in quick succession, so they
		// share their error.
		p.share, p.variance = min(p.share, share), sampleVariance
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
