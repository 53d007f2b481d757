//go:build unix

package constrain

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// To read a pipe could wait for a writer for ever.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := ReadText("@" + pipe)
		answer <- err
	}()
	select {
	case err := <-answer:
		if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
			t.Errorf("a pipe: error %v, want that it is not a regular file", err)
		}
	case <-time.After(20 * time.Second): // only a failing test waits so long
		t.Error("reading a pipe waits for a writer")
		if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = w.Close() // releases the reader
		}
		<-answer
	}
}
