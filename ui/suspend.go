//go:build linux || darwin

package ui

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"specula/ui/keeper"
)

const (
	// awareTime is how long the program waits for Bubble Tea's renderer before the program stops itself, and
	// for SIGCONT after it was continued. It is also the time between two checks of who has the terminal.
	awareTime = 20 * time.Millisecond
	// backgroundTime is how long the program, continued in the background, waits for the terminal or for
	// a signal that ends the program. Then it stops again.
	backgroundTime = time.Second
)

// jobs is what the program knows of job control: SIGCONT, and who has the terminal. SIGTSTP from outside
// is not caught: it stops the process at once, the keeper restores the terminal, and after SIGCONT the
// screen is drawn again. (A Go program that has once caught SIGTSTP can no longer stop itself with it.)
type jobs struct {
	continues chan os.Signal     // SIGCONT
	resumed   chan struct{}      // SIGCONT while suspended
	forget    chan chan struct{} // asks watchJobs to drop every SIGCONT so far, and then to close the sent channel

	mu        sync.Mutex
	suspended bool // the shell has the terminal, or is about to get it
}

// away reports whether the shell has the terminal, or is about to get it.
func (j *jobs) away() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.suspended
}

func (j *jobs) setAway(away bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.suspended = away
}

// watchJobs starts a goroutine that waits for SIGCONT. After a stop by suspend, the goroutine tells
// suspended.Run of the signal. After a stop from outside, it takes the terminal again and draws the screen,
// because other programs have used the terminal meanwhile.
func (s *signals) watchJobs() {
	j := &s.jobs
	j.continues, j.resumed, j.forget = make(chan os.Signal, 1), make(chan struct{}, 1), make(chan chan struct{})
	signal.Notify(j.continues, syscall.SIGCONT)
	go func() {
		defer signal.Stop(j.continues)
		for {
			select {
			case <-s.running.Done():
				return
			case done := <-j.forget:
				drain(j.continues)
				drain(j.resumed)
				close(done)
			case <-j.continues:
				if !j.away() {
					go s.redraw()
					continue
				}
				select {
				case j.resumed <- struct{}{}:
				default:
				}
			}
		}
	}()
}

// forgetContinues drops every SIGCONT so far: a SIGCONT from before a stop must not end that stop.
func (s *signals) forgetContinues() {
	done := make(chan struct{})
	select {
	case s.jobs.forget <- done:
		<-done
	case <-s.running.Done():
	}
}

// drain empties a channel that holds one value at most.
func drain[T any](c <-chan T) {
	select {
	case <-c:
	default:
	}
}

// suspend returns the command that restores the terminal and stops the process. Once continued, it takes
// the terminal again.
func (s *signals) suspend() tea.Cmd {
	exec := tea.Exec(suspended{signals: s}, func(error) tea.Msg {
		// Only now may redraw make the terminal raw: Bubble Tea has saved the terminal's modes, which
		// it restores at the end.
		s.jobs.setAway(false)
		return nil
	})
	return func() tea.Msg {
		s.jobs.setAway(true) // before Bubble Tea restores the terminal, so that redraw leaves it alone
		return exec()
	}
}

// redraw takes the terminal again, which was restored while the process was stopped, and draws the screen.
// It does not release the terminal first, as suspend does, because Bubble Tea's renderer might then stop
// for ever (see suspended.Run).
func (s *signals) redraw() {
	if !s.foreground() {
		return // another SIGCONT comes when the shell gives the terminal to this job
	}
	if s.takeBack() {
		s.program.Send(redrawMsg{})
	}
}

// takeBack makes the terminal raw, unless the user has suspended the program meanwhile.
func (s *signals) takeBack() bool {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	if s.jobs.suspended {
		return false
	}
	if f, ok := s.options.Input.(term.File); ok {
		_, _ = term.MakeRaw(f.Fd()) // Bubble Tea restores the modes that it saved at the start
	}
	return true
}

// suspended stops the process while the shell has the terminal. It is a tea.ExecCommand.
type suspended struct{ signals *signals }

// tea.ExecCommand requires these methods for commands that read and write. suspended does neither.
func (suspended) SetStdin(io.Reader)  {}
func (suspended) SetStdout(io.Writer) {}
func (suspended) SetStderr(io.Writer) {}

// Run stops the process until it is continued in the foreground. If a signal that ends the
// program comes first, Run closes parked and never returns.
func (c suspended) Run() error {
	s := c.signals
	j := &s.jobs
	stop := syscall.SIGTSTP
	if s.options.Keeper != nil {
		// Do not use SIGTSTP: the keeper passes it on to this process, which would stop again if the
		// shell had continued the job by then. The keeper ignores SIGTTOU, and stops when its child
		// has stopped.
		stop = syscall.SIGTTOU
	}
	// Bubble Tea has told the goroutine of its renderer to end. When that goroutine ends, it stops
	// the ticker that draws frames. Wait until it has ended: after the process was continued,
	// Bubble Tea starts the ticker anew, and a stop that came so late would leave a screen without
	// frames.
	time.Sleep(awareTime)
	s.forgetContinues()
	for {
		_ = syscall.Kill(0, stop) // the whole job, as ctrl+z does
		select {
		case <-j.resumed:
		case <-time.After(s.options.stopTime):
			select {
			case <-j.resumed:
			case <-time.After(awareTime):
			}
		}
		if s.foreground() {
			return nil
		}
	}
}

// foreground waits until this job has the terminal, and returns true. After backgroundTime it returns
// false. If a signal that ends the program comes first, it closes parked and never returns.
func (s *signals) foreground() bool {
	late := time.After(backgroundTime)
	for {
		select {
		case <-s.got:
			close(s.parked)
			select {}
		default:
		}
		if keeper.Foreground() {
			return true
		}
		select {
		case <-late:
			return false
		case <-s.got:
		case <-time.After(awareTime):
		}
	}
}
