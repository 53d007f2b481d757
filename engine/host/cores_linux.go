package host

import "golang.org/x/sys/unix"

// allowedProcessors returns the logical processors that the process may use, by its affinity mask.
func allowedProcessors() (numbers []int) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			numbers = append(numbers, cpu)
		}
	}
	return numbers
}

// fastCores returns 0: on Linux, machine.cores counts the fast cores.
func fastCores() int { return 0 }
