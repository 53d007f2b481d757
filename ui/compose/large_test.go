package compose_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"specula/ui/compose"
)

// Only the end of a large history is read, where the newest entries are, from the start of a line.
func TestOfALargeHistoryTheEndIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	old := strings.Repeat("\"old\"\n", 10) + strings.Repeat(" ", 1<<20) + "\"cut\"\n"
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A hole needs no room on the disk, but reading it would take minutes.
	if _, err := f.WriteAt([]byte("\"first\"\n\"second\"\n"), 1<<40); err != nil {
		t.Skipf("no file with a hole can be made here: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := compose.OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	if entry, ok := h.Back(""); !ok || entry != "second" {
		t.Errorf("the newest entry is %q", entry)
	}
	if entry, ok := h.Back(""); ok {
		t.Errorf("an entry that begins before what is read is %q", entry)
	}
}
