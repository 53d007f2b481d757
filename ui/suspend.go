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
	// awareTime is how long a program that is about to stop lets its goroutines end, and how long one that was continued
	// waits for the signal of it, and looks around.
	awareTime = 20 * time.Millisecond
	// backgroundTime is how long a program that was continued in the background waits for what else comes: a signal to
	// end, or the terminal.
	backgroundTime = time.Second
)

// jobs follows the signals of job control. SIGTSTP from outside is not caught: it stops the process at once, the keeper
// restores the terminal, and SIGCONT draws the screen again. (A program in Go that has once caught SIGTSTP could not stop
// itself by it any more.)
type jobs struct {
	continues chan os.Signal     // SIGCONT
	resumed   chan struct{}      // SIGCONT while suspended
	forget    chan chan struct{} // asks watchJobs to drop every SIGCONT so far, and to close the channel that was sent

	mu        sync.Mutex
	suspended bool // the terminal is the shell's, or about to be
}

// away reports whether the terminal was given to the shell.
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

// watchJobs draws the screen again when the program was stopped without having given the terminal back: it was somebody
// else's in between.
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

// forgetContinues drops every SIGCONT so far: one that came before the process stops must not count as the end of the stop.
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

// suspend returns the command that gives the terminal back, stops the process, and takes the terminal again when it is
// continued.
func (s *signals) suspend() tea.Cmd {
	exec := tea.Exec(suspended{signals: s}, func(error) tea.Msg {
		// Only now has Bubble Tea taken the terminal again. Had redraw made it raw before, Bubble Tea would leave it raw at the end.
		s.jobs.setAway(false)
		return nil
	})
	return func() tea.Msg {
		s.jobs.setAway(true) // before Bubble Tea gives the terminal back: from here on, redraw leaves it alone
		return exec()
	}
}

// redraw takes a terminal back that was restored while the process was stopped. Giving it back properly first, as suspend
// does, would not do: Bubble Tea's renderer may then stop for good (see Run).
func (s *signals) redraw() {
	if !s.foreground() {
		return // the next signal to continue comes with the terminal
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
		_, _ = term.MakeRaw(f.Fd()) // Bubble Tea keeps the modes from before the first time
	}
	return true
}

// suspended is what happens between giving the terminal to the shell and taking it again.
type suspended struct{ signals *signals }

// What a program that is run in between would be given.
func (suspended) SetStdin(io.Reader)  {}
func (suspended) SetStdout(io.Writer) {}
func (suspended) SetStderr(io.Writer) {}

// Run stops the process until it is continued with the terminal its own. It does not return when a signal to end comes
// instead.
func (c suspended) Run() error {
	s := c.signals
	j := &s.jobs
	stop := syscall.SIGTSTP
	if s.options.Keeper != nil {
		// The keeper passes a SIGTSTP on to its child. If the shell has continued the job by then, the child stops again. The keeper
		// ignores SIGTTOU, and stops itself when its child has stopped.
		stop = syscall.SIGTTOU
	}
	// Bubble Tea has told its renderer's goroutine to end. The last thing that this goroutine does is to stop the ticker that
	// draws frames. If the process stopped before that, Bubble Tea could start the ticker again first, and the goroutine would
	// then stop it for good.
	time.Sleep(awareTime)
	s.forgetContinues()
	for {
		_ = syscall.Kill(0, stop) // the whole job, as the terminal would
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

// foreground waits for the terminal to be this job's. A signal to end parks the program instead.
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
