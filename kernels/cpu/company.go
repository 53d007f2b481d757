package cpu

import "math/bits"

// company decides whether programs of about one size are run by all threads together or by the caller alone. Which is faster depends on how
// far apart the processors are, and that may change while a program runs: a virtual machine's are moved about, and where two of them share
// no cache, what one has written takes the other five times as long to read. So one run in a while is timed, and now and then the other way is tried.
type company struct {
	alone    bool
	cost     [2]float64 // nanoseconds a multiplication, together and alone; 0 before the first timing
	tried    float64    // cost of the way in force when the other was tried last
	runs     int        // since then
	interval int        // until it is tried again
	trial    int        // runs that are left of a trial
}

const (
	timedEvery = 16
	// trialRuns are run the other way, of which the last is timed: the first may have to wake a thread.
	trialRuns = 2
	// A trial comes after soon runs at first, then after leastBetween, and after twice as many each time the other way was clearly slower, up to
	// mostBetween.
	soon, leastBetween, mostBetween = 32, 256, 4096
	clearly                         = 1.25
	// better is what the cost of the other way has to be below, times that of the one in force, and changed by how much the latter has to
	// move until a trial comes at once.
	better, changed = 0.95, 1.2
	// mostCompanyWork is the average work of a phase from which on all threads are taken unasked: a trial would cost too much.
	mostCompanyWork = 2 << 20
)

// next tells how the coming run is to be done, and whether to time it.
func (c *company) next() (alone, timed bool) {
	c.runs++
	if c.trial == 0 && c.runs >= max(c.interval, soon) {
		c.trial = trialRuns
	}
	if c.trial > 0 {
		c.trial--
		return !c.alone, c.trial == 0
	}
	return c.alone, c.runs%timedEvery == 0
}

// observe takes in what a timed run cost.
func (c *company) observe(alone bool, cost float64) {
	known := &c.cost[way(alone)]
	if alone != c.alone {
		*known = cost
		c.endTrial()
		return
	}
	if *known == 0 {
		*known = cost
	}
	*known += (min(cost, 2**known) - *known) / 4
	switch other := c.cost[way(!alone)]; {
	case other > 0 && other < better**known:
		c.turn()
	case c.tried > 0 && (*known > changed*c.tried || *known < c.tried/changed):
		c.tried, c.interval = 0, 0
		c.runs = max(c.runs, soon) // the machine is another than it was
	}
}

// endTrial takes the other way if it was faster.
func (c *company) endTrial() {
	here, other := c.cost[way(c.alone)], c.cost[way(!c.alone)]
	switch {
	case here > 0 && other < better*here:
		c.turn()
		return
	case other > clearly*here:
		c.interval = min(2*max(c.interval, leastBetween), mostBetween)
	default:
		c.interval = leastBetween
	}
	c.tried, c.runs = here, 0
}

// turn changes the way in force.
func (c *company) turn() {
	c.alone = !c.alone
	c.tried, c.runs, c.interval = c.cost[way(c.alone)], 0, leastBetween
}

func way(alone bool) int {
	if alone {
		return 1
	}
	return 0
}

// companies has one for each order of magnitude of work, in powers of two.
type companies [bits.UintSize + 1]company

// of returns who decides about a program; nil: nobody, all threads take part.
func (c *companies) of(work, phases int) *company {
	if work > phases*mostCompanyWork {
		return nil
	}
	return &c[bits.Len(uint(work))]
}
