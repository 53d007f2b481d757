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

// signals ends the program after SIGINT, SIGTERM, SIGHUP or SIGQUIT, with the terminal restored and
// the chat saved. It also watches for the signals of job control (jobs).
type signals struct {
	options Options
	program *tea.Program
	out     writer
	stuck   chan<- error
	running context.Context // ends with the program
	end     context.CancelFunc
	killed  sync.Once

	incoming chan os.Signal
	got      chan struct{} // closed when the first signal comes
	first    atomic.Value  // os.Signal
	stacks   []byte        // stacks of all goroutines when SIGQUIT came
	over     chan struct{} // closed when the screen has ended and saving begins
	done     chan struct{} // closed when watch has ended

	jobs   jobs
	parked chan struct{} // closed when a signal ends the program while it is suspended
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

// watch waits for a signal and asks the screen to quit. It kills the screen after a second signal, or
// after the grace time. The second signal must come the same way as the first, because a signal to the
// whole job comes twice: directly and through the keeper.
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
		got = syscall.SIGHUP // without the keeper, this process must restore the terminal
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
	case <-s.over: // saving has begun, and must end in time too
	}
	s.kill()
}

// kill ends the screen without waiting for it. If the program still runs after the grace time, the terminal
// may take no output, and kill gives up writing to it. If it still runs after three grace times, the screen
// is stuck or the disk does not answer, and Run returns with an error. So a signal always ends the process.
func (s *signals) kill() {
	s.killed.Do(func() {
		if !s.jobs.away() { // otherwise the terminal is the shell's, and there is nothing to restore
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

// stacks returns the stacks of all goroutines, up to 1 MiB.
func stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}

// stop ends the watching for signals. It returns the first signal, or nil.
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
