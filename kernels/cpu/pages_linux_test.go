package cpu

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestPanelsAskForLargePages looks for the request in the system's records, for the first, a middle
// and the last byte. Whether the system then gives large pages is not tested.
func TestPanelsAskForLargePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage/enabled"); err != nil {
		t.Skip("this system has no large pages:", err)
	}
	page := mapped(t)
	if err := syscall.Madvise(page, syscall.MADV_HUGEPAGE); err != nil ||
		!slices.Contains(flagsOf(t, uintptr(unsafe.Pointer(&page[0]))), "hg") {
		t.Skip("this system does not note such a request, as an emulated one does not; its error:", err)
	}
	q8, _ := FormatOf(8)
	for _, rows := range []int{192, 2048} { // one of the smallest matrices of a small model, and a large one
		data := NewPanels(q8, rows, 1024+32).data
		for _, at := range []int{0, len(data) / 2, len(data) - 1} {
			address := uintptr(unsafe.Pointer(&data[at]))
			if flags := flagsOf(t, address); !slices.Contains(flags, "hg") {
				t.Errorf("byte %d of %d lies in memory with the flags %q, want hg among them", at,
					len(data), flags)
			}
		}
	}
}

// mapped returns memory for which nothing was requested.
func mapped(t *testing.T) []byte {
	t.Helper()
	memory, err := syscall.Mmap(-1, 0, largePage, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	return memory
}

// flagsOf reads the flags of the mapping that contains an address.
func flagsOf(t *testing.T, address uintptr) []string {
	t.Helper()
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer smaps.Close()
	inside := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= address && address < to
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && inside {
			return strings.Fields(flags)
		}
	}
	t.Fatalf("no mapping holds %#x", address)
	return nil
}
