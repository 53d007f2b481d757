package spec

import (
	"fmt"
	"strings"
)

// Path is the way in which a round is verified.
type Path string

// The paths, the cheapest first.
const (
	// Greedy compares argmaxes: 4 bytes a row cross from the device.
	Greedy Path = "greedy"
	// Stochastic tests u·q < p, with distributions that depend on the row alone. A device can do that by itself: 8 bytes a row cross.
	Stochastic Path = "stochastic"
	// Fallback reads whole rows and judges them on the host.
	Fallback Path = "fallback"
)

// Eligible returns the cheapest path that is exact under these terms, and the reason in words.
func Eligible(t *Terms) (Path, string) {
	why := make([]string, 0, 4) // the reasons why whole rows are needed
	if len(t.Shapers) > 0 {
		why = append(why, "scores are changed by "+listed(t.Shapers.Names()))
	}
	if t.Mixed != "" {
		why = append(why, t.Mixed)
	}
	if t.Logprobs > 0 {
		why = append(why, "log-probabilities are asked for")
	}
	if t.Params.Temperature > 0 && t.Rule != Token && t.Rule != "" {
		why = append(why, "the rule "+string(t.Rule)+" needs whole rows")
	}
	switch {
	case len(why) > 0:
		return Fallback, strings.Join(why, "; ")
	case t.Params.Temperature == 0:
		return Greedy, "temperature 0: the best token of each row decides"
	}
	return Stochastic, fmt.Sprintf("temperature %g, and no filter depends on earlier tokens", t.Params.Temperature)
}

// listed joins names with commas and "and".
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
