//go:build cuda && linux && cgo

package driver

import (
	"encoding/binary"
	"math"
	"testing"

	"specula/gpu/driver/emulated"
	"specula/kernels/cuda"
)

// open opens the first device, of the emulated driver or of the machine.
func open(t testing.TB) *Device {
	t.Helper()
	emulated.Use(t)
	d, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil && !t.Failed() {
			t.Log(err) // expected after a fault that the test provoked
		}
	})
	return d
}

// on runs the steps of a test on the device's thread. A step that fails panics with its error,
// which ends them.
func on(t testing.TB, d *Device, steps func()) {
	t.Helper()
	var failed error
	_ = d.Do(func() error {
		defer func() {
			if caught := recover(); caught != nil {
				err, ok := caught.(stepFailed)
				if !ok {
					panic(caught)
				}
				failed = err.error
			}
		}()
		steps()
		return nil
	})
	if failed != nil {
		t.Fatal(failed)
	}
}

type stepFailed struct{ error }

func must(err error) {
	if err != nil {
		panic(stepFailed{err})
	}
}

func get[T any](v T, err error) T {
	must(err)
	return v
}

// bytesOf encodes numbers as the device stores them.
func bytesOf(numbers ...float32) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(n))
	}
	return b
}

func floatsOf(b []byte) []float32 {
	numbers := make([]float32, len(b)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return numbers
}

// adder is a device with two vectors of four numbers, and a launch that adds the second to the
// first.
type adder struct {
	*Device
	stream   Stream
	function Function
	x, y     Pointer
	launch   Launch
}

func newAdder(d *Device, x, y []float32) adder {
	a := adder{Device: d, stream: get(d.NewStream())}
	module := get(d.Load("elementwise", get(cuda.PTX("elementwise"))))
	a.function = get(d.Kernel(module, "add_rows"))
	a.x, a.y = get(d.Alloc(int64(4*len(x)))), get(d.Alloc(int64(4*len(y))))
	must(d.Upload(a.stream, a.x, bytesOf(x...)))
	must(d.Upload(a.stream, a.y, bytesOf(y...)))
	a.launch = get(d.Prepare(a.function, Shape{Grid: [3]int{1}, Block: [3]int{32}}, Address(a.x),
		Address(a.y), Int(int32(len(x)))))
	return a
}

func (a adder) result() []float32 {
	b := make([]byte, 16)
	must(a.Download(a.stream, b, a.x))
	return floatsOf(b)
}

func TestDevice(t *testing.T) {
	d := open(t)
	info := d.Info()
	t.Logf("%+v", info)
	if info.Name == "" || info.Major < 8 || info.MemoryBytes < 1<<20 || info.Multiprocessors < 1 ||
		info.SharedBytes < 48<<10 || info.Library == "" {
		t.Errorf("%+v says too little", info)
	}
	if emulated.Emulated() && (info.L2Bytes != 2<<20 || info.BytesPerUS != 1_555_200) { // 1215 MHz, 5120 bits
		t.Errorf("%+v, want a cache of 2 MiB and 1,555,200 bytes in a microsecond", info)
	}
	on(t, d, func() {
		before, total, err := d.Memory()
		must(err)
		p := get(d.Alloc(1 << 20))
		after, _, err := d.Memory()
		must(err)
		if total != info.MemoryBytes || after > before || before > total {
			t.Errorf("free %d, then %d of %d, %d as the device says", before, after, total, info.MemoryBytes)
		}
		must(d.Free(p))
	})
}

func TestLaunch(t *testing.T) {
	d := open(t)
	on(t, d, func() {
		a := newAdder(d, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
		must(d.Run(a.launch, a.stream))
		must(d.Run(a.launch, a.stream))
		d.Set(a.launch, 2, Int(1)) // one number only from here on
		must(d.Run(a.launch, a.stream))
		if got, want := a.result(), [4]float32{31, 42, 63, 84}; [4]float32(got) != want {
			t.Errorf("got %v, want %v", got, want)
		}
		resources := get(d.Resources(a.function))
		if resources.MaxThreads < 32 || resources.DynamicSharedBytes < 1 {
			t.Errorf("%+v", resources)
		}
	})
}

func TestGraph(t *testing.T) {
	d := open(t)
	on(t, d, func() {
		a := newAdder(d, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
		host := get(d.AllocHost(32))
		copy(host, bytesOf(1, 1, 1, 1))
		before := d.Traffic()
		record := func() error {
			must(d.UploadAsync(a.stream, a.y, host[:16]))
			must(d.Run(a.launch, a.stream))
			return d.DownloadAsync(a.stream, host[16:], a.x)
		}
		graph := get(d.Capture(a.stream, record))
		if moved := d.Traffic().Minus(before); moved != (Traffic{}) {
			t.Errorf("recording moved %+v", moved)
		}
		must(d.Replay(graph, a.stream))
		must(d.Wait(a.stream))
		copy(host, bytesOf(2, 2, 2, 2)) // a graph reads the memory when it runs, not when it was recorded
		must(d.Replay(graph, a.stream))
		must(d.Wait(a.stream))
		if got, want := floatsOf(host[16:]), [4]float32{4, 5, 6, 7}; [4]float32(got) != want {
			t.Errorf("got %v, want %v", got, want)
		}
		if moved, want := d.Traffic().Minus(before), (Traffic{32, 32, 2, 2, 2}); moved != want {
			t.Errorf("moved %+v, want %+v", moved, want)
		}
		d.Set(a.launch, 2, Int(2)) // changes nothing in the graph before the update
		must(d.Update(&graph, a.stream, record))
		must(d.Replay(graph, a.stream))
		must(d.Wait(a.stream))
		if got, want := floatsOf(host[16:]), [4]float32{6, 7, 6, 7}; [4]float32(got) != want {
			t.Errorf("after the update %v, want %v", got, want)
		}
		must(d.FreeGraph(graph))
	})
}

func TestEventsOrderStreams(t *testing.T) {
	d := open(t)
	on(t, d, func() {
		a := newAdder(d, []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40})
		other := get(d.NewStream())
		begin, end := get(d.NewEvent(true)), get(d.NewEvent(true))
		must(d.Record(begin, other))
		must(d.Fill(other, a.y, 0, 16))
		must(d.Record(end, other))
		must(d.WaitEvent(a.stream, end))
		must(d.Run(a.launch, a.stream))
		if got, want := a.result(), [4]float32{1, 2, 3, 4}; [4]float32(got) != want {
			t.Errorf("got %v, want %v: the launch did not wait for the other stream", got, want)
		}
		must(d.WaitHost(end))
		if passed := get(d.Passed(end)); !passed {
			t.Error("the event has not passed after waiting for it")
		}
		if ms := get(d.Elapsed(begin, end)); ms < 0 || math.IsNaN(ms) {
			t.Errorf("%v ms elapsed", ms)
		}
		must(d.FreeEvent(begin))
		must(d.FreeEvent(end))
		must(d.FreeStream(other))
	})
}

func TestAllocAsync(t *testing.T) {
	d := open(t)
	on(t, d, func() {
		s := get(d.NewStream())
		p := get(d.AllocAsync(s, 8))
		must(d.Fill(s, p, 7, 8))
		got := make([]byte, 8)
		must(d.Download(s, got, p))
		must(d.FreeAsync(s, p))
		must(d.Wait(s))
		if binary.LittleEndian.Uint64(got) != 0x0707070707070707 {
			t.Errorf("got %x", got)
		}
	})
}
