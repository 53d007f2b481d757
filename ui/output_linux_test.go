package ui

import (
	"os/exec"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TestASignalEndsTheProgramIfTheTerminalTakesNoOutput sends a signal to a program whose terminal no
// longer takes what is written to it.
func TestASignalEndsTheProgramIfTheTerminalTakesNoOutput(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := exec.Command(program(t), "--theme", "dark", "--pace", "slow", "--temperature", "2", "--seed", "1")
	cmd.Env = []string{"HOME=" + home}
	x := startProgram(t, 120, 36, cmd)
	x.waitText("Or type a message")
	x.send("hello\r")
	x.waitText("esc stop")
	x.mu.Lock() // nothing is read any more
	for full, before := 0, -1; full < 3; {
		if err := pty.Setsize(x.ptmx, &pty.Winsize{Cols: uint16(200 + full), Rows: 100}); err != nil { // asks for a whole frame
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		waiting, err := unix.IoctlGetInt(int(x.ptmx.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		if full++; waiting != before || waiting == 0 {
			full = 0
		}
		before = waiting
	}
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- x.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the program did not end")
	}
	x.mu.Unlock()
	if code := x.cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	if after := x.state(); !reflect.DeepEqual(after, x.before) {
		t.Errorf("terminal settings before and after:\n%+v\n%+v", x.before, after)
	}
	saved, err := filepath.Glob(filepath.Join(home, "*", "*", "specula", "chats", "*.json")) // .local/share
	if err != nil || len(saved) != 1 {
		t.Errorf("saved chats: %v (%v), want one", saved, err)
	}
}
