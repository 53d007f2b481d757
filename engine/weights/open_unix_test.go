//go:build unix

package weights

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenSpecialFiles: opening any of these files could block or never end; the test would then
// hang.
func TestOpenSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, c := range []struct{ path, message string }{
		{pipe, "is a named pipe, allowed are regular files"},
		{socket, "is a socket"},
		{"/dev/zero", "is a device"},
		{"/dev/null", "is a device"},
	} {
		if _, err := Open(context.Background(), c.path, nil); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("got %v, want %q", err, c.message)
		}
	}
}
