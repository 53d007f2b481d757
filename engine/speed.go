package engine

import "specula/engine/event"

// A speed-up is how much faster rounds with a draft write than plain ones, by what rounds of this session took. Rounds are
// priced as the controller prices them (gamma.Controller.RoundMS): in the long run by their durations, all at the level that
// the machine has at present. Durations of plain rounds are few and old by the time they are compared, and where others use
// the machine, too, the difference would mostly be theirs. The figure is an estimate, and marked as one, until there were
// enough plain rounds in replies; before, the price of a plain round rests on passes timed when the session was opened.

// plainSpeed counts plain rounds, which cost the same whoever drafts in the others.
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
// round, and it belongs to those with a draft as well: with the finds alone, looking up would seem to gain more than it does.
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
		expected = max(expected, ms) // drafting took time, and nothing came of it
	}
	d := &l.drafted
	d.n++
	w := weight(d.n)
	d.price += w * (expected/plainMS - d.price)
	d.tokens += w * (float64(tokens) - d.tokens)
}

// weight makes the first rounds a plain mean and the later ones a moving average.
func weight(n int) float64 { return max(speedMemory, 1/float64(n)) }

// tellSpeedup notes the speed-up and whether it is an estimate; nothing before a draft was asked for.
func (l *lessons) tellSpeedup(ev *event.Round) {
	if d := &l.drafted; d.price > 0 {
		ev.Speedup, ev.SpeedupEstimated = d.tokens/d.price, l.plain.n < fewestRounds || d.n < fewestRounds
	}
}
