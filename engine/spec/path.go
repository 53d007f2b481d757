package spec

import (
	"fmt"
	"strings"

	"specula/engine/sample"
)

// Path is the way in which a round is verified.
type Path string

// The paths, from the cheapest.
const (
	// Greedy compares argmaxes: 4 bytes a row cross from the device.
	Greedy Path = "greedy"
	// Stochastic tests u·q < p on distributions that depend on the row alone.
	Stochastic Path = "stochastic"
	// Fallback makes each row's distribution on the host in the light of the draft tokens before it, because something shapes
	// the scores by them, such as a repetition penalty or a grammar.
	Fallback Path = "fallback"
)

// Eligible returns the cheapest path that is exact for these parameters, shapers and number of log-probabilities, and why in words.
func Eligible(p sample.Params, shapers sample.Shapers, logprobs int) (Path, string) {
	switch {
	case len(shapers) > 0:
		return Fallback, "scores are changed by " + listed(shapers.Names())
	case logprobs > 0:
		return Fallback, "log-probabilities are asked for"
	case p.Temperature == 0:
		return Greedy, "temperature 0: the best token of each row decides"
	}
	return Stochastic, fmt.Sprintf("temperature %g, and no filter depends on earlier tokens", p.Temperature)
}

// listed joins names as one says them.
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
