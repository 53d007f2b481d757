package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"specula/ui"
	"specula/ui/sanitize"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitRuntime     = 1
	ExitUsage       = 2 // wrong flags, arguments or configuration
	ExitModel       = 3 // a model that cannot be loaded
	ExitDevice      = 4 // no usable device
	ExitInterrupted = 130
	signalBase      = 128 // a program that a signal ended exits with 128 + the signal's number, so SIGINT gives 130
)

// coded is an error with an exit code.
type coded struct {
	code int
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &coded{ExitUsage, fmt.Errorf(format, args...)}
}

// errInterrupted is the error of a command that the user has stopped. Nothing is printed for it.
var errInterrupted = &coded{ExitInterrupted, errors.New("interrupted")}

// interruptible returns a ctx that ends at the first SIGINT or SIGTERM, so that the command can
// keep what it has. A second signal ends the process as usual.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// classify returns an error of a function of Program with its exit code, if it has one of its own. If a
// context was cancelled, the error is errInterrupted.
func (p *Program) classify(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	var ended *ui.SignalError
	if errors.As(err, &ended) {
		if number, ok := ended.Signal.(syscall.Signal); ok {
			return &coded{signalBase + int(number), err}
		}
	}
	if p.ExitCode != nil {
		if code := p.ExitCode(err); code != 0 {
			return &coded{code, err}
		}
	}
	return err
}

// report prints an error and returns the exit code; it prints nothing for an interruption. ran says
// that a command had begun. Before that, an error without an exit code of its own is a usage error.
func report(w io.Writer, err error, ran bool, command string) int {
	if err == nil {
		return ExitOK
	}
	code := ExitRuntime
	if !ran {
		code = ExitUsage
	}
	var known *coded
	if errors.As(err, &known) {
		code = known.code
	}
	if code == ExitInterrupted {
		return code
	}
	for i, line := range strings.Split(sanitize.Text(err.Error()), "\n") {
		prefix := "specula: "
		if i > 0 {
			prefix = "         "
		}
		fmt.Fprintln(w, prefix+line)
	}
	if !ran {
		fmt.Fprintf(w, "Try '%s --help'.\n", command)
	}
	return code
}
