package state

import (
	"math"
	"slices"

	"specula/engine/event"
)

// Warmth counts acceptance at one temperature with one proposer, over all replies of the session.
type Warmth struct {
	Temperature  float64
	Proposer     string
	Tested, Kept []int // tested and accepted draft tokens, by position in the draft
}

const (
	warmthLimit = 6  // pairs of temperature and proposer that are remembered
	lengthLimit = 65 // draft lengths that are shown
)

// weigh stores a round's numbers from which the screen shows the trade-off of draft lengths.
func (s *State) weigh(e *event.Round) {
	if n := min(len(e.Lengths), lengthLimit); n > 0 {
		s.Lengths = append([]event.Length(nil), e.Lengths[:n]...)
	}
	if e.Tested <= 0 || math.IsNaN(e.Temperature) {
		return
	}
	temperature := math.Round(100*e.Temperature) / 100
	at := slices.IndexFunc(s.Warmths, func(w Warmth) bool {
		return w.Temperature == temperature && w.Proposer == s.Settings.Proposer
	})
	if at < 0 {
		if len(s.Warmths) == warmthLimit {
			s.Warmths = slices.Delete(s.Warmths, 0, 1)
		}
		at = len(s.Warmths)
		s.Warmths = append(s.Warmths, Warmth{Temperature: temperature, Proposer: s.Settings.Proposer})
	}
	w := &s.Warmths[at]
	w.Tested, w.Kept = e.CountPositions(w.Tested, w.Kept)
}

// fewestTests is how many rounds must have tested their first draft token before Best says anything.
const fewestTests = 24

// Best returns the draft length that would be fastest at this temperature, and how many times faster than
// no draft it would be, from the acceptance counted here and current costs. ok is false if too little is
// known.
func (w *Warmth) Best(costs []event.Length) (gamma int, times float64, ok bool) {
	if len(w.Tested) == 0 || w.Tested[0] < fewestTests || len(costs) == 0 {
		return 0, 0, false
	}
	tokens, reach, share := 1.0, 1.0, 0.0
	for i, l := range costs {
		if speed := (event.Length{Tokens: tokens, Rounds: l.Rounds}).Speedup(); speed > times {
			gamma, times = i, speed
		}
		if i < len(w.Tested) {
			share = float64(w.Kept[i]) / float64(max(w.Tested[i], 1))
		}
		reach *= share
		tokens += reach
	}
	return gamma, times, true
}
