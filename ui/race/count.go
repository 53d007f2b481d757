package race

import (
	"fmt"

	"specula/engine/event"
)

// Count sums up the rounds of a lane. Times are the engine's, without the prefill.
type Count struct {
	Tokens   int     `json:"tokens"`
	Rounds   int     `json:"rounds"`
	Drafted  int     `json:"drafted"`
	Tested   int     `json:"tested"`
	Accepted int     `json:"accepted"`
	DecodeMS float64 `json:"decodeMS"`
}

// Add adds an event of the lane.
func (c *Count) Add(e event.Event) {
	r, ok := e.(event.Round)
	if !ok {
		return
	}
	c.Tokens += len(r.Committed())
	c.Rounds++
	c.Drafted += len(r.Draft)
	c.Tested += r.Tested
	c.Accepted += r.Accepted
	c.DecodeMS += r.MS()
}

// perSecond returns the tokens per second of engine time; 0 if nothing was measured.
func (c *Count) perSecond() float64 {
	if c.DecodeMS <= 0 {
		return 0
	}
	return 1000 * float64(c.Tokens) / c.DecodeMS
}

// over returns the speed of c divided by that of other; 0 if one of them was not measured.
func (c *Count) over(other *Count) float64 {
	if other.perSecond() == 0 {
		return 0
	}
	return c.perSecond() / other.perSecond()
}

// Speed returns the tokens per second as text, or none if they were not measured.
func (c *Count) Speed(none string) string {
	if c.perSecond() == 0 {
		return none
	}
	return fmt.Sprintf("%.1f", c.perSecond())
}

// Words returns the other figures on one line. none stands for a figure that was not measured.
func (c *Count) Words(separator, none string) string {
	perPass, accepted := none, none
	if c.Rounds > 0 {
		perPass = fmt.Sprintf("%.2f", float64(c.Tokens)/float64(c.Rounds))
	}
	if c.Tested > 0 {
		accepted = fmt.Sprintf("%.0f%%", 100*float64(c.Accepted)/float64(c.Tested))
	}
	sep := " " + separator + " "
	return fmt.Sprintf("%d tokens%s%d rounds%s%s/pass%s%s kept%s%.1f ms", c.Tokens, sep, c.Rounds, sep, perPass, sep, accepted, sep, c.DecodeMS)
}

// Gain says how much faster the second lane was; "" if that was not measured.
func Gain(a, b *Count) string {
	if gain := b.over(a); gain > 0 {
		return fmt.Sprintf("the second lane wrote %.2f × as fast as the first", gain)
	}
	return ""
}

// Words says whether the texts of a race are equal. wrong is true if they were compared, must be
// equal and are not.
func Words(o event.RaceOutcome) (text string, wrong bool) {
	switch {
	case !o.Compared:
		return "texts not compared: " + o.Why, false
	case o.Same:
		return "the same text: " + o.Why, false
	}
	return fmt.Sprintf("THE TEXTS DIFFER from token %d on, and must not: %s", o.Position, o.Why), true
}
