//go:build cuda && linux && cgo

package driver

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
)

func TestOutOfMemoryAtAnyAllocation(t *testing.T) {
	const allocations = 3 // x, y and the pinned buffer
	for n := 1; n <= allocations+1; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			d := openEmulated(t, fmt.Sprint("EMULATOR_FAIL_ALLOCATION=", n))
			err := d.Do(func() (err error) {
				defer func() {
					if failed, ok := recover().(stepFailed); ok {
						err = failed.error
					}
				}()
				newAdder(d, make([]float32, 4), make([]float32, 4))
				_, err = d.AllocHost(16)
				return err
			})
			if got, want := errors.Is(err, compute.ErrOutOfMemory), n <= allocations; got != want {
				t.Errorf("error %v, out of memory: %t, want %t", err, got, want)
			}
		})
	}
}

func TestMemoryIsAsLargeAsTheDevice(t *testing.T) {
	d := openEmulated(t, "EMULATOR_MEMORY_BYTES=1048576")
	on(t, d, func() {
		must(d.Free(get(d.Alloc(1 << 20))))
		kept := get(d.Alloc(1 << 19))
		_, err := d.Alloc(1<<19 + 1)
		wantError(t, err, 2, "524289 bytes were asked for and 524288 of 1048576 are free")
		must(d.Free(kept))
		must(d.Free(get(d.Alloc(1 << 20))))
	})
}

func TestARefusedLaunchLeavesTheDeviceUsable(t *testing.T) {
	d := openEmulated(t, "EMULATOR_REFUSE_LAUNCH=2")
	on(t, d, func() {
		a := newAdder(d, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
		must(d.Run(a.launch, a.stream))
		wantError(t, d.Run(a.launch, a.stream), 701, "add_rows")
		must(d.Run(a.launch, a.stream))
		if got, want := a.result(), [4]float32{21, 42, 63, 84}; [4]float32(got) != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestFailingKernelStays(t *testing.T) {
	d := openEmulated(t, "EMULATOR_FAIL_KERNEL=2")
	on(t, d, func() {
		a := newAdder(d, make([]float32, 4), make([]float32, 4))
		graph := get(d.Capture(a.stream, func() error {
			must(d.Run(a.launch, a.stream))
			return d.Run(a.launch, a.stream)
		}))
		must(d.Replay(graph, a.stream))
		for range 2 {
			wantError(t, d.Wait(a.stream), 700, "add_rows")
		}
		if err := d.Run(a.launch, a.stream); !errors.Is(err, compute.ErrDeviceLost) {
			t.Errorf("after a failed kernel: %v", err)
		}
	})
}

// again runs this test in a process of its own, with a setting in its environment.
func again(t *testing.T, setting string) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1")
	command.Env = append(os.Environ(), "AGAIN=yes", setting)
	if said, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestALostDeviceStaysLost(t *testing.T) {
	d := openEmulated(t)
	if os.Getenv("AGAIN") == "" {
		again(t, "EMULATOR_LOSE_DEVICE=1")
		return
	}
	on(t, d, func() {
		a := newAdder(d, make([]float32, 4), make([]float32, 4))
		host := get(d.AllocHost(16))
		must(d.Run(a.launch, a.stream))
		if err := d.Wait(a.stream); !errors.Is(err, compute.ErrDeviceLost) {
			t.Errorf("error %v, want %v", err, compute.ErrDeviceLost)
		}
		for range 2 { // freeing twice after a failure must be safe
			if err := d.FreeHost(host); !errors.Is(err, compute.ErrDeviceLost) {
				t.Errorf("freeing pinned memory: %v, want %v", err, compute.ErrDeviceLost)
			}
		}
	})
	if err := d.Close(); !errors.Is(err, compute.ErrDeviceLost) {
		t.Errorf("closing: %v, want %v", err, compute.ErrDeviceLost)
	}
	if _, err := Open(0); !errors.Is(err, compute.ErrDeviceLost) {
		t.Errorf("opening again: %v, want %v", err, compute.ErrDeviceLost)
	}
}

func TestStartsWithoutDriver(t *testing.T) {
	if os.Getenv("AGAIN") == "" {
		again(t, "SPECULA_LIBCUDA=/there/is/no/libcuda.so.1")
		return
	}
	err := Available()
	if err == nil || !strings.Contains(err.Error(),
		"no CUDA driver on this machine: /there/is/no/libcuda.so.1: cannot open") {
		t.Errorf("Available says %v; it should name the file that it cannot open", err)
	}
	if _, opened := Open(0); opened == nil || opened.Error() != err.Error() {
		t.Errorf("opening gives %v, and %v is missing", opened, err)
	}
}

func TestDriverWithoutGPU(t *testing.T) {
	if os.Getenv("AGAIN") == "" {
		openEmulated(t)
		again(t, "EMULATOR_DEVICES=0")
		return
	}
	if err := Available(); err == nil || !strings.Contains(err.Error(), "finds no GPU") {
		t.Errorf("Available says %v; it should say that the driver finds no GPU", err)
	}
}

func TestNumbersOfDevices(t *testing.T) {
	openEmulated(t, "EMULATOR_DEVICES=2")
	second, err := Open(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	for _, ordinal := range []int{-1, 2} {
		if _, err := Open(ordinal); err == nil || !strings.Contains(err.Error(), "this machine has 2") {
			t.Errorf("opening device %d: %v", ordinal, err)
		}
	}
}

// The program must start without the driver.
func TestLibcudaIsNotNeeded(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(libraries, func(name string) bool { return strings.Contains(name, "cuda") }) {
		t.Errorf("the program needs %v to start", libraries)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range symbols {
		if strings.HasPrefix(symbol.Name, "cuMem") {
			t.Errorf("the program exports %s, which would take the place of the driver's", symbol.Name)
		}
	}
}
