// Package layout divides the screen. It is pure arithmetic from a window's size to rectangles, so
// that one place decides what fits where, and a test can draw it.
//
// [Arrange] takes the size and [Options] and returns [Rects]. At the top is the head, with the speed-up.
// From 100×30 cells on, a column of pictures lies to the right of the chat, and the lane below both. In
// smaller windows one picture, of the rounds, lies between chat and lane, if there is room. A window with
// fewer than 40 columns or 10 rows shows only a message.
//
// Invariant: the panes never overlap, and with the dividing lines between them they fill the window
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
	ComposerLines int  // lines that the composer asks for; it gets 1 to 8, at most a quarter of the rows
	Inspector     bool // the inspector is open
	NoSide        bool // no column of pictures even where it would fit
	Audience      bool // for an audience: in a large window, the head is high enough for a larger speed-up
	Empty         bool // there is no message yet: the welcome text takes the room of the picture
}

// Rects is where everything is.
type Rects struct {
	W, H     int
	TooSmall bool // there is room only for a line that says so; all panes are empty

	Head     Rect // the speed-up; with more than one row also who drafts and who verifies
	Chat     Rect
	Picture  Rect // the picture of rounds; used only without Side
	Lane     Rect // with H above 2 the first row is its heading
	Settings Rect // the dividing line above the composer, with the settings in it
	Composer Rect
	Status   Rect
	Side     Rect // pictures and numbers

	Inspector Rect

	Vertical   Rect   // the dividing line left of Side, 1 wide
	Horizontal []Rect // dividing lines, 1 high
}

// The sizes of a window in cells at which the layout changes, and the most rows of the composer.
const (
	MinWidth, MinHeight         = 40, 10  // a smaller window has no panes
	minSideWidth, minSideHeight = 100, 30 // a smaller window has no side column
	maxComposerLines            = 8
)

// Arrange places the panes in a window of w×h cells.
func Arrange(w, h int, o Options) Rects {
	r := Rects{W: w, H: h}
	if w < MinWidth || h < MinHeight {
		r.TooSmall = true
		return r
	}
	wide := w >= minSideWidth && h >= minSideHeight && !o.NoSide
	r.Head = Rect{0, 0, w, headHeight(h, wide)}
	if wide && o.Audience && w >= largeHeadWidth && h >= largeHeadHeight {
		r.Head.H = LargeHead
	}
	r.Status = Rect{0, h - 1, w, 1}
	lines := min(max(o.ComposerLines, 1), maxComposerLines, max(1, (h-1)/4))
	r.Composer = Rect{0, h - 1 - lines, w, lines}
	r.Settings = Rect{0, r.Composer.Y - 1, w, 1}
	if wide {
		r.Horizontal = append(r.Horizontal, Rect{0, r.Head.H, w, 1})
		r.beside(o)
	} else {
		r.stacked(o)
	}
	return r
}

// beside places the chat and the side column beside each other, and the lane below both. While the
// inspector is open it lies in the side column, which then reaches down to the composer.
func (r *Rects) beside(o Options) {
	top, bottom := r.Head.H+1, r.Settings.Y
	side := sideWidth(r.W)
	left := r.W - side - 1
	r.Lane = Rect{0, bottom - laneHeight(r.H), r.W, laneHeight(r.H)}
	end := r.Lane.Y
	if o.Inspector {
		r.Lane.W, end = left, bottom
	}
	r.Chat = Rect{0, top, left, r.Lane.Y - top}
	r.Vertical = Rect{left, top, 1, end - top}
	r.Side = Rect{left + 1, top, side, end - top}
	if o.Inspector {
		r.Side, r.Inspector = split(r.Side, min(inspectorRows, r.Side.H-figureRows))
		r.Horizontal = append(r.Horizontal, Rect{r.Side.X, r.Side.Y + r.Side.H, r.Side.W, 1})
	}
}

// stacked places chat, picture and lane below each other. The inspector takes the place of the picture and
// of the lower part of the chat; the rest of the chat shows the selected token.
func (r *Rects) stacked(o Options) {
	bottom := r.Settings.Y
	if lane := laneHeight(r.H); lane > 0 {
		bottom -= lane
		r.Lane = Rect{0, bottom, r.W, lane}
	}
	free := bottom - r.Head.H
	if h := min(inspectorRows, free*3/5); o.Inspector && h >= 2 {
		r.Chat, r.Inspector = split(Rect{0, r.Head.H, r.W, free}, h)
		r.Horizontal = append(r.Horizontal, Rect{0, r.Inspector.Y - 1, r.W, 1})
		return
	}
	if picture := pictureHeight(r.H); picture > 0 && !o.Empty {
		bottom -= picture
		r.Picture = Rect{0, bottom, r.W, picture}
	}
	r.Chat = Rect{0, r.Head.H, r.W, bottom - r.Head.H}
}

// sideWidth is the width of the side column in a window of w columns: two fifths, or more in a very wide
// window, where the chat gets no more than readable columns.
func sideWidth(w int) int { return max(w*2/5, w-readable) }

// readable is the largest width of a chat, in columns, at which the eye easily finds the next line.
const readable = 96

// LargeHead is the number of rows of the head for an audience, if the window has at least the size below.
const (
	LargeHead                       = 7
	largeHeadWidth, largeHeadHeight = 116, 34
)

// headHeight is how many rows the head gets in a window of h rows. wide: there is a side column.
func headHeight(h int, wide bool) int {
	switch {
	case wide:
		return 3
	case h >= 18:
		return 2
	default:
		return 1
	}
}

// pictureHeight is how many rows the picture of rounds gets in a window of h rows.
func pictureHeight(h int) int {
	switch {
	case h >= 30:
		return 8
	case h >= 22:
		return 5
	case h >= 18:
		return 4
	default:
		return 0
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

const (
	inspectorRows = 20 // most rows of the inspector
	figureRows    = 10 // rows of the side column, with the dividing line, that the inspector leaves free
)

// split cuts h rows off the bottom of r, and leaves one row between for a dividing line.
func split(r Rect, h int) (top, bottom Rect) {
	top, bottom = r, r
	top.H = r.H - h - 1
	bottom.Y, bottom.H = r.Y+top.H+1, h
	return top, bottom
}
