package host

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// processorName is the model name that Linux gives, or else the architecture.
func processorName() string {
	if name, ok := field("/proc/cpuinfo", "model name"); ok && name != "" {
		return name
	}
	return runtime.GOARCH
}

// availableMemoryBytes is what Linux says can be allocated without swapping; 0 elsewhere.
func availableMemoryBytes() int64 {
	text, ok := field("/proc/meminfo", "MemAvailable")
	if !ok {
		return 0
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// field returns the value of the first line "key : value" of a file of the kernel's.
func field(path, key string) (string, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
