package film_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"specula/engine/config"
	"specula/engine/trace"
	"specula/ui"
	"specula/ui/export/film"
	"specula/ui/state/statetest"
)

// scripted returns the film of the scripted chat.
func scripted(theme string, w, h, rounds int) film.Film {
	var records []trace.Record
	for i, e := range statetest.Chat(rounds) {
		records = append(records, trace.Record{AtMS: float64(20 * i), Event: e})
	}
	c := config.Default()
	c.UI.Pace, c.UI.Theme = "slow", theme
	return ui.Film(records, c, w, h)
}

// terminal is a terminal emulator that others have written.
type terminal struct {
	*vt.Emulator
	done chan struct{}
}

func newTerminal(w, h int) terminal {
	term := terminal{vt.NewEmulator(w, h), make(chan struct{})}
	go func() { // the emulator blocks on an answer that nobody reads
		_, _ = io.Copy(io.Discard, term)
		close(term.done)
	}()
	return term
}

func (term terminal) end() {
	_ = term.InputPipe().(io.Closer).Close()
	<-term.done
}

// cells describes the cells of a screen: text, colours and attributes.
func cells(screen interface{ CellAt(x, y int) *uv.Cell }, w, h int) []string {
	var out []string
	for y := range h {
		var b strings.Builder
		for x := range w {
			c := screen.CellAt(x, y)
			if c == nil || c.Content == "" && c.Width == 1 {
				c = &uv.Cell{Content: " ", Width: 1}
			}
			fmt.Fprintf(&b, "%s|%v|%v|%d|%d ", c.Content, c.Style.Fg, c.Style.Bg, c.Style.Attrs, c.Style.Underline)
		}
		out = append(out, b.String())
	}
	return out
}

// drawn is cells for a frame.
func drawn(frame film.Frame, w, h int) []string {
	buffer := uv.NewScreenBuffer(w, h)
	uv.NewStyledString(strings.ReplaceAll(frame.Screen, "\n", "\r\n")).Draw(buffer, buffer.Bounds())
	return cells(buffer, w, h)
}

// A terminal that gets the output of a cast shows each frame when the cast says so.
func TestCastsShowEveryFrame(t *testing.T) {
	const w, h = 100, 30
	f := scripted("dark", w, h, -1)
	var frames []film.Frame // those that change the screen
	for frame := range f.Frames {
		if len(frames) == 0 || frames[len(frames)-1].Screen != frame.Screen {
			frames = append(frames, frame)
		}
	}
	for version, write := range map[int]func(io.Writer) error{2: f.Cast2, 3: f.Cast3} {
		var cast bytes.Buffer
		if err := write(&cast); err != nil {
			t.Fatal(err)
		}
		term := newTerminal(w, h)
		lines := bytes.Split(bytes.TrimSpace(cast.Bytes()), []byte("\n"))
		var header struct {
			Version, Width, Height int
			Term                   struct{ Cols, Rows int }
		}
		if err := json.Unmarshal(lines[0], &header); err != nil || header.Version != version || header.Width+header.Term.Cols != w || header.Height+header.Term.Rows != h {
			t.Errorf("header %s (%v)", lines[0], err)
		}
		now, shown, marks := 0.0, 0, 0
		for _, line := range lines[1 : len(lines)-1] {
			var at float64
			var code, data string
			if err := json.Unmarshal(line, &[]any{&at, &code, &data}); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if version == 3 {
				at += now
			}
			now = at
			if code == "m" {
				marks++
				continue
			}
			_, _ = term.WriteString(data)
			want := frames[shown]
			if math.Abs(want.At.Seconds()-now) > 1e-5 || !slices.Equal(cells(term, w, h), drawn(want, w, h)) {
				t.Fatalf("version %d at %g s the terminal shows\n%s\nwant at %v\n%s", version, now, term.String(), want.At, want.Screen)
			}
			shown++
		}
		if shown != len(frames) || marks != 39 {
			t.Errorf("version %d: %d frames of %d; %d marks, want one for the prompt and one for each of 38 rounds", version, shown, len(frames), marks)
		}
		term.end()
	}
}

// asciinema, where it is installed, reads the casts and shows the same.
func TestCastsInAPlayer(t *testing.T) {
	player, err := exec.LookPath("asciinema")
	if err != nil {
		t.Skip("SKIPPED: there is no asciinema (apt-get install asciinema)")
	}
	version, err := exec.Command(player, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	old := bytes.HasPrefix(version, []byte("asciinema 2"))
	writers := []func(film.Film, io.Writer) error{film.Film.Cast2}
	command := []string{"cat"}
	if old {
		t.Logf("%s reads version 2 alone", bytes.TrimSpace(version))
	} else {
		writers, command = append(writers, film.Film.Cast3), []string{"convert", "-", "--output-format", "raw"}
	}
	const w, h = 80, 24
	for _, rounds := range []int{0, 1, 7, 20, -1} {
		f := scripted("dark", w, h, rounds)
		for _, write := range writers {
			var cast bytes.Buffer
			if err := write(f, &cast); err != nil {
				t.Fatal(err)
			}
			term := newTerminal(w, h)
			_, _ = term.Write(played(t, player, command, cast.Bytes()))
			if !slices.Equal(cells(term, w, h), drawn(f.Last(), w, h)) {
				t.Errorf("after %d rounds asciinema shows\n%s\nwant\n%s", rounds, term.String(), f.Last().Screen)
			}
			term.end()
			if !old { // only newer versions of asciinema have a terminal of their own
				text := played(t, player, []string{"convert", "-", "--output-format", "txt"}, cast.Bytes())
				if want := plain(f.Last()); strings.TrimRight(string(text), "\n") != want {
					t.Errorf("after %d rounds asciinema shows\n%s\nwant\n%s", rounds, text, want)
				}
			}
		}
	}
}

// plain returns the text of a frame without spaces at the ends of lines.
func plain(f film.Frame) string {
	var lines []string
	for line := range strings.SplitSeq(ansi.Strip(f.Screen), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// played returns what a command of asciinema prints of a cast. A "-" after its name stands for stdout.
func played(t *testing.T, player string, command []string, cast []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.cast")
	if err := os.WriteFile(path, cast, 0o600); err != nil {
		t.Fatal(err)
	}
	args := slices.Insert(slices.Clone(command), 1, path)
	cat := exec.Command(player, args...)
	cat.Env = append(os.Environ(), "HOME="+t.TempDir())
	var output, errs bytes.Buffer
	cat.Stdout, cat.Stderr = &output, &errs
	tty, err := pty.Start(cat) // asciinema 2 opens /dev/tty, which a machine that runs tests may lack
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := cat.Wait(); err != nil {
		t.Fatalf("asciinema: %v\n%s", err, errs.Bytes())
	}
	return output.Bytes()
}

// An animation ends with the last frame, and shows it for a while even if the film ends when this frame
// appears.
func TestAnimationShowsTheLastFrame(t *testing.T) {
	frame := func(seconds int, text string) film.Frame {
		return film.Frame{At: time.Duration(seconds) * time.Second, Screen: text}
	}
	for name, frames := range map[string][]film.Frame{
		"it changes the screen":        {frame(0, "aaaa"), frame(1, "bbbb"), frame(2, "cccc")},
		"it comes twice":               {frame(0, "aaaa"), frame(1, "bbbb"), frame(2, "cccc"), frame(2, "cccc")},
		"it stays for a time":          {frame(0, "aaaa"), frame(1, "bbbb"), frame(2, "cccc"), frame(5, "cccc")},
		"there is no other":            {frame(0, "cccc")},
		"the one before has no length": {frame(0, "aaaa"), frame(2, "bbbb"), frame(2, "cccc")},
	} {
		var svg strings.Builder
		f := film.Film{W: 4, H: 1, Frames: slices.Values(frames)}
		if err := f.Animation(&svg); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for group := range strings.SplitSeq(svg.String(), "\n") {
			atEnd := !strings.Contains(group, `visibility="hidden"`)
			switch {
			case !strings.HasPrefix(group, "<g"):
			case strings.Contains(group, ">cccc<"):
				if seen++; !atEnd {
					t.Errorf("%s: the last frame is hidden at the end:\n%s", name, group)
				}
			case atEnd:
				t.Errorf("%s: a frame before the last is seen at the end:\n%s", name, group)
			}
		}
		if seen != 1 {
			t.Errorf("%s: the last frame is there %d times, want once:\n%s", name, seen, svg.String())
		}
	}
}
