package spec

// Path is the way in which a round is verified.
type Path string

// The paths, the cheapest first.
const (
	// Greedy compares argmaxes: 4 bytes a row are copied from the device. A device may have changed the
	// rows as guidance and the shapers do. For log-probabilities, it tells the best tokens of each row, too.
	Greedy Path = "greedy"
	// Stochastic judges by distributions that depend on their row alone, or that a device has changed as
	// guidance and the shapers do. A device can do this by some rules; then 8 bytes a row are copied from it, by
	// the rule block 4 more for each draft token, and what log-probabilities need.
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
	case len(t.Shapers) > 0 && !(t.Device && t.Shapers.Editable()), t.Mixed && !t.Device,
		t.Logprobs > 0 && !t.Device, t.RuleNeedsRows():
		return Fallback
	case t.Params.Temperature == 0:
		return Greedy
	}
	return Stochastic
}

// RuleNeedsRows reports whether the acceptance rule needs whole rows on the host.
func (t *Terms) RuleNeedsRows() bool {
	return t.Params.Temperature > 0 && t.Rule != Token && t.Rule != "" && !(t.Device && t.Rule.traits().device != nil)
}

// NeedsQ reports whether a device that judges a draft must have drawn it, because the rule needs the
// distributions q. It need not for a draft whose q are all one-hot.
func (t *Terms) NeedsQ() bool {
	by := t.Rule.traits().device
	return by == nil || !by.anyDraft
}
