package cpu

import "math/bits"

// threadChoice decides whether programs of one size run on all threads or on the caller's thread
// alone. Which is faster depends on how fast the cores exchange data. This may change at any time, because a
// virtual machine may get other cores, with a common cache or without one. So one run in timedEvery is timed,
// and from time to time a trial runs the program the other way.
type threadChoice struct {
	alone       bool       // the current way: the caller's thread alone
	cost        [2]float64 // nanoseconds per multiplication, on all threads and alone; 0: not timed
	costAtTrial float64    // cost of the current way at the last trial or change; 0: no trial yet, or one is due
	runs        int        // runs since the last trial or change
	interval    int        // runs until the next trial
	trial       int        // runs left in the current trial
}

const (
	timedEvery = 16
	// trialRuns is the number of runs in a trial. All of them take the other way. Only the last run
	// is timed, because the first may have to wake a thread.
	trialRuns = 2
	// The first trial comes after soon runs: then two have been timed, because one timing may be
	// disturbed. Later trials are leastBetween runs apart. This interval doubles, up to mostBetween,
	// after each trial in which the other way cost more than clearly times as much.
	soon, leastBetween, mostBetween = 3 * timedEvery, 256, 4096
	clearly                         = 1.25
	// The other way is taken if it costs less than better times the current one. A trial comes at
	// once if the cost of the current way has changed by a factor above changed.
	better, changed = 0.95, 1.2
	// mostChoiceWork is the largest average work of a phase, in multiplications, for which there is
	// a choice. Larger programs always run on all threads: one thread could only be faster there if
	// sharing a phase took longer than about eight times mostWork multiplications.
	mostChoiceWork = 8 * mostWork
)

// next returns how to do the coming run, and whether to time it.
func (c *threadChoice) next() (alone, timed bool) {
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

// observe takes the cost of a timed run, in nanoseconds per multiplication. A run of the other way
// ends the trial. After a run of the current way, the other way may become the current one, or a
// trial may be due.
func (c *threadChoice) observe(alone bool, cost float64) {
	known := &c.cost[way(alone)]
	if alone != c.alone {
		*known = cost
		c.endTrial()
		return
	}
	if *known == 0 || cost < *known {
		*known = cost // a faster run is believed at once: other programs only add time
	}
	*known += (min(cost, 2**known) - *known) / 4
	switch other := c.cost[way(!alone)]; {
	case other > 0 && other < better**known:
		c.turn()
	case c.costAtTrial > 0 && (*known > changed*c.costAtTrial || *known < c.costAtTrial/changed):
		c.costAtTrial, c.interval = 0, 0
		c.runs = max(c.runs, soon) // the machine has changed
	}
}

// endTrial takes the other way if it was faster. Otherwise it sets the interval until the next
// trial.
func (c *threadChoice) endTrial() {
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
	c.costAtTrial, c.runs = here, 0
}

// turn makes the other way the current one.
func (c *threadChoice) turn() {
	c.alone = !c.alone
	c.costAtTrial, c.runs, c.interval = c.cost[way(c.alone)], 0, leastBetween
}

// way returns the index in threadChoice.cost.
func way(alone bool) int {
	if alone {
		return 1
	}
	return 0
}

// threadChoices has one choice for each power of two of a program's work.
type threadChoices [bits.UintSize + 1]threadChoice

// of returns the choice for a program, or nil if it always runs on all threads.
func (c *threadChoices) of(work, phases int) *threadChoice {
	if work > phases*mostChoiceWork {
		return nil
	}
	return &c[bits.Len(uint(work))]
}
