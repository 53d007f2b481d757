package pane

import (
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Side draws the column of figures and graphs; what does not fit in h rows is left out from the least important on.
func Side(s *state.State, th *theme.Theme, w, h int) []string { return paint.Block(nil, w, h) }
