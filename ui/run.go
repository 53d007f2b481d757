package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"specula/engine/event"
	"specula/ui/sanitize"
	"specula/ui/stream"
)

// graceTime is how long each step of the way out may take before the next, ruder one: the screen closing by itself, the
// screen being killed, the engine ending its reply.
const graceTime = 2 * time.Second

// Run shows the screen until the user quits, a signal comes or something fails. Whatever happens, the terminal is as it was
// before, the chat is saved, and only then errors are told: a failure to load as it is, a signal as *SignalError, a panic in
// a goroutine of the program as *PanicError with its stack on stderr.
func Run(ctx context.Context, o Options) error {
	o.complete()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &guard{}
	m := newModel(ctx, o, g)
	p := tea.NewProgram(m, programOptions(o)...)
	running, over := context.WithCancel(context.Background()) // until Run returns
	defer over()
	g.alarm = func() { kill(running, p, o) }

	sig := watchSignals(running, p, o)
	_, err := p.Run()
	received := sig.stop()

	err = errors.Join(exitError(err, received), m.close(cancel))
	if caught, stack := g.caught(); caught != nil {
		fmt.Fprintf(o.Stderr, "specula: %v\n\n%s\n", sanitize.Line(caught.Error()), sanitize.Text(string(stack)))
		return caught
	}
	if received == syscall.SIGQUIT {
		fmt.Fprintf(o.Stderr, "%s\n", sanitize.Text(string(sig.stacks)))
	}
	return err
}

func programOptions(o Options) []tea.ProgramOption {
	opts := []tea.ProgramOption{
		tea.WithInput(o.Input), tea.WithOutput(o.Output), tea.WithEnvironment(o.Environ),
		tea.WithoutSignalHandler(), // ours also takes SIGHUP and SIGQUIT
		tea.WithFPS(int(time.Second / stream.FrameInterval)),
	}
	if noColor(o.Color, o.Environ) {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	return opts
}

// close ends everything behind the screen, in order: the reply, the goroutines, the last events, the chat, the engine.
func (m *Model) close(cancel context.CancelFunc) error {
	m.eager = false // a prompt that waits for the models must not become a reply now
	m.stop()
	cancel()
	finished := make(chan struct{})
	go func() { m.guard.running.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(m.options.grace):
		// The engine does not answer. What it has yielded is kept; the engine itself cannot be closed.
		m.drain()
		return errors.Join(m.failure, m.saveNow())
	}
	m.drain()
	err := errors.Join(m.failure, m.saveNow())
	if m.engine != nil {
		err = errors.Join(err, m.engine.Close())
	}
	return err
}

// drain takes the last events in and ends the reply that they leave unfinished: its text is then what its tokens say.
func (m *Model) drain() {
	m.ring.Close()
	events, _ := m.ring.Take()
	for _, e := range events {
		m.apply(e)
	}
	if m.state.Busy() {
		m.state.Apply(event.ReplyEnded{Reason: "cancelled"})
	}
}

// saveNow saves the chat and waits for it.
func (m *Model) saveNow() error {
	if m.options.Chats == nil || m.options.Load == nil || len(m.state.Messages) == 0 || !m.saver.pending() {
		return nil
	}
	c := m.snapshot()
	saved, moved, err := m.saver.write(m.saver.changes, c)
	if moved { // the screen is gone, so it is told here
		fmt.Fprintf(m.options.Stderr, "specula: %v\n", sanitize.Line(renamed{c.ID, saved}.String()))
	}
	return err
}

// exitError turns the way Bubble Tea ended into an error of ours.
func exitError(err error, received os.Signal) error {
	if received != nil {
		return &SignalError{received}
	}
	if errors.Is(err, tea.ErrProgramPanic) {
		return &PanicError{Where: "the screen", Value: "its stack is above"}
	}
	if errors.Is(err, tea.ErrProgramKilled) && errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}

// signals ends the program properly on the signals that ask for it.
type signals struct {
	incoming chan os.Signal
	first    atomic.Value // os.Signal
	stacks   []byte       // of all goroutines, when SIGQUIT came
	done     chan struct{}
}

func watchSignals(running context.Context, p *tea.Program, o Options) *signals {
	s := &signals{incoming: make(chan os.Signal, 1), done: make(chan struct{})}
	signal.Notify(s.incoming, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	go func() {
		defer close(s.done)
		got, ok := <-s.incoming
		if !ok {
			return
		}
		s.first.Store(got)
		if got == syscall.SIGQUIT {
			s.stacks = stacks()
		}
		hurry := time.AfterFunc(o.grace, func() { kill(running, p, o) })
		defer hurry.Stop()
		p.Quit()
		<-s.incoming // a second signal, or the screen has closed and saving begins
		kill(running, p, o)
	}()
	return s
}

// kill ends the screen without asking it. Should even that not end Run in time, because the screen is stuck, the terminal
// takes no more output or the disk does not answer, the process ends here: whoever sent a signal must not be left with a
// process that stays.
func kill(running context.Context, p *tea.Program, o Options) {
	go p.Kill()
	time.AfterFunc(3*o.grace, func() {
		if running.Err() == nil {
			fmt.Fprintf(o.Stderr, "specula: the program does not answer; leaving\n\n%s\n", sanitize.Text(string(stacks())))
			os.Exit(1)
		}
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
	close(s.incoming)
	<-s.done
	got, _ := s.first.Load().(os.Signal)
	return got
}

// lookup returns a variable of an environment, the last one if it is there twice.
func lookup(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}
