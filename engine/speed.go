package engine

import "specula/engine/event"

// The speed-up says how much faster rounds with a draft write than plain rounds of this session. Each round has a price: the
// milliseconds that it would take on the machine as fast as it is now (gamma.Controller.RoundMS). Measured durations alone would
// not do: plain rounds are few, and by the time of the comparison they are old. On a machine that others use too, their load would
// decide the result. The speed-up is marked as an estimate until replies have had enough plain rounds. Until then the price of a
// plain round comes from passes that were timed when the session was opened.

// plainSpeed counts plain rounds. They cost the same with every proposer.
type plainSpeed struct {
	n     int
	since int // rounds with a draft since the last plain one
}

// draftedSpeed averages the rounds for which one proposer was asked.
type draftedSpeed struct {
	tokens, price float64 // moving averages of a round; the price is in plain rounds
	n             int
}

// baselineEvery is the number of speculative rounds that one plain round must serve as a baseline for. It costs about
// (1 − 1/speed-up)/64 of the time.
const baselineEvery = 64

// fewestRounds of each kind must have been measured before the mark is dropped: the first of either are slower than they will be.
const fewestRounds = 3

// baselineDue reports whether a plain round is due: the last one is too old, or there are too few.
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

// clocked counts a finished round: its milliseconds and committed tokens. A lookup that found nothing counts twice, as a plain
// round and as a round with a draft. Without it among the latter, lookups would seem to gain more than they do.
func (l *lessons) clocked(want wanted, drafted int, ms float64, tokens int) {
	if tokens == 0 {
		return
	}
	l.plain.since++
	if drafted == 0 && want != wantDraft {
		l.plain.since = 0
		l.plain.n++
	}
	plainMS, timed := l.gamma.RoundMS(0)
	if drafted == 0 && want == wantNothing || !timed || plainMS <= 0 {
		return
	}
	expected, _ := l.gamma.RoundMS(drafted)
	if drafted == 0 && want == wantDraft {
		expected = max(expected, ms) // drafting took time without a result
	}
	d := &l.drafted
	d.n++
	w := weight(d.n)
	d.price += w * (expected/plainMS - d.price)
	d.tokens += w * (float64(tokens) - d.tokens)
}

// weight makes the first rounds a plain mean and the later ones a moving average.
func weight(n int) float64 { return max(speedMemory, 1/float64(n)) }

// tellSpeedup writes the speed-up into the event and whether it is an estimate. It writes nothing before the first draft.
func (l *lessons) tellSpeedup(ev *event.Round) {
	if d := &l.drafted; d.price > 0 {
		ev.Speedup, ev.SpeedupEstimated = d.tokens/d.price, l.plain.n < fewestRounds || d.n < fewestRounds
	}
}
