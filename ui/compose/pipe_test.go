//go:build unix

package compose_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"specula/ui/compose"
)

// Opening a pipe without a writer blocks; this test would then not end.
func TestAHistoryThatIsNoFileDoesNotHoldTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := compose.OpenHistory(path)
	if err == nil || !strings.Contains(err.Error(), "no regular file") || h.Add("x") != nil {
		t.Errorf("error %v; want one that says what is wrong, and a history that goes on in memory", err)
	}
}
