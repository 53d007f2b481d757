package ui

import (
	"runtime/debug"
	"sync"
)

// guard starts goroutines that cannot take the terminal with them: a panic in one of them would end the process in raw
// mode, on the alternate screen, with the mouse captured. Here it is kept, and whoever owns the terminal is told.
type guard struct {
	running sync.WaitGroup
	alarm   func() // called once, from the goroutine that panicked

	mu    sync.Mutex
	first *PanicError
	stack []byte
}

// Go runs f in a guarded goroutine. Where names it in the report.
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

// caught returns the first panic and its stack, or nil.
func (g *guard) caught() (*PanicError, []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first, g.stack
}
