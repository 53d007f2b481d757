package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
)

// Words with joined letters and emoji of several code points are drawn as spelled, however they are
// divided into tokens. Characters that could deceive are made visible. Every line has the right width,
// for both ways in which a terminal may count cells.
func TestJoinedWordsAndEmojiAreDrawnAsTheyAreSpelled(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
		s := open(t, func(o *Options) { o.Load = nil })
		s.m.reply = reply{stop: func() {}, started: true}
		s.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		s.do(s.m.apply(event.ReplyStarted{Reply: 1, Prompt: "hello", PromptTokens: 1, ContextTokens: 2048}))
		for i, text := range []string{
			"می", "\u200c", "خواهم", " خانه", "\u200cها\n", "family 👩", "\u200d", "👩\u200d", "👧\u200d👦", "\n",
			"क", "्", "\u200d", "ष\n", "m\u200dn \u202e", "❤\ufe0f", "\u200d🔥\n", "⚠\ufe0f 👍🏽 🇩🇪 1\ufe0f\u20e3\n",
		} {
			s.do(s.m.apply(event.Round{Index: i, Commit: &event.Token{ID: 1, Raw: []byte(text), Text: text, Verdict: event.Plain}}))
		}
		s.m.stale = true
		for _, want := range []string{"می\u200cخواهم خانه\u200cها", "family 👩\u200d👩\u200d👧\u200d👦 ", "क्\u200dष ", "m⟨U+200D⟩n ⟨U+202E⟩❤\ufe0f\u200d🔥 "} {
			s.mustShow(want)
		}
		s.mustFill(size[0], ansi.WcWidth)
		s.update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeNotRecognized})
		s.mustFill(size[0], ansi.WcWidth)
		s.update(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
		s.mustFill(size[0], ansi.GraphemeWidth)
	}
}

// mustFill fails unless every line is as wide as the window, for this way of counting cells.
func (s *screen) mustFill(width int, cells ansi.Method) {
	s.t.Helper()
	s.m.stale = true
	for i, line := range strings.Split(s.m.View().Content, "\n") {
		if w := cells.StringWidth(line); w != width {
			s.t.Errorf("line %d is %d cells wide, not %d: %q", i, w, width, ansi.Strip(line))
		}
	}
}
