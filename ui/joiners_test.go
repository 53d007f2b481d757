package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
)

// Words whose letters join, and emoji that are several characters, are drawn as they are spelled, however they fall into
// tokens; what could deceive is shown; and every line keeps its width.
func TestJoinedWordsAndEmojiAreDrawnAsTheyAreSpelled(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
		s := open(t, func(o *Options) { o.Load = nil })
		s.m.reply = reply{stop: func() {}, started: true}
		s.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		s.do(s.m.apply(event.ReplyStarted{Reply: 1, Prompt: "hello", PromptTokens: 1, ContextTokens: 2048}))
		for i, text := range []string{
			"می", "\u200c", "خواهم", " خانه", "\u200cها\n", "family 👩", "\u200d", "👩\u200d", "👧\u200d👦", "\n",
			"क", "्", "\u200d", "ष\n", "m\u200dn \u202e", "❤\ufe0f", "\u200d🔥\n",
		} {
			s.do(s.m.apply(event.Round{Index: i, Commit: &event.Token{ID: 1, Raw: []byte(text), Text: text, Verdict: event.Plain}}))
		}
		s.m.stale = true
		for _, want := range []string{"می\u200cخواهم خانه\u200cها", "family 👩\u200d👩\u200d👧\u200d👦 ", "क्\u200dष ", "m⟨U+200D⟩n ⟨U+202E⟩❤\ufe0f\u200d🔥 "} {
			s.mustShow(want)
		}
		for i, line := range strings.Split(s.m.View().Content, "\n") {
			if w := ansi.StringWidth(line); w != size[0] {
				t.Errorf("%d×%d: line %d is %d cells wide: %q", size[0], size[1], i, w, ansi.Strip(line))
			}
		}
	}
}
