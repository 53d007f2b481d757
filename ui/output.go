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

// output is the terminal as the screen writes to it. It tells the keeper when the screen is on, and it can be given up:
// a terminal that takes no output would otherwise hold whoever writes to it for ever, and with it the way out.
type output struct {
	io.Writer
	keeper *keeper.Link

	once    sync.Once
	givenUp chan struct{}
}

// file is output that Bubble Tea knows as a terminal.
type file struct {
	term.File
	out *output
}

// writer is either of them.
type writer interface {
	io.Writer
	giveUp()
}

func newOutput(o Options) writer {
	out := &output{Writer: o.Output, keeper: o.Keeper, givenUp: make(chan struct{})}
	if f, ok := o.Output.(term.File); ok {
		return file{f, out}
	}
	return out
}

func (f file) Write(p []byte) (int, error) { return f.out.Write(p) }
func (f file) giveUp()                     { f.out.giveUp() }

// errGivenUp says that the terminal took no output for too long.
var errGivenUp = errors.New("the terminal takes no output")

// Write writes p, or returns when the terminal was given up.
func (o *output) Write(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	if bytes.Contains(p, []byte(ansi.SetModeAltScreenSaveCursor)) {
		o.keeper.Entered()
	}
	done := make(chan result, 1)
	data := bytes.Clone(p) // the caller may use p again while a write that was given up still waits
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
		return r.n, r.err
	case <-o.givenUp:
		return 0, errGivenUp
	}
}

// giveUp ends every write, those to come too.
func (o *output) giveUp() { o.once.Do(func() { close(o.givenUp) }) }
