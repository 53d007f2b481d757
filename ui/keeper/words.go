//go:build linux || darwin

package keeper

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"time"
)

// maxWords limits how many bytes of the child's stderr are kept. The first bytes are kept, because the
// reason for a failure comes first.
const maxWords = 2 << 20

// words is the text that the child writes to stderr. While the screen is off, it is passed on at once.
// While the screen is on, it is kept, because it would disturb the screen and be lost with it.
type words struct {
	ended chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
	lost int // number of bytes beyond maxWords, which were dropped
}

// hear reads r, the child's stderr, in the background until its end. While onScreen says that the screen is
// on, it keeps the text; otherwise it passes the text on to this process's stderr.
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

// kept returns the kept text. It waits for the end of the child's stderr, at most patience.
func (w *words) kept() string {
	select {
	case <-w.ended:
	case <-time.After(patience): // another process holds the child's stderr open
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost > 0 {
		fmt.Fprintf(&w.text, "\n(%d bytes more were left out)\n", w.lost)
	}
	return w.text.String()
}
