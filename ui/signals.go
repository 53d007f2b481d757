package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/ui/sanitize"
)

// signals ends the program properly on the signals that ask for it, and stops it on those that ask for that.
type signals struct {
	options Options
	program *tea.Program
	out     writer
	stuck   chan<- error
	running context.Context // ends with the program
	end     context.CancelFunc
	killed  sync.Once

	incoming chan os.Signal
	got      chan struct{} // closed with the first of them
	first    atomic.Value  // os.Signal
	stacks   []byte        // of all goroutines, when SIGQUIT came
	over     chan struct{} // closed when the screen has closed and saving begins
	done     chan struct{}

	jobs   jobs
	parked chan struct{} // closed when the program ends without having come back from being stopped
}

func watchSignals(o Options, p *tea.Program, out writer, stuck chan<- error) *signals {
	s := &signals{
		options: o, program: p, out: out, stuck: stuck,
		incoming: make(chan os.Signal, 1), got: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{}),
		parked: make(chan struct{}),
	}
	s.running, s.end = context.WithCancel(context.Background())
	signal.Notify(s.incoming, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	s.watchJobs()
	go s.watch()
	return s
}

// watch waits for a signal to end, and for a second one that came the same way: a signal to the whole job comes from the
// keeper, too.
func (s *signals) watch() {
	defer close(s.done)
	var got os.Signal
	var same <-chan os.Signal
	select {
	case got = <-s.incoming:
		same = s.incoming
	case got = <-s.options.Keeper.Signals():
		same = s.options.Keeper.Signals()
	case <-s.options.Keeper.Gone():
		got = syscall.SIGHUP // nobody restores the terminal any more if this process does not
	case <-s.over:
		return
	}
	s.first.Store(got)
	close(s.got)
	if got == syscall.SIGQUIT {
		s.stacks = stacks()
	}
	hurry := time.AfterFunc(s.options.grace, s.kill)
	defer hurry.Stop()
	go s.program.Quit() // waits for the screen, which may be suspended
	select {
	case <-same:
	case <-s.over: // saving begins; it must end, too
	}
	s.kill()
}

// kill ends the screen without asking it. If that does not help because the terminal takes no output, the terminal is
// given up. If even that does not help, because the screen is stuck or the disk does not answer, Run returns: whoever sent a
// signal must not be left with a process that stays.
func (s *signals) kill() {
	s.killed.Do(func() {
		if !s.jobs.away() { // else the terminal is the shell's, and nothing is left to restore
			go s.program.Kill()
		}
		time.AfterFunc(s.options.grace, s.out.giveUp)
		time.AfterFunc(3*s.options.grace, func() {
			if s.running.Err() != nil {
				return
			}
			fmt.Fprintf(s.options.Stderr, "specula: the program does not answer; leaving\n\n%s\n", sanitize.Text(string(stacks())))
			err := errors.New("the screen was stuck")
			if got := s.received(); got != nil {
				err = &SignalError{got}
			}
			s.stuck <- err
		})
	})
}

// stacks are those of all goroutines.
func stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}

// stop ends watching and returns the signal that came, or nil.
func (s *signals) stop() os.Signal {
	signal.Stop(s.incoming)
	close(s.over)
	<-s.done
	return s.received()
}

func (s *signals) received() os.Signal {
	got, _ := s.first.Load().(os.Signal)
	return got
}
