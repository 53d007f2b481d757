package spec

// Path is the way in which a round is verified.
type Path string

// The paths, the cheapest first.
const (
	// Greedy compares argmaxes: 4 bytes a row are copied from the device. A device may have changed the
	// rows as guidance and the shapers do.
	Greedy Path = "greedy"
	// Stochastic tests u·q < p on distributions that depend on their row alone, or that a device has changed
	// as guidance and the shapers do. A device can do this test; then 8 bytes a row are copied from it.
	Stochastic Path = "stochastic"
	// Fallback copies whole rows to the host and judges them there.
	Fallback Path = "fallback"
	// Drawn compares the draft with tokens that the target, a server, drew at each position. No setting asks
	// for this path: the pass says so (Drawer).
	Drawn Path = "drawn"
)

// Eligible returns the cheapest path on which these terms can be met.
func Eligible(t *Terms) Path {
	switch {
	case len(t.Shapers) > 0 && !(t.Device && t.Shapers.Editable()), t.Mixed && !t.Device, t.Logprobs > 0, t.RuleNeedsRows():
		return Fallback
	case t.Params.Temperature == 0:
		return Greedy
	}
	return Stochastic
}

// RuleNeedsRows reports whether the acceptance rule needs whole rows.
func (t *Terms) RuleNeedsRows() bool {
	return t.Params.Temperature > 0 && t.Rule != Token && t.Rule != ""
}
