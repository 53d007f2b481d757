//go:build linux || darwin

package ui

import (
	"context"
	"reflect"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// jobsOf returns the signals of a program that runs until the test ends.
func jobsOf(t *testing.T, o Options) *signals {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	s := &signals{options: o, running: ctx, end: end}
	s.watchJobs()
	return s
}

func TestASuspendedProgramLeavesTheTerminalAlone(t *testing.T) {
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ptmx.Close()
	defer tty.Close()
	modes := func() *term.State {
		state, err := term.GetState(tty.Fd())
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	s, usable := jobsOf(t, Options{Input: tty}), modes()
	s.suspend()() // Bubble Tea gives the terminal back when it gets the message of this command
	if s.takeBack() || !reflect.DeepEqual(modes(), usable) {
		t.Error("a suspended program took the terminal")
	}
	s.jobs.setAway(false)
	if !s.takeBack() || reflect.DeepEqual(modes(), usable) {
		t.Error("a program that is not suspended did not make the terminal raw")
	}
}

func TestASignalToContinueFromBeforeTheStopIsForgotten(t *testing.T) {
	s := jobsOf(t, Options{})
	s.jobs.setAway(true)
	s.jobs.resumed <- struct{}{}
	s.jobs.continues <- syscall.SIGCONT
	s.forgetContinues()
	if len(s.jobs.continues)+len(s.jobs.resumed) > 0 {
		t.Error("it would end the next stop")
	}
}
