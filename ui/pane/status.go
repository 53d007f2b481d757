package pane

import (
	"fmt"

	"specula/engine/event"
	"specula/ui/layout"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// StatusOptions is what the status line shows in addition to the state. Its texts must be safe for the
// terminal.
type StatusOptions struct {
	Few   bool   // leave out what an audience does not need
	Doing string // work that the state does not know of, such as "racing"; or ""
	Pace  string // such as "shown at 2 rounds/s", with "recording" or the time in a replay before it
	Hints string // keys, such as "/ commands  f1 help"; at the right
	Flash string // a short message, shown instead of context and pace; or ""
}

// phaseWidth is the width in cells of the longest phase word with the gap after it. With a fixed width, the
// text after it does not move.
const phaseWidth = 11

// Status draws the bottom line: the phase, the context, the pace, and the keys.
func Status(s *state.State, th *theme.Theme, w int, o StatusOptions) string {
	out := paint.NewLine(th, w).Put("", " ")
	doing := o.Doing
	if doing == "" {
		doing = phaseWord(s)
	}
	if s.Busy() || o.Doing != "" {
		out.Put(th.Accepted, th.Glyph.Running)
	} else {
		out.Put(th.Label, th.Glyph.Idle)
	}
	out.Put("", " ").Put(th.Strong, doing).Pad(3 + phaseWidth)
	sep, context := "  "+th.Glyph.Separator+"  ", contextWords(s)
	if o.Few {
		context = ""
	}
	putRule(th, out, s.Settings.Acceptance, "  ")
	if o.Flash != "" {
		out.Put(th.Warning, o.Flash)
	} else {
		out.Put(th.Label, longestThatFits(out.Left()-paint.Width(o.Hints)-2,
			joinNonEmpty(sep, joinNonEmpty(sep, loading(s), context), o.Pace),
			joinNonEmpty(sep, context, o.Pace), o.Pace, ""))
	}
	out.Right(th.Label, o.Hints+" ")
	return out.String()
}

// noticeRows is the largest number of rows of a long message. At 80 columns, two warnings about a
// model's file fit.
const noticeRows = 8

// Notice draws a message that is too long for the status line, w cells wide. It returns nil if the
// message fits there.
func Notice(s *state.State, th *theme.Theme, w int, message string) []string {
	before := 3 + phaseWidth
	if words := ruleWords(s.Settings.Acceptance); words != "" {
		before += paint.Width(words) + 2
	}
	if paint.Width(message) <= w-before {
		return nil
	}
	var lines []string
	for _, text := range paint.Wrap(message, w-2, noticeRows) {
		lines = append(lines, paint.NewLine(th, w).Put("", " ").Put(th.Warning, text).Pad(w).String())
	}
	return lines
}

// longestThatFits returns the first text that fits into w cells; "" if none does. The longest text must
// come first, the shortest last.
func longestThatFits(w int, texts ...string) string {
	for _, text := range texts {
		if paint.Width(text) <= w {
			return text
		}
	}
	return ""
}

// drafterName names the model that drafts, or else the proposer; "" if nothing drafts.
func drafterName(s *state.State) string {
	if s.Ready == nil || speculationOff(s) {
		return ""
	}
	who := s.Drafter()
	if who == "draft" || who == "combined" || who == "" {
		if s.Ready.Draft == nil {
			return ""
		}
		return s.Ready.Draft.Name
	}
	if why, known := s.Ready.Refusal(who); !known || why != "" {
		return ""
	}
	return who
}

// loading names a model that is being read, and how much of it has been read; "" when all are read.
func loading(s *state.State) string {
	if s.Ready == nil {
		for _, l := range s.Loading {
			return loadingWords(l)
		}
	}
	return ""
}

// loadingWords says how much of a model has been read.
func loadingWords(l event.Loading) string {
	text := joinNonEmpty(" ", l.What, l.Name)
	if l.TotalBytes <= 0 {
		return text
	}
	return fmt.Sprintf("%s %3.0f%% of %s", text, 100*float64(l.DoneBytes)/float64(l.TotalBytes), bytes(float64(l.TotalBytes)))
}

func contextWords(s *state.State) string {
	if s.Reply.ContextTokens <= 0 {
		return ""
	}
	return fmt.Sprintf("context %s/%s", count(int64(s.Reply.ContextUsed)), count(int64(s.Reply.ContextTokens)))
}

// TooSmall draws the message for a window that is too small: which size specula needs.
func TooSmall(th *theme.Theme, w, h int) []string {
	text := fmt.Sprintf("specula needs %d%s%d", layout.MinWidth, th.Glyph.Times, layout.MinHeight)
	lines := make([]string, 0, max(h, 0))
	for range max(0, (h-1)/2) {
		lines = append(lines, paint.Spaces(w))
	}
	if h > 0 {
		lines = append(lines, paint.NewLine(th, w).Pad((w-paint.Width(text))/2).Put(th.Label, text).String())
	}
	return paint.Block(lines, w, h)
}
