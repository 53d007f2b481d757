//go:build linux || darwin

package keeper

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// maxWords bounds what is kept of the child's stderr. The reason of a failure comes first.
const maxWords = 2 << 20

// words are what the child writes to stderr. They are passed on at once, but kept while the screen is on: there they
// would disturb it and be lost with it.
type words struct {
	ended chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
	lost int // bytes
}

// hear reads until the child has ended.
func hear(r *os.File, onScreen func() bool) *words {
	w := &words{ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		buf := make([]byte, 8<<10)
		for {
			n, err := r.Read(buf)
			switch {
			case n > 0 && onScreen():
				w.keep(buf[:n])
			case n > 0:
				_, _ = os.Stderr.Write(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return w
}

func (w *words) keep(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(p), maxWords-w.text.Len())
	w.text.Write(p[:n])
	w.lost += len(p) - n
}

// kept returns what was kept, when the child has ended.
func (w *words) kept() string {
	select {
	case <-w.ended:
	case <-time.After(patience): // something else has the child's stderr
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost > 0 {
		fmt.Fprintf(&w.text, "\n(%d bytes more were left out)\n", w.lost)
	}
	return w.text.String()
}
