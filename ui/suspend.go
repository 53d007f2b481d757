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
	// awareTime is how long a program waits for its goroutines before it stops. It is also how long
	// a continued program waits for its SIGCONT, and the interval at which it checks who has the
	// terminal.
	awareTime = 20 * time.Millisecond
	// backgroundTime is how long a program that was continued in the background waits for the
	// terminal or for a signal to end. Then it stops again.
	backgroundTime = time.Second
)

// jobs handles the signals of job control. SIGTSTP from outside is not caught: it stops the process
// at once, the keeper restores the terminal, and after SIGCONT the screen is drawn again. (A Go
// program that has once caught SIGTSTP can no longer stop itself with it.)
type jobs struct {
	continues chan os.Signal     // SIGCONT
	resumed   chan struct{}      // SIGCONT while suspended
	forget    chan chan struct{} // asks watchJobs to drop every SIGCONT so far, and then to close the sent channel

	mu        sync.Mutex
	suspended bool // the shell has the terminal, or is about to get it
}

// away reports whether the shell has the terminal.
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

// watchJobs starts a goroutine that handles SIGCONT. After a stop from outside it draws the screen
// again: such a stop comes without warning, so the program could not restore the terminal, and other
// programs have used it since. After a stop by suspend it passes the signal on.
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

// forgetContinues drops every SIGCONT so far. A SIGCONT from before the stop must not end the stop.
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

// suspend returns the command that restores the terminal, stops the process, and takes the terminal
// again after the process was continued.
func (s *signals) suspend() tea.Cmd {
	exec := tea.Exec(suspended{signals: s}, func(error) tea.Msg {
		// Bubble Tea has taken the terminal again and saved its modes. If redraw had made it raw
		// before, Bubble Tea would leave it raw at the end.
		s.jobs.setAway(false)
		return nil
	})
	return func() tea.Msg {
		s.jobs.setAway(true) // before Bubble Tea restores the terminal, so that redraw leaves it alone
		return exec()
	}
}

// redraw takes a terminal again that was restored while the process was stopped, and draws the
// screen. It cannot release the terminal first, as suspend does: Bubble Tea's renderer might then
// stop for ever (see suspended.Run).
func (s *signals) redraw() {
	if !s.foreground() {
		return // another SIGCONT comes when the shell gives the terminal
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
		// Do not use SIGTSTP: the keeper passes it on to this process. If the shell has already
		// continued the job by then, this process would stop again. The keeper ignores SIGTTOU, and
		// stops when its child has stopped.
		stop = syscall.SIGTTOU
	}
	// Bubble Tea has told its renderer's goroutine to end. At its end this goroutine stops the
	// ticker that draws frames. If the process stopped before that, Bubble Tea might start the
	// ticker again first. The goroutine would then stop the new ticker, and no frame would be drawn.
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
// false. If a signal to end comes before, it closes parked and never returns.
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
