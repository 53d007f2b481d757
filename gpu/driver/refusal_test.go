//go:build cuda && linux && cgo

package driver

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"specula/engine/compute"
	"specula/gpu/driver/emulated"
	"specula/kernels/cuda"
)

// openEmulated opens the emulated driver with settings. It is for faults that must not be tried on
// a real one.
func openEmulated(t testing.TB, settings ...string) *Device {
	t.Helper()
	emulated.Use(t)
	if !emulated.Emulated() {
		t.Skip("this test provokes an error, on the emulated driver only")
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	return open(t)
}

// wantError checks that err is a refusal with that code and contains the words.
func wantError(t *testing.T, err error, code int, words string) {
	t.Helper()
	var refusal *Error
	if !errors.As(err, &refusal) || refusal.Code != code || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want code %d and the words %q", err, code, words)
	}
}

func TestRefusals(t *testing.T) {
	text, err := cuda.PTX("elementwise")
	if err != nil {
		t.Fatal(err)
	}
	stale := strings.Replace(text, ".param .u32 add_rows_param_2", ".param .u64 add_rows_param_2", 1)
	newer := strings.Replace(text, ".target sm_80", ".target sm_90a", 1)
	renamed := strings.ReplaceAll(text, "add_rows", "sub_rows")
	block := func(threads int) Shape { return Shape{Grid: [3]int{1}, Block: [3]int{threads}} }
	for _, test := range []struct {
		name  string
		try   func(a adder) error
		code  int
		words string
	}{
		{"more shared memory than 48 KiB unasked", func(a adder) error {
			a.Reshape(a.launch, Shape{Block: [3]int{32}, SharedBytes: 100 << 10})
			return a.Run(a.launch, a.stream)
		}, 1, "102400 bytes of dynamic shared memory"},
		{"more shared memory than there is",
			func(a adder) error { return a.SetDynamicShared(a.function, 200<<10) }, 1, "204800 bytes"},
		{"too many threads", func(a adder) error {
			a.Reshape(a.launch, block(1025))
			return a.Run(a.launch, a.stream)
		}, 1, "1025"},
		{"copy past the end", func(a adder) error { return a.Upload(a.stream, a.x+8, make([]byte, 16)) },
			1, "not inside one allocation"},
		{"copy from before the start",
			func(a adder) error { return a.Download(a.stream, make([]byte, 16), a.x-4) }, 1,
			"not inside one allocation"},
		{"fill past the end", func(a adder) error { return a.Fill(a.stream, a.x, 0, 17) }, 1,
			"not inside one allocation"},
		{"free twice", func(a adder) error {
			must(a.Free(a.x))
			return a.Free(a.x)
		}, 1, "not the start of an allocation"},
		{"free inside", func(a adder) error { return a.Free(a.x + 4) }, 1, "not the start of an allocation"},
		{"unknown kernel", func(a adder) error {
			_, err := a.Kernel(get(a.Load("elementwise", text)), "nothing")
			return err
		}, 500, "finding the kernel nothing"},
		{"no PTX", func(a adder) error { _, err := a.Load("noise", "noise"); return err }, 218, "not PTX"},
		{"PTX for a newer device", func(a adder) error { _, err := a.Load("newer", newer); return err },
			209, "sm_90"},
		{"PTX with other parameters than the source", func(a adder) error {
			_, err := a.Kernel(get(a.Load("stale", stale)), "add_rows")
			return err
		}, 218, "stale"},
		{"PTX with a kernel of no source", func(a adder) error {
			_, err := a.Kernel(get(a.Load("renamed", renamed)), "sub_rows")
			return err
		}, 500, "not in the emulator"},
		{"timing by an event that is not timed", func(a adder) error {
			e := get(a.NewEvent(false))
			must(a.Record(e, a.stream))
			_, err := a.Elapsed(e, e)
			return err
		}, 400, "not timed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := openEmulated(t)
			on(t, d, func() {
				a := newAdder(d, make([]float32, 4), make([]float32, 4))
				wantError(t, test.try(a), test.code, test.words)
				must(d.Wait(a.stream)) // the device goes on
			})
		})
	}
}

func TestCaptureRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		record func(a adder, other Stream, e Event) error
		code   int
		words  string
	}{
		{"waiting", func(a adder, _ Stream, _ Event) error { return a.Wait(a.stream) }, 900,
			"cuStreamSynchronize"},
		{"waiting, unnoticed", func(a adder, _ Stream, _ Event) error { _ = a.Wait(a.stream); return nil }, 901, "forbids"},
		{"allocating", func(a adder, _ Stream, _ Event) error { _, err := a.Alloc(8); return err }, 900,
			"cuMemAlloc"},
		{"copying from memory that may move",
			func(a adder, _ Stream, _ Event) error { return a.Upload(a.stream, a.x, make([]byte, 4)) },
			900, "not pinned"},
		{"leaving a stream unjoined", func(a adder, other Stream, e Event) error {
			must(a.Record(e, a.stream))
			must(a.WaitEvent(other, e))
			return a.Run(a.launch, other)
		}, 904, "add_rows"},
		{"waiting for what was not captured", func(a adder, other Stream, e Event) error {
			must(a.Record(e, other))
			return a.WaitEvent(a.stream, e)
		}, 905, "outside"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := openEmulated(t)
			on(t, d, func() {
				a := newAdder(d, make([]float32, 4), make([]float32, 4))
				other, e := get(d.NewStream()), get(d.NewEvent(false))
				_, err := d.Capture(a.stream, func() error { return test.record(a, other, e) })
				wantError(t, err, test.code, test.words)
				must(d.Run(a.launch, a.stream)) // the stream is free again
				must(d.Wait(a.stream))
			})
		})
	}
}

func TestGraphOfTwoStreams(t *testing.T) {
	d := open(t)
	on(t, d, func() {
		a := newAdder(d, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
		other, fork, join := get(d.NewStream()), get(d.NewEvent(false)), get(d.NewEvent(false))
		graph := get(d.Capture(a.stream, func() error {
			must(d.Run(a.launch, a.stream))
			must(d.Record(fork, a.stream))
			must(d.WaitEvent(other, fork))
			must(d.Run(a.launch, other))
			must(d.Record(join, other))
			must(d.WaitEvent(a.stream, join))
			return d.Run(a.launch, a.stream)
		}))
		must(d.Replay(graph, a.stream))
		if got, want := a.result(), [4]float32{31, 62, 93, 124}; [4]float32(got) != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestUpdateRefusesOtherWork(t *testing.T) {
	d := openEmulated(t)
	on(t, d, func() {
		a := newAdder(d, make([]float32, 4), make([]float32, 4))
		graph := get(d.Capture(a.stream, func() error { return d.Run(a.launch, a.stream) }))
		err := d.Update(&graph, a.stream, func() error { return d.Fill(a.stream, a.x, 0, 16) })
		wantError(t, err, 910, "other nodes")
	})
}

func TestOnlyItsThreadMayUseADevice(t *testing.T) {
	d := openEmulated(t)
	_, err := d.Alloc(8)
	wantError(t, err, 201, "no context is current")
}

// The emulator does not wait where CUDA would not: without a wait, the result is not there yet.
func TestMissingWaitsShow(t *testing.T) {
	d := openEmulated(t, "EMULATOR_SEED=0")
	on(t, d, func() {
		a := newAdder(d, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
		host := get(d.AllocHost(16))
		must(d.DownloadAsync(a.stream, host, a.x))
		if early := floatsOf(host)[0]; !math.IsNaN(float64(early)) {
			t.Errorf("before the wait the host already sees %v", early)
		}
		must(d.Wait(a.stream))
		other := get(d.NewStream())
		must(d.Fill(other, a.y, 0, 16)) // and nobody waits for it
		must(d.Run(a.launch, a.stream))
		if got, want := a.result(), [4]float32{11, 22, 33, 44}; [4]float32(got) != want {
			t.Errorf("got %v, want %v: a stream waited for another without being asked to", got, want)
		}
	})
}

func TestMemoryMustBePinned(t *testing.T) {
	d := open(t)
	defer func() {
		if recover() == nil {
			t.Error("an asynchronous copy of memory that may move was accepted")
		}
	}()
	_ = d.Do(func() error { return d.UploadAsync(0, 0, make([]byte, 4)) })
}

func TestHostPointerOnDevice(t *testing.T) {
	d := openEmulated(t)
	on(t, d, func() {
		a := newAdder(d, make([]float32, 4), make([]float32, 4))
		host := make([]float32, 4)
		d.Set(a.launch, 1, Argument(uintptr(unsafe.Pointer(&host[0]))))
		must(d.Run(a.launch, a.stream)) // the launch itself cannot know that the kernel will fail
		err := d.Wait(a.stream)
		wantError(t, err, 700, "not device memory")
		if !errors.Is(err, compute.ErrDeviceLost) {
			t.Errorf("%v does not say that the device is lost", err)
		}
		_, err = d.Alloc(8)
		wantError(t, err, 700, "cannot be used again") // every later call says so
	})
}
