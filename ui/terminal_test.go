//go:build linux || darwin

package ui

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// terminal is a pseudo-terminal in which the screen helper runs. An emulator reads its output.
type terminal struct {
	t      *testing.T
	w, h   int
	cmd    *exec.Cmd
	ptmx   *os.File
	tty    *os.File
	before *term.State
	read   chan struct{} // closed when the helper's last output is in the emulator

	mu      sync.Mutex // guards everything below; the emulator's lock does not cover reading the screen
	drawn   *sync.Cond
	emu     *vt.Emulator
	modes   map[ansi.Mode]bool // as last set or reset
	expired bool
}

// startTerminal runs the screen helper with a script in a window of w×h cells.
func startTerminal(t *testing.T, w, h int, script string, env ...string) *terminal {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append([]string{helperVariable + "=" + script}, env...)
	return startProgram(t, w, h, cmd)
}

// startProgram runs a program in a window of w×h cells that answers queries.
func startProgram(t *testing.T, w, h int, cmd *exec.Cmd) *terminal {
	t.Helper()
	return startIn(t, w, h, cmd, func(x *terminal) io.Writer { return x.ptmx })
}

// startIn runs a program in a window whose answers go to a writer.
func startIn(t *testing.T, w, h int, cmd *exec.Cmd, answers func(*terminal) io.Writer) *terminal {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatalf("opening a pseudo-terminal: %v", err)
	}
	x := &terminal{t: t, w: w, h: h, ptmx: ptmx, tty: tty, emu: vt.NewEmulator(w, h), modes: map[ansi.Mode]bool{}, read: make(chan struct{})}
	x.drawn = sync.NewCond(&x.mu)
	x.emu.SetCallbacks(vt.Callbacks{
		// The terminal has one set of modes, with the cursor's visibility. The emulator keeps one per
		// screen.
		EnableMode:  func(m ansi.Mode) { x.modes[m] = true },
		DisableMode: func(m ansi.Mode) { x.modes[m] = false },
	})
	if err := pty.Setsize(ptmx, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		t.Fatal(err)
	}
	x.before = x.state()
	x.cmd = cmd
	x.cmd.Env = append([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "HOME=" + t.TempDir()}, cmd.Env...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = tty, tty, tty
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go x.feed()
	answered := make(chan struct{})
	go func() { defer close(answered); _, _ = io.Copy(answers(x), x.emu) }()
	alarm := time.AfterFunc(patience, func() {
		x.mu.Lock()
		x.expired = true
		x.mu.Unlock()
		x.drawn.Broadcast()
	})
	t.Cleanup(func() {
		alarm.Stop()
		_ = x.cmd.Process.Kill()
		_ = x.tty.Close()
		_ = x.ptmx.Close()
		_ = x.emu.InputPipe().(io.Closer).Close() // Emulator.Close would race with its own Read
		<-answered
	})
	return x
}

// feed draws what the helper writes.
func (x *terminal) feed() {
	defer close(x.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := x.ptmx.Read(buf)
		x.mu.Lock()
		_, _ = x.emu.Write(buf[:n])
		x.mu.Unlock()
		x.drawn.Broadcast()
		if err != nil {
			return
		}
	}
}

// state returns the terminal's modes, such as raw or echo.
func (x *terminal) state() *term.State {
	x.t.Helper()
	got, err := term.GetState(int(x.tty.Fd()))
	if err != nil {
		x.t.Fatal(err)
	}
	return got
}

// send types keys.
func (x *terminal) send(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.ptmx, keys); err != nil {
		x.t.Fatal(err)
	}
}

// wait waits until a condition holds.
func (x *terminal) wait(what string, ok func() bool) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	for !ok() {
		if x.expired {
			x.t.Fatalf("waited in vain for %s; the screen shows:\n%s", what, x.text(0, 0, x.w, x.h))
		}
		x.drawn.Wait()
	}
}

func (x *terminal) waitText(text string) {
	x.t.Helper()
	x.wait(fmt.Sprintf("%q", text), func() bool { return strings.Contains(x.text(0, 0, x.w, x.h), text) })
}

// overdue reports whether the test has waited too long.
func (x *terminal) overdue() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.expired
}

// text returns the text in a rectangle of the screen. The caller holds the lock.
func (x *terminal) text(left, top, right, bottom int) string {
	var sb strings.Builder
	for row := top; row < bottom; row++ {
		for col := left; col < right; col++ {
			if c := x.emu.CellAt(col, row); c != nil && c.Width > 0 {
				sb.WriteString(c.Content)
			} else if c == nil || c.Content == "" && c.Width == 0 {
				continue
			}
		}
		sb.WriteString("\n")
	}
	return sb.String()
}

// cells reports whether some cell of a rectangle fulfils a condition.
func (x *terminal) cells(left, top, right, bottom int, like func(*uv.Cell) bool) bool {
	for row := top; row < bottom; row++ {
		for col := left; col < right; col++ {
			if c := x.emu.CellAt(col, row); c != nil && strings.TrimSpace(c.Content) != "" && like(c) {
				return true
			}
		}
	}
	return false
}

func coloured(c *uv.Cell, rgb uint32) bool {
	if c.Style.Fg == nil {
		return false
	}
	r, g, b, _ := color.NRGBAModel.Convert(c.Style.Fg).(color.NRGBA).RGBA()
	return r>>8<<16|g>>8<<8|b>>8 == rgb
}

func struck(c *uv.Cell) bool { return c.Style.Attrs&uv.AttrStrikethrough != 0 }

// end waits for the helper to exit and checks that the terminal is as before. It returns the exit code.
func (x *terminal) end() int {
	x.t.Helper()
	exited := make(chan error, 1)
	go func() { exited <- x.cmd.Wait() }()
	select {
	case err := <-exited:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			x.t.Fatal(err)
		}
	case <-time.After(patience):
		x.t.Fatal("the program did not end")
	}
	if after := x.state(); !reflect.DeepEqual(after, x.before) {
		x.t.Errorf("terminal settings before and after:\n%+v\n%+v", x.before, after)
	}
	_ = x.tty.Close() // ends the reader
	<-x.read
	x.mu.Lock()
	defer x.mu.Unlock()
	x.checkModes()
	return x.cmd.ProcessState.ExitCode()
}

const (
	dark120 = "theme=dark pace=slow rounds-per-second=20 rounds=10000"
	altUp   = "\x1b[1;3A"
	altRght = "\x1b[1;3C"
	left    = "\x1b[D"
	esc     = "\x1b"
	ctrlC   = "\x03"
)

// TestTheTerminalIsRestored ends the program in every way, during a reply and with the mouse captured.
func TestTheTerminalIsRestored(t *testing.T) {
	tests := []struct {
		name   string
		script string
		end    func(x *terminal)
		code   int
		says   string // on the screen afterwards
		saved  bool
	}{
		{"quit", "", func(x *terminal) { x.send(ctrlC); x.waitText("tab tokens"); x.send("\x04") }, 0, "", true},
		{"SIGINT", "", signalled(syscall.SIGINT), 3, "ended by signal: interrupt", true},
		{"SIGTERM", "", signalled(syscall.SIGTERM), 3, "ended by signal: terminated", true},
		{"SIGHUP", "", signalled(syscall.SIGHUP), 3, "ended by signal: hangup", true},
		{"SIGQUIT", "", signalled(syscall.SIGQUIT), 3, "ended by signal: quit", true},
		{"panic of the engine", "panic=8", func(*terminal) {}, 1, "internal error in the engine: the scripted engine was told to panic", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			x := startTerminal(t, 100, 24, fmt.Sprintf("%s mouse=true chats=%s %s", dark120, dir, tt.script))
			x.waitText("type a message")
			x.send("hello\r")
			x.waitText("Speculative decoding")
			tt.end(x)
			if code := x.end(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			x.mu.Lock()
			shown := strings.ReplaceAll(x.scrolled(), "\n", "")
			x.mu.Unlock()
			if !strings.Contains(shown, tt.says) {
				t.Errorf("the terminal does not say %q but:\n%s", tt.says, shown)
			}
			if tt.saved {
				checkSaved(t, dir)
			}
		})
	}
}

// TestSuspendAndResize suspends and continues the program. Then it makes the window tiny and large
// again.
func TestSuspendAndResize(t *testing.T) {
	x := startTerminal(t, 120, 36, dark120)
	x.waitText("type a message")
	x.send("\x1a") // ctrl+z
	x.wait("the shell's screen", func() bool { return !x.emu.IsAltScreen() && x.modes[ansi.ModeTextCursorEnable] })
	for now := x.state(); !reflect.DeepEqual(now, x.before); now = x.state() {
		if x.overdue() {
			t.Fatalf("suspended with terminal settings %+v, want %+v", now, x.before)
		}
	}
	// The helper has no shell that would stop it. It listens for SIGCONT shortly after it has restored
	// the terminal.
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for resumed := false; !resumed; <-again.C {
		signalled(syscall.SIGCONT)(x)
		x.mu.Lock()
		resumed = x.emu.IsAltScreen() || x.expired
		x.mu.Unlock()
	}
	x.waitText("type a message")
	for _, size := range []struct {
		w, h  int
		shows string
	}{{30, 6, "specula needs 40×10"}, {40, 10, "Press tab"}, {1, 1, ""}, {300, 80, "by place in the draft"}} {
		x.resize(size.w, size.h)
		x.waitText(size.shows)
	}
	x.send("\x04")
	if code := x.end(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func (x *terminal) resize(w, h int) {
	x.t.Helper()
	x.mu.Lock()
	x.w, x.h = w, h
	x.emu.Resize(w, h)
	x.mu.Unlock()
	if err := pty.Setsize(x.ptmx, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		x.t.Fatal(err)
	}
}

// TestAStuckScreenStillObeysSignals sends a signal to a program whose screen hangs in an update. The
// terminal is restored as far as possible without the screen, and the process ends.
func TestAStuckScreenStillObeysSignals(t *testing.T) {
	x := startTerminal(t, 100, 24, "theme=dark pace=full rounds=3 hang=1 mouse=true chats="+t.TempDir())
	x.waitText("type a message")
	x.send("hello\r") // the reply ends, the chat is saved, the clock hangs
	x.waitText("esc stop")
	signalled(syscall.SIGTERM)(x)
	if code := x.end(); code != 3 {
		t.Errorf("exit code %d, want 3, that of a signal", code)
	}
}

// scrolled returns the lines that were scrolled off and the screen. The caller holds the lock.
func (x *terminal) scrolled() string {
	var sb strings.Builder
	for row := range x.emu.ScrollbackLen() {
		for col := range x.w {
			if c := x.emu.ScrollbackCellAt(col, row); c != nil {
				sb.WriteString(c.Content)
			}
		}
		sb.WriteString("\n")
	}
	return sb.String() + x.text(0, 0, x.w, x.h)
}

func signalled(s syscall.Signal) func(*terminal) {
	return func(x *terminal) {
		if err := x.cmd.Process.Signal(s); err != nil {
			x.t.Fatal(err)
		}
	}
}
