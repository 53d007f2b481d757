// Package layout divides the screen. It is pure arithmetic from a window's size to rectangles, so
// that one place decides what fits where, and a test can draw it.
//
// [Arrange] takes the size and [Options] and returns [Rects]. Wide windows have a column of
// figures at the right. Below about 100×30 cells the column becomes a strip of one to three lines.
// Below 40×10 there is only room for a message.
//
// Invariant: the panes never overlap, and with the rules between them they fill the window
// exactly.
package layout

// Rect is a rectangle of cells. A zero Rect is a pane that is not shown.
type Rect struct{ X, Y, W, H int }

// Empty reports whether the pane is not shown.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Contains reports whether the cell (x, y) of the screen is inside. It is used for the mouse.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Options is what the user chose to see.
type Options struct {
	ComposerLines int  // lines that the composer asks for; it gets 1 to 8
	Inspector     bool // the inspector is open
	NoSide        bool // show figures as a strip even where a column would fit
}

// Rects is where everything is.
type Rects struct {
	W, H     int
	TooSmall bool // only one message fits; all panes are empty

	Chat Rect
	// Strip is used only without Side: the head line and, if there is room, a line of figures and
	// one of settings.
	Strip     Rect
	Lane      Rect // with H above 2 the first row is its heading
	Composer  Rect
	Status    Rect
	Side      Rect
	Inspector Rect

	Vertical   Rect   // the rule left of Side, 1 wide
	Horizontal []Rect // rules, 1 high
}

// The sizes at which the layout changes, and the limit of the composer.
const (
	MinWidth, MinHeight         = 40, 10
	minSideWidth, minSideHeight = 100, 30
	maxComposerLines            = 8
)

// Arrange places the panes in a window of w×h cells.
func Arrange(w, h int, o Options) Rects {
	r := Rects{W: w, H: h}
	if w < MinWidth || h < MinHeight {
		r.TooSmall = true
		return r
	}
	r.Status = Rect{0, h - 1, w, 1}
	left, body := w, h-1
	if w >= minSideWidth && h >= minSideHeight && !o.NoSide {
		side := min(max(w*34/100, 40), 60)
		left = w - side - 1
		r.Vertical = Rect{left, 0, 1, body}
		r.Side = Rect{left + 1, 0, side, body}
	}
	r.column(left, body, o)
	if o.Inspector {
		r.placeInspector()
	}
	return r
}

// column stacks the left column from the bottom up: composer, rule, strip, lane. The chat gets the
// rest.
func (r *Rects) column(w, bottom int, o Options) {
	lines := min(max(o.ComposerLines, 1), maxComposerLines, max(1, bottom/4))
	bottom -= lines
	r.Composer = Rect{0, bottom, w, lines}
	bottom--
	r.Horizontal = append(r.Horizontal, Rect{0, bottom, w, 1})
	if r.Side.Empty() {
		strip := stripHeight(r.H)
		bottom -= strip
		r.Strip = Rect{0, bottom, w, strip}
	}
	if lane := laneHeight(r.H); lane > 0 {
		bottom -= lane
		r.Lane = Rect{0, bottom, w, lane}
	}
	r.Chat = Rect{0, 0, w, bottom}
}

// stripHeight is how many rows the strip gets in a window of h rows.
func stripHeight(h int) int {
	switch {
	case h >= 18:
		return 3
	case h >= 13:
		return 2
	default:
		return 1
	}
}

// laneHeight is how many rows the lane (the round in progress) gets in a window of h rows.
func laneHeight(h int) int {
	switch {
	case h >= 44:
		return 10
	case h >= 30:
		return 8
	case h >= 22:
		return 5
	case h >= 18:
		return 4
	case h >= 13:
		return 2
	default:
		return 0
	}
}

// placeInspector gives the inspector the lower part of the side column or, without one, of the
// chat. The chat keeps its upper part, so that the selected token stays in sight.
func (r *Rects) placeInspector() {
	if !r.Side.Empty() {
		h := min(inspectorRows, r.Side.H-figureRows)
		r.Side, r.Inspector = split(r.Side, h)
		r.Horizontal = append(r.Horizontal, Rect{r.Side.X, r.Side.Y + r.Side.H, r.Side.W, 1})
		return
	}
	h := min(inspectorRows, r.Chat.H*3/5)
	if h < 2 {
		return
	}
	r.Chat, r.Inspector = split(r.Chat, h)
	r.Horizontal = append(r.Horizontal, Rect{0, r.Chat.H, r.Chat.W, 1})
}

const (
	inspectorRows = 20
	figureRows    = 10 // the fewest rows of the side column that are useful
)

// split cuts h rows off the bottom of r, and leaves one row between for a rule.
func split(r Rect, h int) (top, bottom Rect) {
	top, bottom = r, r
	top.H = r.H - h - 1
	bottom.Y, bottom.H = r.Y+top.H+1, h
	return top, bottom
}
