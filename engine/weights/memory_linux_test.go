package weights

import "testing"

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
