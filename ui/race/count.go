package race

import (
	"fmt"

	"specula/engine/event"
)

// Count sums up the rounds of a lane. Times are the engine's, without the target's reading of the prompt,
// but with what a proposer reads in a round.
type Count struct {
	Tokens   int     `json:"tokens"`
	Rounds   int     `json:"rounds"`
	Drafted  int     `json:"drafted"`
	Tested   int     `json:"tested"`
	Accepted int     `json:"accepted"`
	DecodeMS float64 `json:"decodeMS"`
}

// Add counts an event of the lane if it is a round.
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

// Words returns the numbers besides the speed, in words, the most important first.
func (c *Count) Words() []string {
	words := []string{plural(c.Tokens, "token") + " in " + plural(c.Rounds, "round")}
	if c.Rounds > 0 {
		words = append(words, fmt.Sprintf("%.2f a round", float64(c.Tokens)/float64(c.Rounds)))
	}
	if c.Tested > 0 {
		words = append(words, fmt.Sprintf("%.0f%% kept", 100*float64(c.Accepted)/float64(c.Tested)))
	}
	return append(words, milliseconds(c.DecodeMS))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func milliseconds(ms float64) string {
	if ms >= 1000 {
		return fmt.Sprintf("%.2f s", ms/1000)
	}
	return fmt.Sprintf("%.1f ms", ms)
}
