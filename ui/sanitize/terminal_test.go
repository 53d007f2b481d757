package sanitize_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// obeyed prints text into a terminal emulator, line by line into the upper half of its screen, as
// a pane would. It returns what the terminal did other than show characters; "" if nothing.
func obeyed(text string) (why string) {
	const w, h, paneRows = 40, 12, 6
	term := vt.NewEmulator(w, h)
	var did []string
	note := func(format string, args ...any) { did = append(did, fmt.Sprintf(format, args...)) }
	term.SetCallbacks(vt.Callbacks{
		Bell:             func() { note("rang its bell") },
		Title:            func(s string) { note("set its title to %q", s) },
		IconName:         func(s string) { note("set its icon to %q", s) },
		AltScreen:        func(bool) { note("switched screens") },
		CursorVisibility: func(bool) { note("hid or showed its cursor") },
	})
	replies := make(chan string, 1)
	go func() { // the emulator blocks on an answer that nobody reads
		buf := make([]byte, 256)
		n, _ := term.Read(buf)
		replies <- string(buf[:n])
	}()
	_, _ = term.WriteString(fmt.Sprintf("\x1b[%d;1HUNTOUCHED\x1b[1;1H", paneRows+2))
	for y, line := range strings.Split(text, "\n") {
		if y == paneRows {
			break
		}
		_, _ = term.WriteString(fmt.Sprintf("\x1b[%d;1H", y+1))
		for _, r := range firstRunes(line, 8) { // eight fit into the line, whatever they are
			before := term.CursorPosition()
			_, _ = term.WriteString(string(r))
			if after := term.CursorPosition(); after.Y != before.Y || after.X < before.X {
				note("moved its cursor from %v to %v", before, after)
			}
		}
	}
	var below strings.Builder
	for x := range w {
		if c := term.CellAt(x, paneRows+1); c != nil {
			below.WriteString(c.Content)
			if !c.Style.IsZero() {
				note("kept a style")
			}
		}
	}
	if got := strings.TrimSpace(below.String()); got != "UNTOUCHED" {
		note("changed another line to %q", got)
	}
	styled(term, w, paneRows, note)
	_ = term.InputPipe().(io.Closer).Close() // ends the Read; Emulator.Close would race with it
	if reply := <-replies; reply != "" {
		note("answered %q", reply)
	}
	return strings.Join(did, ", ")
}

func styled(term *vt.Emulator, w, h int, note func(string, ...any)) {
	for y := range h {
		for x := range w {
			if c := term.CellAt(x, y); c != nil && (!c.Style.IsZero() || c.Link != uv.Link{}) {
				note("styled a cell")
				return
			}
		}
	}
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Checks that obeyed notices what terminals obey. Otherwise the tests that use it prove nothing.
func TestOracleSeesWhatTerminalsObey(t *testing.T) {
	for name, text := range map[string]string{
		"style": "\x1b[1mx", "title": "\x1b]2;x\x07", "cursor": "\x1b[9;9H", "clear": "\x1b[2J", "bell": "\a",
		"query": "\x1b[6n", "alternate screen": "\x1b[?1049h", "link": "\x1b]8;;a\x07x", "carriage return": "abc\rd",
	} {
		if obeyed(text) == "" {
			t.Errorf("%s: %q went unnoticed", name, text)
		}
	}
	if why := obeyed("text\nand more"); why != "" {
		t.Errorf("plain text: the terminal %s", why)
	}
}

func TestTerminalObeysNothing(t *testing.T) {
	for _, c := range hostile {
		if why := obeyed(c.want); why != "" {
			t.Errorf("%s: the terminal %s", c.name, why)
		}
	}
}
