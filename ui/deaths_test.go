//go:build linux || darwin

package ui

import (
	"io"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// TestTheTerminalIsRestoredHoweverAProcessEnds ends the screen's process or the keeper in every way in
// which a process can end. The terminal is as before, and the exit status is right.
func TestTheTerminalIsRestoredHoweverAProcessEnds(t *testing.T) {
	const keeper, child = true, false
	tests := []struct {
		name   string
		to     bool
		signal syscall.Signal
		code   int // -1 if the signal itself ends it
		says   string
	}{
		{"killed", child, syscall.SIGKILL, -1, ""},
		{"aborted", child, syscall.SIGABRT, 2, "SIGABRT: abort"},
		{"segmentation fault", child, syscall.SIGSEGV, 2, "SIGSEGV: segmentation violation"},
		{"bus error", child, syscall.SIGBUS, 2, "SIGBUS: bus error"},
		{"arithmetic error", child, syscall.SIGFPE, 2, "SIGFPE: floating-point exception"},
		{"illegal instruction", child, syscall.SIGILL, 2, "SIGILL: illegal instruction"},
		{"trap", child, syscall.SIGTRAP, 2, "SIGTRAP: trace trap"},
		{"bad system call", child, syscall.SIGSYS, 2, "SIGSYS: bad system call"},
		{"stack overflow", child, syscall.SIGUSR1, 2, "stack overflow"},
		{"out of memory", child, syscall.SIGUSR2, 2, "out of memory"},
		{"terminated", child, syscall.SIGTERM, 143, "ended by signal: terminated"},
		{"hung up", child, syscall.SIGHUP, 129, "ended by signal: hangup"},
		{"the keeper is terminated", keeper, syscall.SIGTERM, 143, "ended by signal: terminated"},
		{"the keeper is interrupted", keeper, syscall.SIGINT, 130, ""},
		{"the keeper is hung up", keeper, syscall.SIGHUP, 129, "ended by signal: hangup"},
		{"the keeper is asked to quit", keeper, syscall.SIGQUIT, 131, "ended by signal: quit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			x := startProgram(t, 120, 36, exec.Command(program(t), "--theme", "dark", "--mouse"))
			x.wait("the screen", x.onScreen)
			pid := x.cmd.Process.Pid
			if tt.to == child {
				pid = childOf(t, x, pid)
			}
			if err := syscall.Kill(pid, tt.signal); err != nil {
				t.Fatal(err)
			}
			code := x.end()
			status := x.cmd.ProcessState.Sys().(syscall.WaitStatus)
			if code != tt.code || code < 0 && status.Signal() != tt.signal {
				t.Errorf("ended with %v, want exit code %d", x.cmd.ProcessState, tt.code)
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			if shown := strings.ReplaceAll(x.scrolled(), "\n", ""); !strings.Contains(shown, tt.says) {
				t.Errorf("the terminal does not say %q but:\n%s", tt.says, shown)
			}
		})
	}
}

// onScreen reports whether the screen has been entered. The caller holds the lock.
func (x *terminal) onScreen() bool { return x.emu.IsAltScreen() }

// shell is a shell with the program in the variable specula, and its prompt.
type shell struct {
	*terminal
	usable *term.State // the terminal's modes at a prompt
}

// startShell runs a shell in a window that answers no queries. An answer that comes after the program
// has stopped would be typed into the shell.
func startShell(t *testing.T) *shell {
	t.Helper()
	cmd := exec.Command("sh", "-i")
	cmd.Env = []string{"PS1=§ ", "ENV=", "specula=" + program(t)}
	x := &shell{terminal: startIn(t, 120, 36, cmd, func(*terminal) io.Writer { return io.Discard })}
	x.wait("the shell", x.prompt)
	x.usable = x.state()
	return x
}

// prompt reports whether the shell shows its prompt. The caller holds the lock.
func (x *shell) prompt() bool {
	return !x.onScreen() && strings.Contains(x.text(0, 0, x.w, x.h), "§ ")
}

// screen runs a command and waits for the screen.
func (x *shell) screen(command string) {
	x.t.Helper()
	x.send(command + "\r")
	x.wait("the screen after "+command, func() bool {
		return x.onScreen() && strings.Contains(x.text(0, 0, x.w, x.h), "commands") // the last line is drawn last
	})
}

// back waits until the shell has the terminal, with the shell's modes.
func (x *shell) back(after string) {
	x.t.Helper()
	for !x.inForeground() {
		if x.overdue() {
			x.t.Fatalf("%s: the terminal is not the shell's", after)
		}
		time.Sleep(time.Millisecond)
	}
	// A frame may still be drawn after the program has stopped. The keeper undoes it.
	x.wait("the shell after "+after, func() bool { return !x.onScreen() && len(x.unusual()) == 0 })
	for now := x.state(); !reflect.DeepEqual(now, x.usable); now = x.state() {
		if x.overdue() {
			x.t.Fatalf("%s: terminal settings %+v, want %+v", after, now, x.usable)
		}
		time.Sleep(time.Millisecond)
	}
}

// inForeground reports whether the shell has the terminal.
func (x *shell) inForeground() bool {
	group, err := unix.IoctlGetInt(int(x.ptmx.Fd()), unix.TIOCGPGRP)
	return err == nil && group == x.cmd.Process.Pid
}

// children returns the process ids of the keeper and of the screen.
func (x *shell) children() (keeper, child int) {
	keeper = childOf(x.t, x.terminal, x.cmd.Process.Pid)
	return keeper, childOf(x.t, x.terminal, keeper)
}

func (x *shell) leave() {
	x.t.Helper()
	x.send("exit 0\r")
	if code := x.end(); code != 0 {
		x.t.Errorf("exit code %d of the shell, want 0", code)
	}
}

// TestAShellStopsAndContinuesTheProgram stops the program in every way. The shell always gets a usable
// terminal, and the screen comes back.
func TestAShellStopsAndContinuesTheProgram(t *testing.T) {
	t.Parallel()
	x := startShell(t)
	x.screen("$specula --theme dark --mouse")
	keeper, child := x.children()
	for _, stop := range []struct {
		name   string
		pid    int // 0: ctrl+z is typed
		signal syscall.Signal
	}{
		{"ctrl+z", 0, 0},
		{"SIGTSTP to the keeper", keeper, syscall.SIGTSTP},
		{"SIGTSTP to the child", child, syscall.SIGTSTP},
		{"SIGSTOP to the child", child, syscall.SIGSTOP},
		{"ctrl+z again", 0, 0},
	} {
		if stop.pid == 0 {
			x.send("\x1a")
		} else if err := syscall.Kill(stop.pid, stop.signal); err != nil {
			t.Fatal(err)
		}
		x.back(stop.name)
		x.screen("fg")
		if reflect.DeepEqual(x.state(), x.usable) {
			t.Errorf("%s: the terminal is not raw on the screen", stop.name)
		}
	}

	// A signal ends the program while it is suspended. The program must not touch the shell's terminal.
	x.send("\x1a")
	x.back("ctrl+z")
	x.send("kill -TERM %1; kill -CONT %1\r")
	x.waitText("ended by signal: terminated")
	x.back("a suspended program that ends")
}

// TestSuspendedWhileItTakesTheTerminalBack suspends a program that was just continued and is about to
// take the terminal. On a busy machine the shell once lost the terminal, or the screen stood still, in
// one of ten runs.
func TestSuspendedWhileItTakesTheTerminalBack(t *testing.T) {
	t.Parallel()
	x := startShell(t)
	x.screen("$specula --theme dark --mouse")
	_, child := x.children()
	for range 20 {
		if err := syscall.Kill(child, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		x.send("\x1a")
		x.back("ctrl+z")
		x.screen("fg")
	}
	x.send("\x1a")
	x.back("ctrl+z")
	x.send("kill -TERM %1; kill -CONT %1\r")
	x.waitText("ended by signal: terminated")
}

// TestAShellAfterAKilledProgram kills one of the two processes. The shell gets a usable terminal.
func TestAShellAfterAKilledProgram(t *testing.T) {
	for _, name := range []string{"keeper", "child"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := startShell(t)
			x.screen("$specula --theme dark --mouse")
			pid, child := x.children()
			if name == "child" {
				pid = child
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			x.back("the " + name + " was killed")
			x.send("echo code $?\r")
			x.waitText("code 137")
			x.leave()
		})
	}
}

// checkModes fails if modes of the screen are still set. The caller holds the lock.
func (x *terminal) checkModes() {
	x.t.Helper()
	if x.emu.IsAltScreen() {
		x.t.Error("the alternate screen was left on")
	}
	for _, m := range x.unusual() {
		x.t.Errorf("mode %v was left %v", m, x.modes[m])
	}
}

// unusual returns the modes that differ from what a shell expects. The caller holds the lock.
func (x *terminal) unusual() []ansi.Mode {
	var list []ansi.Mode
	for m, on := range x.modes {
		if usual := m == ansi.ModeTextCursorEnable || m == ansi.ModeAutoWrap; on != usual {
			list = append(list, m)
		}
	}
	return list
}
