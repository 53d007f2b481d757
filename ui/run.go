package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"specula/engine/event"
	"specula/ui/sanitize"
	"specula/ui/stream"
)

// graceTime is how long each step of ending the program may take before the next, harder step. The steps:
// the screen closes itself; it is killed; writing to the terminal is given up; the engine ends its reply.
const graceTime = 2 * time.Second

// stopTime is how long the program waits after it has sent itself the signal that stops it. Without a
// shell that controls jobs, this signal does nothing, and the screen comes back after stopTime.
const stopTime = 100 * time.Millisecond

// Run shows the screen until the user quits, a signal comes or something fails. It restores the terminal
// and saves the chat before it returns. A signal is returned as *SignalError, a panic in a goroutine of the
// program as *PanicError, with its stack on stderr. The error of Options.Load is in the returned error. Run
// returns without saving only if the screen is stuck in an update or the disk does not answer.
func Run(ctx context.Context, o Options) error {
	o.complete()
	stuck := make(chan error, 1)
	ended := make(chan error, 1)
	go func() { ended <- show(ctx, o, stuck) }()
	select {
	case err := <-ended:
		return err
	case err := <-stuck:
		return err
	}
}

// show is Run without a time limit. If the screen is stuck, the error to return goes to stuck.
func show(ctx context.Context, o Options, stuck chan<- error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &guard{}
	m := newModel(ctx, o, g)
	p, out := newProgram(m, o)
	sig := watchSignals(o, p, out, stuck)
	g.alarm = sig.kill
	m.suspend = sig.suspend()

	shown := make(chan error, 1)
	go func() {
		_, err := p.Run()
		shown <- err
	}()
	var err error
	select {
	case err = <-shown:
	case <-sig.parked: // a signal ended the program while it was suspended: the terminal is the shell's
	}
	o.Keeper.Restore()
	received := sig.stop()

	err = errors.Join(exitError(err, received), m.close(cancel))
	sig.end()
	if caught, stack := g.caught(); caught != nil {
		fmt.Fprintf(o.Stderr, "specula: %v\n\n%s\n", sanitize.Line(caught.Error()), sanitize.Text(string(stack)))
		return caught
	}
	if received == syscall.SIGQUIT {
		fmt.Fprintf(o.Stderr, "%s\n", sanitize.Text(string(sig.stacks)))
	}
	return err
}

// newProgram returns the program that shows m, and its output.
func newProgram(m tea.Model, o Options, more ...tea.ProgramOption) (*tea.Program, writer) {
	r := &rest{Model: m}
	out := newOutput(o, r)
	r.program = tea.NewProgram(r, append(programOptions(o, out, r), more...)...)
	return r.program, out
}

func programOptions(o Options, out io.Writer, r *rest) []tea.ProgramOption {
	opts := []tea.ProgramOption{
		tea.WithInput(o.Input), tea.WithOutput(out), tea.WithEnvironment(o.Environ),
		tea.WithoutSignalHandler(), // ours also takes SIGHUP and SIGQUIT
		tea.WithFilter(r.filter),
		tea.WithFPS(int(time.Second / stream.FrameInterval)),
	}
	if noColor(o.Color, o.Environ) {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	return opts
}

// close ends the reply and the goroutines, takes the last events, saves the chat and closes the
// engine, in this order. If the goroutines do not end in time, the engine stays open.
func (m *Model) close(cancel context.CancelFunc) error {
	m.waiting = "" // so that the waiting prompt is not sent now
	m.stop()
	cancel()
	defer m.endRecording()
	finished := make(chan struct{})
	go func() { m.guard.running.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(m.options.grace):
		// The engine does not answer. Keep what it has yielded. It cannot be closed.
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

// drain applies the last events. If they leave a reply unfinished, it ends that reply, so that its
// text is the text of its tokens.
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

// saveNow saves the chat, and returns when it is saved.
func (m *Model) saveNow() error {
	if m.options.Chats == nil || m.options.Load == nil || len(m.state.Messages) == 0 || !m.saver.pending() {
		return nil
	}
	c := m.snapshot()
	saved, moved, err := m.saver.write(m.saver.changes, c)
	if moved { // the screen has closed, so say it here
		fmt.Fprintf(m.options.Stderr, "specula: %v\n", sanitize.Line(renamed{c.ID, saved}.String()))
	}
	return err
}

// exitError converts the error that Bubble Tea ended with. If a signal came before, the signal is
// the error.
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

// lookup returns the value of a variable in an environment; "" if it is not set. If the variable is set
// twice, the last value counts.
func lookup(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}
