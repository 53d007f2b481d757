package ui

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"specula/ui/keeper"
)

// output writes to the terminal, and tells the keeper when the screen is entered and left. giveUp ends
// writes that block, so that a terminal that takes no output cannot keep the program from ending.
type output struct {
	io.Writer
	keeper *keeper.Link
	rest   *rest

	once    sync.Once
	givenUp chan struct{}
}

// file is an output that Bubble Tea recognises as a terminal.
type file struct {
	term.File
	out *output
}

// writer is what newOutput returns: an output, or a file that writes to one.
type writer interface {
	io.Writer
	giveUp()
}

func newOutput(o Options, r *rest) writer {
	out := &output{Writer: o.Output, keeper: o.Keeper, rest: r, givenUp: make(chan struct{})}
	if f, ok := o.Output.(term.File); ok {
		return file{f, out}
	}
	return out
}

func (f file) Write(p []byte) (int, error) { return f.out.Write(p) }
func (f file) giveUp()                     { f.out.giveUp() }

// errGivenUp says that the terminal took no output for too long.
var errGivenUp = errors.New("the terminal takes no output")

// Write writes p. After giveUp it returns errGivenUp.
func (o *output) Write(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	if bytes.Contains(p, []byte(ansi.SetModeAltScreenSaveCursor)) {
		o.keeper.Entered()
	}
	text := o.rest.written(p)
	if len(text) == 0 {
		return len(p), nil
	}
	done := make(chan result, 1)
	data := bytes.Clone(text) // the caller may reuse p while a write that was given up still blocks
	select {
	case <-o.givenUp:
		return 0, errGivenUp
	default:
	}
	go func() {
		n, err := o.Writer.Write(data)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		if r.err == nil && bytes.Contains(p, []byte(ansi.ResetModeAltScreenSaveCursor)) {
			o.keeper.Left()
		}
		return len(p) - len(text) + r.n, r.err
	case <-o.givenUp:
		return 0, errGivenUp
	}
}

// giveUp makes every current and later write return errGivenUp.
func (o *output) giveUp() { o.once.Do(func() { close(o.givenUp) }) }
