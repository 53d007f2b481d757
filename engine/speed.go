package engine

import "specula/engine/event"

// A speed-up is how much faster speculative rounds write than plain ones, by rounds of this session alone. It is measured
// once there were enough plain rounds in replies. Before, it is an estimate and marked as one: rounds are then priced by
// what was timed so far, plain passes when the session was opened among it (gamma.Controller.PlainRounds).
// Both averages forget slowly, so that the figure follows a context that grows and a machine that is shared.

// plainSpeed averages plain rounds, which cost the same whoever drafts in the others.
type plainSpeed struct {
	ms    float64 // per token, moving average
	n     int
	since int // speculative rounds since the last plain one
}

// draftedSpeed averages the rounds for which one proposer was asked.
type draftedSpeed struct {
	ms, tokens float64 // moving averages of a round
	price      float64 // likewise, in plain rounds; 0 if nothing was timed
	n          int
}

// baselineEvery is the number of speculative rounds that one plain round must serve as a baseline for. It costs about
// (1 − 1/speed-up)/64 of the time.
const baselineEvery = 64

// fewestRounds of each kind must have been measured before the two are compared: the first of either are slower than they will be.
const fewestRounds = 3

// baselineDue says that a plain round is wanted: there was none for long, or too few to compare with.
func (s *plainSpeed) baselineDue() bool {
	return s.since >= baselineEvery || s.n < fewestRounds && s.since >= baselineFirst
}

// baselineFirst is the number of speculative rounds between plain ones until there are enough of those.
const baselineFirst = 4

// speedMemory is the weight of a new round in the moving averages, once there are enough to average.
const speedMemory = 0.05

// wanted says whether a draft was asked for in a round.
type wanted int

const (
	wantNothing wanted = iota // the round was meant to be plain
	wantLookup                // a draft that costs nothing to make, and is often not found
	wantDraft                 // a draft that takes time even if none comes of it
)

// clocked takes one finished round of so many milliseconds that committed tokens. A look-up that found nothing is a plain
// round, and it belongs to the speculative ones as well: with the finds alone, looking up would seem to gain more than it does.
func (l *lessons) clocked(want wanted, drafted int, ms float64, tokens int) {
	if tokens == 0 {
		return
	}
	l.plain.since++
	if drafted == 0 && want != wantDraft {
		l.plain.since = 0
		l.plain.n++
		l.plain.ms += weight(l.plain.n) * (ms/float64(tokens) - l.plain.ms)
	}
	if drafted == 0 && want == wantNothing {
		return
	}
	l.drafted.n++
	w := weight(l.drafted.n)
	l.drafted.ms += w * (ms - l.drafted.ms)
	l.drafted.tokens += w * (float64(tokens) - l.drafted.tokens)
	if price, timed := l.gamma.PlainRounds(drafted); timed {
		l.drafted.price += w * (price - l.drafted.price)
	}
}

// weight makes the first rounds a plain mean and the later ones a moving average.
func weight(n int) float64 { return max(speedMemory, 1/float64(n)) }

// tellSpeedup notes the speed-up and whether it is an estimate; nothing before the first speculative round.
func (l *lessons) tellSpeedup(ev *event.Round) {
	d := &l.drafted
	switch {
	case l.plain.n >= fewestRounds && d.n >= fewestRounds && d.ms > 0:
		ev.Speedup = l.plain.ms / (d.ms / d.tokens)
	case d.price > 0:
		ev.Speedup, ev.SpeedupEstimated = d.tokens/d.price, true
	}
}
