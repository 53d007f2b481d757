package host

import (
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// machine is what the operating system tells about its processors. Tests fill it by hand.
type machine struct {
	files   fs.FS // the file system from its root, for /sys and /proc of Linux
	allowed []int // logical processors that the process may use; empty: unknown
	atOnce  int   // most goroutines that Go runs at once
	// fastCores is the number of fast cores, if the system tells only this (macOS); 0 on other systems.
	fastCores int
}

func thisMachine(files fs.FS) machine {
	return machine{files: files, allowed: allowedProcessors(), atOnce: runtime.GOMAXPROCS(0), fastCores: fastCores()}
}

// threads returns with how many threads to compute, and why. The number is one for each fast core that the
// process may use, or one for each logical processor if the system does not tell the cores:
//   - Two logical processors of a core share its multipliers, so they count once.
//   - Efficiency cores are left out: they would do little of the work, and the other cores would wait
//     for them at the end of each phase.
//   - A control group's quota is rounded down. If a group has used up its quota, all of its threads
//     stop until the next period.
func (m machine) threads() (n int, why string) {
	n, why = max(1, m.atOnce), "one for each logical processor"
	if m.fastCores > 0 && m.fastCores <= n {
		n, why = m.fastCores, "one for each fast core"
	}
	if cores, slow := m.cores(); cores > 0 && cores <= n {
		n, why = cores, "one for each core"
		if slow > 0 {
			why = fmt.Sprintf("one for each fast core; %d slow ones are left out", slow)
		}
	}
	if quota := m.quota(); quota > 0 && int(quota) < n {
		n, why = max(1, int(quota)), fmt.Sprintf("the control group may use %.3g processors", quota)
	}
	return n, why
}

// cores returns how many fast cores and how many slow cores the process may use. If it may use only
// slow cores, these count as fast. cores returns 0, 0 if the system does not tell.
func (m machine) cores() (fast, slow int) {
	isSlow := map[int]bool{}
	for _, cpu := range m.list("sys/devices/cpu_atom/cpus") { // Intel
		isSlow[cpu] = true
	}
	capacities, largest := map[int]int{}, 0 // key: one logical processor of each core; value: the core's cpu_capacity
	seen := map[string]bool{}
	for _, cpu := range m.allowed {
		folder := fmt.Sprintf("sys/devices/system/cpu/cpu%d", cpu)
		siblings, ok := m.read(path.Join(folder, "topology/thread_siblings_list"))
		if !ok {
			return 0, 0
		}
		if seen[siblings] {
			continue
		}
		seen[siblings] = true
		capacity, _ := m.read(path.Join(folder, "cpu_capacity")) // mostly on Arm
		capacities[cpu], _ = strconv.Atoi(capacity)
		largest = max(largest, capacities[cpu])
	}
	for cpu, capacity := range capacities {
		if isSlow[cpu] || capacity < largest/2 {
			slow++
		} else {
			fast++
		}
	}
	if fast == 0 {
		return slow, 0 // the process may use slow cores only
	}
	return fast, slow
}

// lastCacheBytes returns the size of the last-level cache of the first allowed core, or 0 if the
// system does not tell.
func (m machine) lastCacheBytes() (bytes int64) {
	if len(m.allowed) == 0 {
		return 0
	}
	for i := 0; ; i++ { // a higher index is a higher level, or the same
		text, ok := m.read(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index%d/size", m.allowed[0], i))
		kib, err := strconv.ParseInt(strings.TrimSuffix(text, "K"), 10, 64)
		if !ok || err != nil {
			return bytes
		}
		bytes = kib << 10
	}
}

// quota returns how many processors the process may use; 0 if there is no quota. Of the quotas of the
// process's control group and of the groups around it, the smallest counts.
func (m machine) quota() (processors float64) {
	groups, _ := m.read("proc/self/cgroup")
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		if len(parts) < 3 {
			continue
		}
		controllers, group := parts[1], path.Clean("/"+parts[2])
		isCPU := strings.Contains(","+controllers+",", ",cpu,")
		if controllers != "" && !isCPU {
			continue
		}
		// In a container, /proc/self/cgroup may give the group's path on the host, which does not exist
		// here. Then the quota is in the root folder. So look in every folder from the path up to the root.
		for ; ; group = path.Dir(group) {
			for _, top := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified", path.Join("sys/fs/cgroup", controllers)} {
				if q := m.quotaOf(path.Join(top, group)); q > 0 && (processors == 0 || q < processors) {
					processors = q
				}
			}
			if group == "/" {
				break
			}
		}
	}
	return processors
}

// quotaOf reads the quota of one group: cpu.max in version 2, two files in version 1. It returns 0
// for none.
func (m machine) quotaOf(folder string) float64 {
	text, ok := m.read(path.Join(folder, "cpu.max"))
	if !ok {
		quota, _ := m.read(path.Join(folder, "cpu.cfs_quota_us"))
		period, _ := m.read(path.Join(folder, "cpu.cfs_period_us"))
		text = quota + " " + period
	}
	var quota, period float64
	if n, _ := fmt.Sscan(text, &quota, &period); n < 2 || quota <= 0 || period <= 0 {
		return 0 // "max 100000" and "-1 100000" mean no quota
	}
	return quota / period
}

// list reads numbers as the kernel writes them: "0-3,8".
func (m machine) list(name string) (numbers []int) {
	text, _ := m.read(name)
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(last)
		}
		for ; err == nil && from <= min(to, mostProcessors); from++ {
			numbers = append(numbers, from)
		}
	}
	return numbers
}

// mostProcessors is the largest number that list returns, so that a wrong range cannot make it long.
const mostProcessors = 4096

func (m machine) read(name string) (text string, ok bool) {
	data, err := fs.ReadFile(m.files, name)
	return strings.TrimSpace(string(data)), err == nil
}
