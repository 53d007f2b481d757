// Package transcript draws the chat: every token in the colour of its fate, wrapped at words, with a cursor that selects one.
//
// A View remembers how each message was wrapped, so that a frame costs time in proportion to the lines it shows. What it
// draws still depends on state, options and scroll position alone.
package transcript

import (
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Rejected says which rejected and discarded tokens are drawn, struck out, at their place.
type Rejected int

// The choices. What a message never shows is not a place for the cursor either.
const (
	Newest Rejected = iota // of the newest round, until the next one replaces them
	All
	Never
)

// Options is how the user wants to see the chat.
type Options struct {
	Reading  bool // plain text without fates
	Rejected Rejected
	Cursor   state.Ref // selected token, zero for none
	Welcome  []string  // shown, centred, while there is no message
}

// View is the chat's window: scroll position and cache. Use one per chat pane; it is not safe for concurrent use.
type View struct{}

// New returns a View that follows the newest line.
func New() *View { return &View{} }

// Draw returns h lines of w cells.
func (v *View) Draw(s *state.State, th *theme.Theme, w, h int, o Options) []string {
	return paint.Block(nil, w, h)
}

// Scroll moves the window by lines, down if positive. Reaching the end follows again.
func (v *View) Scroll(lines int) {}

// Follow goes to the end and stays there as text arrives.
func (v *View) Follow() {}

// Following reports whether the window stays at the end.
func (v *View) Following() bool { return true }

// Below returns how many lines lie under the window.
func (v *View) Below() int { return 0 }

// Hit returns the token drawn by the latest Draw at column x, row y of the pane.
func (v *View) Hit(x, y int) (state.Ref, bool) { return state.Ref{}, false }

// Vertical returns the token a line above or below ref in the latest Draw.
func (v *View) Vertical(ref state.Ref, down bool) (state.Ref, bool) { return ref, false }

// Reveal scrolls so that the next Draw shows the token.
func (v *View) Reveal(ref state.Ref) {}
