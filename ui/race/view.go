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
	prompt  string
	lanes   [2]*side
	over    bool
	failure string
	outcome event.RaceOutcome
}

// side is the state of one lane.
type side struct {
	name  string
	state *state.State
	text  *transcript.View
	count Count
}

// NewView returns the view of a race that has not begun.
func NewView(prompt string, lanes [2]Lane) *View {
	v := &View{prompt: sanitize.Line(prompt)}
	for i, l := range lanes {
		v.lanes[i] = &side{name: sanitize.Line(l.Name), state: state.New(), text: transcript.New()}
	}
	return v
}

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
	if _, started := e.(event.ReplyStarted); started {
		s.state.Messages = slices.Delete(s.state.Messages, 0, len(s.state.Messages)-1) // the prompt is shown above both lanes
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
	minBeside   = 100 // least width for lanes side by side
	headingRows = 2
	minForLane  = 8 // least rows of a lane to show the round in progress
	footShare   = 4 // the outcome takes at most 1/footShare of the rows
)

// Draw returns h lines of w cells.
func (v *View) Draw(th *theme.Theme, w, h int) []string {
	title := paint.NewLine(th, w).Put(th.Title, " Race ").Put(th.User, v.prompt)
	lines := []string{title.String(), v.rule(th, w)}
	foot := v.foot(th, w, max(1, h/footShare))
	body := h - len(lines) - 1 - len(foot)
	if w >= minBeside {
		lines = append(lines, v.beside(th, w, body)...)
	} else {
		upper := (body - 1) / 2
		lines = append(lines, v.lanes[0].draw(th, w, upper)...)
		lines = append(lines, v.rule(th, w))
		lines = append(lines, v.lanes[1].draw(th, w, body-1-upper)...)
	}
	lines = append(append(lines, v.rule(th, w)), foot...)
	return paint.Block(lines, w, h)
}

func (v *View) rule(th *theme.Theme, w int) string {
	return th.Rule.On(strings.Repeat(th.Glyph.HRule, max(w, 0)))
}

func (v *View) beside(th *theme.Theme, w, h int) []string {
	left := (w - 1) / 2
	a, b := v.lanes[0].draw(th, left, h), v.lanes[1].draw(th, w-1-left, h)
	lines := make([]string, len(a))
	for i := range lines {
		lines[i] = a[i] + th.Rule.On(th.Glyph.VRule) + b[i]
	}
	return lines
}

// draw draws a lane: its name and figures, its text and, if there is room, the round in progress.
func (s *side) draw(th *theme.Theme, w, h int) []string {
	speed := s.count.Speed(th.Glyph.None) + " tok/s "
	heading := paint.NewLine(th, w).Put(th.Strong, paint.Fit(th, "", " "+s.name, w-1-paint.Width(speed)))
	heading.Right(th.Strong, speed)
	lines := []string{heading.String(), paint.NewLine(th, w).Put(th.Label, " "+s.count.Words(th.Glyph.Separator, th.Glyph.None)).String()}
	round := 0
	if h >= minForLane {
		round = 3
	}
	lines = append(lines, s.text.Draw(s.state, th, w, max(0, h-headingRows-round), transcript.Options{Rejected: transcript.Recent})...)
	if round > 0 {
		lines = append(lines, pane.Lane(s.state, th, w, round, state.Moment{}, state.Ref{})...)
	}
	return paint.Block(lines, w, h)
}

// foot draws the outcome in at most rows lines. The speed-up and whether the texts are the same come
// first, so that only reasons can be cut off.
func (v *View) foot(th *theme.Theme, w, rows int) []string {
	if !v.over {
		return []string{paint.NewLine(th, w).Put(th.Label, " both lanes get the same of the engine's time").String()}
	}
	gain, text, style := v.verdict(th)
	var lines []string
	for i, line := range paint.Wrap(gain+text, w-2, rows) {
		out := paint.NewLine(th, w).Put("", " ")
		if rest, ok := strings.CutPrefix(line, gain); ok && i == 0 {
			line = rest
			out.Put(th.Strong, gain)
		}
		lines = append(lines, out.Put(style, line).String())
	}
	return lines
}

// verdict returns the speed-up, "" if it was not measured, and a text about the outcome. After a failure
// the text is the failure.
func (v *View) verdict(th *theme.Theme) (gain, text string, style theme.Style) {
	if v.failure != "" {
		return "", v.failure, th.Error
	}
	text, wrong := Words(v.outcome)
	text = sanitize.Line(text)
	if wrong {
		style = th.Error
	}
	if times := v.lanes[1].count.over(&v.lanes[0].count); times > 0 {
		gain, text = fmt.Sprintf("second lane %s%.2f", th.Glyph.Times, times), " "+th.Glyph.Separator+" "+text
	}
	return gain, text, style
}
