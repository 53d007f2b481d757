package race

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/pane"
	"specula/ui/sanitize"
	"specula/ui/state"
	"specula/ui/theme"
	"specula/ui/transcript"
)

// View is the screen of a race.
type View struct {
	prompt   string
	lanes    [2]*side
	recorded bool
	over     bool
	failure  string
	outcome  event.RaceOutcome
}

// side is the state of one lane.
type side struct {
	name  string
	state *state.State
	text  *transcript.View
	count Count
	spans []span // one for each round so far
	ended bool
}

// NewView returns the view of a race that has not begun.
func NewView(prompt string, lanes [2]Lane) *View {
	v := &View{prompt: sanitize.Line(prompt)}
	for i, l := range lanes {
		v.lanes[i] = &side{name: sanitize.Line(l.Name), state: state.New(), text: transcript.New()}
	}
	return v
}

// Compare tells the view that the lanes are two recordings.
func (v *View) Compare() { v.recorded = true }

// Load tells both lanes what is loaded.
func (v *View) Load(e event.Ready) {
	for _, l := range v.lanes {
		l.state.Apply(e)
	}
}

// Apply applies an event of a lane, 0 or 1.
func (v *View) Apply(lane int, e event.Event) {
	s := v.lanes[lane]
	s.state.Apply(e)
	s.count.Add(e)
	switch e := e.(type) {
	case event.ReplyStarted:
		s.state.Messages = slices.Delete(s.state.Messages, 0, len(s.state.Messages)-1) // the prompt is shown above both lanes
	case event.Round:
		s.spans = append(s.spans, span{s.count.DecodeMS, len(e.Committed())})
	case event.ReplyEnded:
		s.ended = true
	}
}

// Finish ends the race. A failure that is not "" is shown instead of the outcome.
func (v *View) Finish(o event.RaceOutcome, failure string) {
	v.over, v.outcome, v.failure = true, o, sanitize.Line(failure)
}

// Over reports whether the race has ended.
func (v *View) Over() bool { return v.over }

// Update scrolls both lanes.
func (v *View) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		by := map[string]int{"up": -1, "down": 1, "pgup": -8, "pgdown": 8}[k.String()]
		for _, s := range v.lanes {
			if by != 0 {
				s.text.Scroll(by)
			}
		}
	}
	return nil
}

const (
	minBeside     = 100 // least width for lanes side by side
	minForFigures = 4   // least rows of a lane to show its numbers
	minForLane    = 14  // least rows of a lane to show the round in progress
	minForTrack   = 18  // least rows of the window to show the track
	minForTall    = 32  // least rows of the window for a track with two rows per lane
	minForLarge   = 18  // least rows for a verdict with a large speed-up
	largeWidth    = 60  // least columns for such a verdict
	largeMargin   = 5   // cells that the speed-up and the words leave free
	footShare     = 4   // a verdict in small letters takes at most 1/footShare of the rows
)

// Draw returns h lines of w cells.
func (v *View) Draw(th *theme.Theme, w, h int) []string {
	what := " Race "
	if v.recorded {
		what = " Two recordings: "
	}
	title := paint.NewLine(th, w).Put(th.Title, what).Put(th.User, v.prompt)
	title.Right(th.Label, v.conditions()+" ")
	lines := []string{title.String(), v.rule(th, w)}
	foot := v.foot(th, w, h)
	if h >= minForTrack {
		foot = append(v.track(th, w, h >= minForTall), append([]string{v.rule(th, w)}, foot...)...)
	}
	body := h - len(lines) - 1 - len(foot)
	if w >= minBeside {
		lines = append(lines, v.beside(th, w, body)...)
	} else {
		upper, figures := (body-1)/2, v.figures(th, w)
		lines = append(lines, v.lanes[0].draw(th, w, upper, figures[0])...)
		lines = append(lines, v.rule(th, w))
		lines = append(lines, v.lanes[1].draw(th, w, body-1-upper, figures[1])...)
	}
	lines = append(append(lines, v.rule(th, w)), foot...)
	return paint.Block(lines, w, h)
}

// conditions says at which temperature both lanes write; "" if it differs or is not known.
func (v *View) conditions() string {
	a, b := v.lanes[0].state, v.lanes[1].state
	if a.Reply.Number == 0 || b.Reply.Number == 0 || a.Settings.Temperature != b.Settings.Temperature {
		return ""
	}
	return fmt.Sprintf("temperature %g", a.Settings.Temperature)
}

func (v *View) rule(th *theme.Theme, w int) string {
	return th.Rule.On(strings.Repeat(th.Glyph.HRule, max(w, 0)))
}

func (v *View) beside(th *theme.Theme, w, h int) []string {
	left := (w - 1) / 2
	figures := v.figures(th, left)
	a, b := v.lanes[0].draw(th, left, h, figures[0]), v.lanes[1].draw(th, w-1-left, h, figures[1])
	lines := make([]string, len(a))
	for i := range lines {
		lines[i] = a[i] + th.Rule.On(th.Glyph.VRule) + b[i]
	}
	return lines
}

// draw draws a lane: its name, its numbers, its text and, if there is room, the round in progress.
func (s *side) draw(th *theme.Theme, w, h int, figures string) []string {
	speed := s.count.Speed(th.Glyph.None) + " tok/s "
	heading := paint.NewLine(th, w).Put(th.Strong, paint.Fit(th, "", " "+s.name, w-1-paint.Width(speed)))
	heading.Right(th.Strong, speed)
	lines := []string{heading.String()}
	if h >= minForFigures {
		if s.count.Rounds == 0 {
			figures = ""
		}
		lines = append(lines, paint.NewLine(th, w).Put(th.Label, figures).String())
	}
	round := 0
	if h >= minForLane {
		round = 3
	}
	lines = append(lines, s.text.Draw(s.state, th, w, max(0, h-len(lines)-round), transcript.Options{Rejected: transcript.Recent, Brief: true})...)
	if round > 0 {
		lines = append(lines, pane.Lane(s.state, th, w, round, pane.LaneOptions{})...)
	}
	return paint.Block(lines, w, h)
}

// figures returns the numbers of both lanes in words, for w cells each. It drops the last numbers of both lanes
// until the rest fits in both.
func (v *View) figures(th *theme.Theme, w int) (texts [2]string) {
	for drop := 0; ; drop++ {
		fits := true
		for i, l := range v.lanes {
			words := l.count.Words()
			words = words[:max(1, len(words)-drop)]
			texts[i] = " " + strings.Join(words, " "+th.Glyph.Separator+" ")
			fits = fits && (len(words) == 1 || paint.Width(texts[i]) < w)
		}
		if fits {
			return texts
		}
	}
}

// foot draws the lowest part of a window of h rows: the outcome, with a large speed-up if there is room, or
// during the race a sentence about how the lanes are compared.
func (v *View) foot(th *theme.Theme, w, h int) []string {
	large := h >= minForLarge && w >= largeWidth
	switch {
	case !v.over && v.recorded:
		return []string{paint.NewLine(th, w).Put(th.Label, " both play on one axis of the engine's time").String()}
	case !v.over:
		return []string{paint.NewLine(th, w).Put(th.Label, " both lanes get the same of the engine's time").String()}
	case large && v.failure == "":
		if lines := v.large(th, w); lines != nil {
			return lines
		}
	}
	return v.small(th, w, max(1, h/footShare))
}

// large draws the verdict: the speed-up, and beside it three lines of words. The speed-up has large characters
// if the theme draws in Unicode. large returns nil if the speed-up and d.Why do not fit side by side.
func (v *View) large(th *theme.Theme, w int) []string {
	d := Judge(&v.lanes[0].count, &v.lanes[1].count, v.outcome)
	factor := d.Factor(th.Glyph.Times)
	figures := paint.Large(factor)
	if !th.Glyph.Unicode || factor == "" {
		blank := paint.Spaces(paint.Width(factor))
		figures = []string{blank, factor, blank}
	}
	style, sign := d.look(th)
	words := []struct {
		style theme.Style
		text  string
	}{{th.Strong, d.Comparison(v.lanes[1].name)}, {style, strings.TrimSpace(d.Text + " " + sign)}, {th.Label, d.Why}}
	if paint.Width(figures[0])+paint.Width(d.Why)+largeMargin > w {
		return nil
	}
	lines := make([]string, paint.LargeRows)
	gain := th.Graph
	if event.Loses(d.Times) {
		gain = th.Error
	}
	for i := range lines {
		lines[i] = paint.NewLine(th, w).Put("", "  ").Put(gain.With(th.Strong), figures[i]).Put("", "  ").Put(words[i].style, sanitize.Line(words[i].text)).String()
	}
	return lines
}

// look returns the style and the sign with which the verdict about the texts is drawn.
func (d *Verdict) look(th *theme.Theme) (style theme.Style, sign string) {
	switch {
	case d.Wrong:
		return th.Error, th.Glyph.Cross
	case d.Same:
		return th.Accepted.With(th.Strong), th.Glyph.Check
	}
	return th.Label, ""
}

// small draws the outcome in at most rows lines. The speed-up and whether the texts are the same come
// first, so that only reasons can be cut off.
func (v *View) small(th *theme.Theme, w, rows int) []string {
	d := Judge(&v.lanes[0].count, &v.lanes[1].count, v.outcome)
	first, rest := d.Words(v.lanes[1].name, th.Glyph), ": "+d.Why
	style, _ := d.look(th)
	if v.failure != "" {
		first, rest, style = v.failure, "", th.Error
	}
	first = sanitize.Line(first)
	var lines []string
	for i, line := range paint.Wrap(first+sanitize.Line(rest), w-2, rows) {
		out := paint.NewLine(th, w).Put("", " ")
		if after, ok := strings.CutPrefix(line, first); ok && i == 0 {
			line = after
			out.Put(style.With(th.Strong), first)
		}
		lines = append(lines, out.Put(style, line).String())
	}
	return lines
}

// Summary returns the verdict, or the failure, on one line; "" before the race is over.
func (v *View) Summary(glyphs theme.Glyphs) string {
	if !v.over || v.failure != "" {
		return v.failure
	}
	d := Judge(&v.lanes[0].count, &v.lanes[1].count, v.outcome)
	return sanitize.Line(d.Words(v.lanes[1].name, glyphs))
}
