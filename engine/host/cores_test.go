package host

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
)

// tree makes the files of a system whose logical processors have these siblings: "0,4", "1,5", …
func tree(siblings []string, more map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for cpu, list := range siblings {
		files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)] = &fstest.MapFile{Data: []byte(list + "\n")}
	}
	for name, text := range more {
		files[name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	return files
}

// single returns the siblings of n processors that have a core of their own each.
func single(n int) (siblings []string) {
	for cpu := range n {
		siblings = append(siblings, fmt.Sprint(cpu))
	}
	return siblings
}

// paired returns the siblings of n processors on n/2 cores, in the order of Linux: first one of each core.
func paired(n int) (siblings []string) {
	for cpu := range n {
		siblings = append(siblings, fmt.Sprintf("%d,%d", cpu%(n/2), cpu%(n/2)+n/2))
	}
	return siblings
}

func from(first, last int) (numbers []int) {
	for n := first; n <= last; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

func TestThreadsFollowTheMachine(t *testing.T) {
	capacities := func(c ...string) map[string]string {
		files := map[string]string{}
		for cpu, text := range c {
			files[fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpu_capacity", cpu)] = text
		}
		return files
	}
	v1 := func(group, quota string) map[string]string {
		return map[string]string{
			"proc/self/cgroup": "5:cpuset:/\n1:cpu,cpuacct:/a/b\n0::/a",
			"sys/fs/cgroup/cpu,cpuacct/" + group + "cpu.cfs_quota_us":  quota,
			"sys/fs/cgroup/cpu,cpuacct/" + group + "cpu.cfs_period_us": "100000",
		}
	}
	// Two fast cores with two processors each, and four efficiency cores.
	hybrid := append([]string{"0-1", "0-1", "2-3", "2-3"}, "4", "5", "6", "7")
	atom := map[string]string{"sys/devices/cpu_atom/cpus": "4-7", "sys/devices/cpu_core/cpus": "0-3"}
	for name, c := range map[string]struct {
		files     fs.FS
		allowed   []int
		atOnce    int
		fastCores int
		want      int
	}{
		"4 cores":                                 {files: tree(single(4), nil), allowed: from(0, 3), atOnce: 4, want: 4},
		"8 processors on 4 cores":                 {files: tree(paired(8), nil), allowed: from(0, 7), atOnce: 8, want: 4},
		"16 processors on 8 cores":                {files: tree(paired(16), nil), allowed: from(0, 15), atOnce: 16, want: 8},
		"the mask has both halves of two cores":   {files: tree(paired(16), nil), allowed: []int{2, 3, 10, 11}, atOnce: 4, want: 2},
		"the mask has 3 of 16":                    {files: tree(single(16), nil), allowed: []int{1, 4, 9}, atOnce: 3, want: 3},
		"GOMAXPROCS=2":                            {files: tree(single(16), nil), allowed: from(0, 15), atOnce: 2, want: 2},
		"no topology":                             {files: tree(nil, nil), allowed: from(0, 5), atOnce: 6, want: 6},
		"no topology, no mask":                    {files: tree(nil, nil), atOnce: 6, want: 6},
		"2 fast and 4 efficiency cores":           {files: tree(hybrid, atom), allowed: from(0, 7), atOnce: 8, want: 2},
		"the mask has efficiency cores only":      {files: tree(hybrid, atom), allowed: from(4, 6), atOnce: 3, want: 3},
		"big and little":                          {files: tree(single(8), capacities("160", "160", "160", "160", "870", "870", "870", "1024")), allowed: from(0, 7), atOnce: 8, want: 4},
		"quota of 2 processors, version 2":        {files: tree(single(8), map[string]string{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "200000 100000"}), allowed: from(0, 7), atOnce: 8, want: 2},
		"quota of 3.5, of an outer group":         {files: tree(single(8), map[string]string{"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "350000 100000", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}), allowed: from(0, 7), atOnce: 8, want: 3},
		"quota of half a processor":               {files: tree(single(8), map[string]string{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "50000 100000"}), allowed: from(0, 7), atOnce: 8, want: 1},
		"no quota":                                {files: tree(single(4), map[string]string{"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}), allowed: from(0, 3), atOnce: 4, want: 4},
		"quota above the number of cores":         {files: tree(paired(8), v1("", "600000")), allowed: from(0, 7), atOnce: 8, want: 4},
		"quota of 3, version 1":                   {files: tree(single(16), v1("a/b/", "300000")), allowed: from(0, 15), atOnce: 16, want: 3},
		"version 1, a container sees its own top": {files: tree(single(16), v1("", "400000")), allowed: from(0, 15), atOnce: 16, want: 4},
		"version 1, no quota":                     {files: tree(single(4), v1("a/b/", "-1")), allowed: from(0, 3), atOnce: 4, want: 4},
		"version 2 beside version 1":              {files: tree(single(8), map[string]string{"proc/self/cgroup": "0::/a", "sys/fs/cgroup/unified/a/cpu.max": "500000 100000"}), allowed: from(0, 7), atOnce: 8, want: 5},
		"performance cores of another system":     {files: tree(nil, nil), atOnce: 10, fastCores: 6, want: 6},
	} {
		t.Run(name, func(t *testing.T) {
			n, why := machine{c.files, c.allowed, c.atOnce, c.fastCores}.threads()
			if n != c.want || why == "" {
				t.Errorf("%d threads (%s), want %d", n, why, c.want)
			}
		})
	}
}

func TestListsOfHostileSizeAreBounded(t *testing.T) {
	m := machine{files: tree(nil, map[string]string{"list": "0-9999999999999,x,3-1"})}
	if n := len(m.list("list")); n > mostProcessors+1 {
		t.Errorf("%d numbers", n)
	}
}

func TestTheLastCacheIsThatOfTheFirstCore(t *testing.T) {
	cache := func(sizes ...string) map[string]string {
		files := map[string]string{}
		for i, size := range sizes {
			files[fmt.Sprintf("sys/devices/system/cpu/cpu2/cache/index%d/size", i)] = size
		}
		return files
	}
	for _, c := range []struct {
		files map[string]string
		want  int64
	}{
		{cache("48K", "32K", "1024K", "32768K"), 32 << 20},
		{cache("32K", "32K", "512K"), 512 << 10},
		{cache("32K", "32K", "much"), 32 << 10},
		{cache(), 0},
	} {
		m := machine{files: tree(nil, c.files), allowed: []int{2, 3}}
		if got := m.lastCacheBytes(); got != c.want {
			t.Errorf("%v: the last cache has %d bytes, want %d", c.files, got, c.want)
		}
	}
}
