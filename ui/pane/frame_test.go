package pane_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/golden"
	"specula/ui/layout"
	"specula/ui/paint"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/state/statetest"
	"specula/ui/theme"
	"specula/ui/transcript"
)

var shots = flag.String("shots", "", "write the frames with their escape sequences into this folder, to be looked at")

// screen is everything a frame depends on.
type screen struct {
	w, h      int
	theme     string
	cells     ansi.Method
	ascii     bool
	inspector bool
	tradeoff  bool
	few       bool
	view      transcript.Options
}

// frame draws a whole window as the program does, but with a fixed composer.
func frame(s *state.State, view *transcript.View, sc screen) string {
	th, _ := theme.Named(sc.theme, !sc.ascii)
	th.Cells = sc.cells
	r := layout.Arrange(sc.w, sc.h, layout.Options{ComposerLines: 1, Inspector: sc.inspector})
	picture := pane.Picture
	if sc.tradeoff {
		picture = pane.Tradeoff
	}
	if r.TooSmall {
		return strings.Join(pane.TooSmall(th, sc.w, sc.h), "\n")
	}
	hints := "enter send  " + th.Glyph.Separator + "  ? help"
	return pane.Compose(r, th, pane.Parts{
		Chat:      view.Draw(s, th, r.Chat.W, r.Chat.H, sc.view),
		Head:      pane.Head(s, th, r.Head.W, r.Head.H),
		Picture:   picture(s, th, r.Picture.W, r.Picture.H),
		Settings:  []string{pane.SettingsRule(s, th, r.Settings.W, sc.few)},
		Lane:      pane.Lane(s, th, r.Lane.W, r.Lane.H, pane.LaneOptions{At: sc.view.At, Cursor: sc.view.Cursor}),
		Composer:  []string{paint.Fit(th, th.Label, " "+th.Glyph.Marker+" write a message", r.Composer.W)},
		Status:    []string{pane.Status(s, th, r.Status.W, pane.StatusOptions{Pace: "shown at 2 rounds/s", Hints: hints})},
		Side:      pane.Side(s, th, r.Side.W, r.Side.H, pane.SideOptions{Tradeoff: sc.tradeoff, Few: sc.few}),
		Inspector: pane.Inspector(s, th, r.Inspector.W, r.Inspector.H, sc.view.Cursor),
	})
}

func stateOf(events []event.Event) *state.State {
	s := state.New()
	for _, e := range events {
		s.Apply(e)
	}
	return s
}

// rejectedToken returns the last rejected token, about which the inspector says the most.
func rejectedToken(s *state.State) state.Ref {
	m := s.Messages[len(s.Messages)-1]
	for i := len(m.Tokens) - 1; i >= 0; i-- {
		if m.Tokens[i].Fate == event.Rejected {
			return state.Ref{Message: m.ID, Token: i}
		}
	}
	return state.Ref{}
}

func TestFramesMatchGoldens(t *testing.T) {
	moments := map[string]*state.State{
		"empty":  stateOf([]event.Event{statetest.Ready()}),
		"draft":  stateOf(statetest.Midway(21)),
		"judged": stateOf(statetest.Chat(24)),
		"done":   stateOf(statetest.Chat(-1)),
		// The last round has a refusal.
		"refused": stateOf(statetest.Chat(23)),
		// What was known of that round after two verdicts.
		"past": stateOf(statetest.Chat(-1)),
	}
	past := state.Moment{Message: moments["past"].Messages[1].ID, Round: 22, Steps: 2}
	for _, size := range [][2]int{{40, 10}, {80, 24}, {120, 36}, {200, 50}} {
		for name, s := range moments {
			for _, inspector := range []bool{false, true} {
				if inspector && name != "judged" {
					continue
				}
				sc := screen{w: size[0], h: size[1], inspector: inspector}
				sc.view.Welcome = []string{"specula", "write a message to begin"}
				if inspector {
					sc.view.Cursor, sc.view.Rejected = rejectedToken(s), transcript.All
				}
				if name == "past" {
					sc.view.At = past
				}
				label := fmt.Sprintf("%s-%dx%d", name, sc.w, sc.h)
				if inspector {
					label += "-inspector"
				}
				for _, th := range theme.Names() {
					sc.theme = th
					got := frame(s, transcript.New(), sc)
					shot(t, label+"-"+th, got)
					if size[0] >= 80 && (name == "judged" || name == "done") {
						golden.Compare(t, label+"-"+th+"-styles", strings.ReplaceAll(got, "\x1b", "␛"))
					}
					if th == "mono" { // its bars have signs in place of colours
						if size[0] == 80 || size[0] == 120 {
							golden.Compare(t, label+"-mono", ansi.Strip(got))
						}
						continue
					}
					golden.Compare(t, label, ansi.Strip(got)) // both themes with colours draw the same text
				}
			}
		}
	}
	sc := screen{w: 120, h: 36, theme: "mono", ascii: true}
	got := ansi.Strip(frame(moments["judged"], transcript.New(), sc))
	for _, r := range got {
		if r > 0x7e {
			t.Errorf("ASCII glyphs: the frame has %q", r)
			break
		}
	}
	golden.Compare(t, "judged-120x36-ascii", got)
}

func shot(t *testing.T, name, frame string) {
	if *shots == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".ansi"), []byte(frame), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Device names are long. The side column of a large window shows them in full.
func TestDeviceNamesAreNotCut(t *testing.T) {
	one, two := "cpu: Intel Xeon Processor, AVX-512 and AMX, 64 threads", "cuda: NVIDIA H100 80GB HBM3; draft on "
	for _, c := range []struct {
		device, heads string
		w, h          int
	}{
		{one, "", 200, 50}, {one, "EAGLE-3", 120, 60}, {two + one, "", 200, 50}, {two + one, "EAGLE-3", 200, 50},
	} {
		ready := statetest.Ready()
		ready.Device, ready.Heads = c.device, c.heads
		th, _ := theme.Named("mono", true)
		r := layout.Arrange(c.w, c.h, layout.Options{ComposerLines: 1})
		lines := pane.Side(stateOf([]event.Event{ready}), th, r.Side.W, r.Side.H, pane.SideOptions{})
		side := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
		for _, want := range []string{"device " + c.device, "heads " + c.heads} {
			if !strings.Contains(side, strings.TrimSuffix(want, "heads ")) {
				t.Errorf("%d×%d: no %q in\n%s", c.w, c.h, want, ansi.Strip(strings.Join(lines, "\n")))
			}
		}
	}
}
