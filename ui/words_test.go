package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/demo"
	"specula/ui/golden"
)

// The parts of the screen that explain: the first screen, the list of commands, the caption of a script. Each
// is drawn at three sizes and in two themes, which have the same text.
func TestWordsMatchGoldens(t *testing.T) {
	parts := map[string]func(*screen) []string{
		"welcome": func(s *screen) []string { return s.m.welcome() },
		"menu": func(s *screen) []string {
			s.press("/ down")
			return s.m.drawMenu()
		},
		"menu-filtered": func(s *screen) []string {
			s.press("/ g a m")
			return s.m.drawMenu()
		},
		"menu-values": func(s *screen) []string {
			s.press("/ r u l e space down")
			return s.m.drawMenu()
		},
		"caption": func(s *screen) []string {
			script, err := demo.Parse("talk.txt", "scene A refused token\nsay \"Struck through in orange: refused. The draft gave the token the probability q, the target gives it p. It stays if u × q is below p.\"\nwait key")
			if err != nil {
				t.Fatal(err)
			}
			s.do(s.m.startTour(script, false))
			return s.m.captionLines(s.m.rects.Composer.W)
		},
	}
	for name, draw := range parts {
		for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
			for _, theme := range []string{"dark", "light"} {
				s := open(t, func(o *Options) { o.Config.UI.Theme = theme })
				s.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				drawn := strings.Join(draw(s), "\n")
				label := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
				golden.Compare(t, label, ansi.Strip(drawn))
				if size[0] == 80 && name != "welcome" {
					golden.Compare(t, label+"-"+theme+"-styles", strings.ReplaceAll(drawn, "\x1b", "␛"))
				}
			}
		}
	}
}

// Without a draft model and heads, no small model drafts.
func TestWelcomeSaysWhoDrafts(t *testing.T) {
	s := open(t, nil)
	for _, c := range []struct {
		draft *event.Model
		heads string
		want  string
	}{
		{&event.Model{Name: "small"}, "", "A small model guesses"},
		{nil, "EAGLE", "A small model guesses"},
		{nil, "", "Guesses come from earlier text"},
	} {
		s.m.state.Ready.Draft, s.m.state.Ready.Heads = c.draft, c.heads
		if got := strings.Join(s.m.welcome(), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("no %q in %q", c.want, got)
		}
	}
}
