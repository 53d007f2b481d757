package host

import "golang.org/x/sys/unix"

// allowedProcessors returns nil: this system has no affinity masks.
func allowedProcessors() []int { return nil }

// fastCores returns the number of performance cores, or of all cores where they are alike.
func fastCores() int {
	for _, name := range []string{"hw.perflevel0.physicalcpu", "hw.physicalcpu"} {
		if n, err := unix.SysctlUint32(name); err == nil && n > 0 {
			return int(n)
		}
	}
	return 0
}
