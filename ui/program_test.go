//go:build linux || darwin

package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// deadly is source that tests add to the program: on SIGUSR1 it overflows its stack, on SIGUSR2 it runs
// out of memory.
const deadly = `package main

import (
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func init() {
	orders := make(chan os.Signal, 1)
	signal.Notify(orders, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		if <-orders == syscall.SIGUSR1 {
			debug.SetMaxStack(16 << 20) // a stack of the usual limit, 1 GB, takes 10 s to fill
			println(deeper(1))
		}
		println(len(make([]byte, 1<<46)))
	}()
}

func deeper(n int) int { return deeper(n+1) + 1 }
`

var built struct {
	once   sync.Once
	path   string
	failed error
}

// program returns the path of the whole program, built once, with deadly in it.
func program(t *testing.T) string {
	t.Helper()
	built.once.Do(func() { built.path, built.failed = build() })
	if built.failed != nil {
		t.Fatal(built.failed)
	}
	return built.path
}

func build() (string, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	if builtDir, err = os.MkdirTemp("", "specula-"); err != nil {
		return "", err
	}
	source, overlay := filepath.Join(builtDir, "deadly.go"), filepath.Join(builtDir, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "deadly.go"): source}})
	if err != nil {
		return "", err
	}
	for path, text := range map[string][]byte{source: []byte(deadly), overlay: replaced} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", err
		}
	}
	path := filepath.Join(builtDir, "specula")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", path, "specula").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return path, nil
}

// childOf waits until a process has exactly one child.
func childOf(t *testing.T, x *terminal, pid int) int {
	t.Helper()
	for !x.overdue() {
		for child, parent := range processes(t) {
			if parent == pid {
				return child
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("process %d started no other", pid)
	return 0
}

// processes returns the parent of every process.
func processes(t *testing.T) map[int]int {
	t.Helper()
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has just ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		after := string(text)[strings.LastIndexByte(string(text), ')')+1:]
		if f := strings.Fields(after); len(f) > 1 {
			parents[pid], _ = strconv.Atoi(f[1])
		}
	}
	if len(stats) > 0 {
		return parents
	}
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output() // systems without /proc
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var pid, parent int
		if n, _ := fmt.Sscan(line, &pid, &parent); n == 2 {
			parents[pid] = parent
		}
	}
	return parents
}
