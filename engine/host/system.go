package host

import (
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// processorName returns the model name if Linux tells one, otherwise the architecture.
func processorName() string {
	if name, ok := field("/proc/cpuinfo", "model name"); ok && name != "" {
		return withoutMarks(name)
	}
	return runtime.GOARCH
}

var marks = regexp.MustCompile(`(?i)\((r|tm|c)\)`)

// withoutMarks removes trade marks from a name, which must fit into a narrow column.
func withoutMarks(name string) string {
	return strings.Join(strings.Fields(marks.ReplaceAllString(name, " ")), " ")
}

// availableMemoryBytes returns what Linux can allocate without swapping; 0 on other systems.
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

// field returns the value of the first line "key : value" in a file of the Linux kernel.
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
