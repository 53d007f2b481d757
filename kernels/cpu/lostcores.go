package cpu

import "time"

// lostCores decides how many threads take part in programs. If another program computes on one of
// the cores, the system lets it and a thread of the pool take turns. At the end of each phase the
// other threads wait for the thread that has lost its core. Then one thread fewer is faster: each
// remaining thread has a core of its own.
//
// The time lost by waiting is measured in windows. After several windows in a row in which too much
// time was lost, one more thread rests. After the rest all threads take part again, to see whether
// the other program is gone. One window is not enough: a short task of the system also spoils one window,
// and a rest because of such a task could halve the speed of a whole reply.
type lostCores struct {
	threads int // of the pool
	resting int // how many of these threads rest
	now     func() time.Time
	// waited returns how long threads have waited for a thread that had lost its core, since the
	// pool was made, summed over all threads.
	waited func() time.Duration

	runBegun     time.Time
	ran          time.Duration // time inside programs in this window
	waitedBefore time.Duration // what waited returned at the beginning of this window
	rest         time.Duration // length of the last rest; 0: none lately
	restEnds     time.Time
	bad, good    int // length of the current series of windows that lost too much time, or that did not
}

const (
	// A window is longer than a turn of a program on a core, which is some milliseconds on Linux.
	window = 20 * time.Millisecond
	// A thread rests after badAtFirst bad windows in a row, or after badAgain if a thread has rested
	// lately. The window after a rest may be bad without another program: the system may wake a thread
	// on a core that is in use, and move it only later.
	badAtFirst, badAgain = 5, 2
	// Each rest is twice as long as the one before, up to longestRest. The badAgain windows between two
	// rests take a fifth of shortestRest, and a fiftieth of longestRest.
	shortestRest, longestRest = 200 * time.Millisecond, 2 * time.Second
	// After forgetAfter good windows in a row, the next rest is a short one.
	forgetAfter = 50
	// With n−1 of n threads, a pass takes n/(n−1) times as long if arithmetic limits its speed, and
	// less than that if memory does. So a thread rests if at least restGain/n of the time is lost.
	restGain = 0.8
)

// begin begins a run of a program and returns the number of threads for it.
func (l *lostCores) begin() int {
	l.runBegun = l.now()
	if l.resting > 0 && l.runBegun.After(l.restEnds) {
		l.resting = 0
		l.beginWindow()
	}
	return l.threads - l.resting
}

func (l *lostCores) beginWindow() { l.ran, l.waitedBefore = 0, l.waited() }

// end ends a run.
func (l *lostCores) end() {
	now := l.now()
	l.ran += now.Sub(l.runBegun)
	taking := l.threads - l.resting
	if l.ran < window || taking == 1 {
		return
	}
	each := (l.waited() - l.waitedBefore) / time.Duration(taking-1) // all others wait for one
	lost := float64(each) / float64(l.ran)
	l.beginWindow()
	if lost < restGain/float64(taking) {
		l.bad = 0
		if l.good++; l.resting == 0 && l.good >= forgetAfter {
			l.rest = 0
		}
		return
	}
	l.good = 0
	if l.bad++; l.rest == 0 && l.bad < badAtFirst || l.bad < badAgain {
		return
	}
	if l.resting == 0 {
		l.rest = min(max(2*l.rest, shortestRest), longestRest)
	}
	l.resting++
	l.bad, l.restEnds = 0, now.Add(l.rest)
}
