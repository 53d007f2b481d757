package theme

// Glyphs are the signs that panes draw with. Each is one cell wide.
type Glyphs struct {
	Unicode   bool
	Check     string // accepted
	Cross     string // rejected
	Dot       string // discarded: never tested
	Arrow     string // replaced by
	Back      string // points at the token before it
	Star      string // before a bonus token, and before the number of tokens that do not fit
	Space     string // a space inside a token
	Newline   string // a newline inside a token
	Ellipsis  string
	Separator string // between numbers on one line
	None      string // no number yet
	HRule     string
	VRule     string
	TeeRight  string // a vertical dividing line with a horizontal one to its right
	TeeLeft   string
	Cross4    string // a vertical and a horizontal dividing line cross
	TeeDown   string // a horizontal dividing line with a vertical one below it
	Mark      string // points up: at a changed setting, at the end of a race's first lane, beyond a graph
	Probe     string // this round was a probe
	Gamma     string // the name of the draft length
	Times     string
	About     string // before an estimate
	Marker    string // beside the selected line
	Level     string // points left, at the end of a finished lane of a race
	Top       string // a horizontal line in a graph, at the top of a cell
	Dash      string // a horizontal line in a graph, in the middle of a cell
	Bottom    string // a horizontal line in a graph, at the bottom of a cell
	Dashed    string // a vertical line between replies
	Best      string // the best draft length
	Running   string // work is going on; also: the draft length in use
	Idle      string
}

var unicodeGlyphs = Glyphs{
	Unicode: true, Check: "✓", Cross: "✗", Dot: "·", Arrow: "→", Back: "←", Star: "+", Space: "␣", Newline: "↵", Ellipsis: "…",
	Separator: "·", None: "–", HRule: "─", VRule: "│", TeeRight: "├", TeeLeft: "┤", Cross4: "┼", TeeDown: "┬",
	Mark: "▴", Probe: "◦", Gamma: "γ", Times: "×", About: "≈", Marker: "▸", Level: "◂", Top: "▔", Dash: "╌", Bottom: "▁", Dashed: "┆", Best: "★", Running: "●", Idle: "○",
}

var asciiGlyphs = Glyphs{
	Check: "v", Cross: "x", Dot: ".", Arrow: ">", Back: "<", Star: "+", Space: "_", Newline: "$", Ellipsis: "~",
	Separator: "-", None: "-", HRule: "-", VRule: "|", TeeRight: "+", TeeLeft: "+", Cross4: "+", TeeDown: "+",
	Mark: "^", Probe: "?", Gamma: "g", Times: "x", About: "~", Marker: ">", Level: "<", Top: "-", Dash: "-", Bottom: "_", Dashed: ":", Best: "!", Running: "*", Idle: "o",
}
