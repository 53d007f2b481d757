package pane

import (
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// StatusOptions is what the status line shows beside the state.
type StatusOptions struct {
	Pace  string // "slow 2/s", "step", empty at full speed
	Hints string // keys, "enter send · ? help"; at the right
	Flash string // a short message that takes the place of the figures for a while
}

// Status draws the bottom line: what is going on, the models, the context, and the keys.
func Status(s *state.State, th *theme.Theme, w int, o StatusOptions) string { return paint.Spaces(w) }

// Strip draws the most important figures on one line, for windows without room for Side.
func Strip(s *state.State, th *theme.Theme, w int) string { return paint.Spaces(w) }

// TooSmall draws the one message that fits into a tiny window.
func TooSmall(th *theme.Theme, w, h int) []string { return paint.Block(nil, w, h) }
