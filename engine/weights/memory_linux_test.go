package weights

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// Where the system was asked for large pages, it makes large pages of small ones again, and discarded memory would
// come back. So the part that is discarded is no longer asked for in large pages.
func TestDiscardedMemoryIsNotAskedForInLargePages(t *testing.T) {
	const size = 16 << 20
	data := make([]byte, size)
	inLargePages(data)
	for i := range data {
		data[i] = 1
	}
	discard(data, size/2+1, size)
	for at, want := range map[int]bool{size / 4: true, size/2 + 8192: false} {
		if flags := mappingFlags(t, &data[at]); strings.Contains(flags, " hg") != want {
			t.Errorf("the memory %d bytes from the start has the flags%s, hg wanted: %v", at, flags, want)
		}
	}
	if data[size/2] != 1 || data[size/2+8192] != 0 {
		t.Errorf("after the whole pages from byte %d on were discarded, byte %d is %d and byte %d is %d",
			size/2+1, size/2, data[size/2], size/2+8192, data[size/2+8192])
	}
}

// mappingFlags returns the line VmFlags of the mapping that p points into; see proc_pid_smaps(5).
func mappingFlags(t *testing.T, p *byte) string {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); err == nil {
			inside = from <= uintptr(unsafe.Pointer(p)) && uintptr(unsafe.Pointer(p)) < to
		}
		if flags, found := strings.CutPrefix(lines.Text(), "VmFlags:"); found && inside {
			return flags
		}
	}
	t.Fatal("the memory is in no mapping that tells its flags")
	return ""
}

func TestMemAvailable(t *testing.T) {
	for _, c := range []struct {
		name, meminfo string
		want          int64
		known         bool
	}{
		{"as the kernel writes it", "MemTotal:       16384000 kB\nMemFree:         1000 kB\nMemAvailable:    2048 kB\nBuffers: 1 kB\n", 2 << 20, true},
		{"old kernel", "MemTotal:       16384000 kB\nMemFree:         1000 kB\n", 0, false},
		{"not a number", "MemAvailable: lots kB\n", 0, false},
		{"too large", "MemAvailable: 9223372036854775807 kB\n", -1024, false},
		{"empty", "", 0, false},
	} {
		if got, known := memAvailable([]byte(c.meminfo)); known != c.known || known && got != c.want {
			t.Errorf("%s: got %d, %v, want %d, %v", c.name, got, known, c.want, c.known)
		}
	}
	if n, known := availableMemory(); !known || n <= 0 {
		t.Errorf("here: got %d, %v", n, known)
	}
}
