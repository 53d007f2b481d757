package ui

import (
	"runtime/debug"
	"sync"
)

// guard starts goroutines and recovers their panics. Without it, a panic would end the process and
// leave the terminal in raw mode, on the alternate screen, with the mouse captured. At the first panic,
// guard keeps the panic and calls alarm.
type guard struct {
	running sync.WaitGroup
	alarm   func() // called once, on the goroutine that panicked first; may be nil

	mu    sync.Mutex
	first *PanicError
	stack []byte
}

// Go runs f in a guarded goroutine. where names the goroutine in the error.
func (g *guard) Go(where string, f func()) {
	g.running.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				g.keep(where, v, debug.Stack())
			}
		}()
		f()
	})
}

func (g *guard) keep(where string, value any, stack []byte) {
	g.mu.Lock()
	first := g.first == nil
	if first {
		g.first, g.stack = &PanicError{Where: where, Value: value}, stack
	}
	g.mu.Unlock()
	if first && g.alarm != nil {
		g.alarm()
	}
}

// caught returns the first panic and its stack; nil if there was none.
func (g *guard) caught() (*PanicError, []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first, g.stack
}
