//go:build cuda && linux && cgo

package driver

import (
	"encoding/binary"
	"testing"

	"specula/gpu/driver/emulated"
	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/checks"
	"specula/kernels/cuda/testbench/emulator"
)

// The checks of all kernels of a layer, except the matrix products.
func TestLayers(t *testing.T) {
	d := open(t)
	on(t, d, func() {
		l := newLayers(d)
		l.bits = bits{}
		for _, check := range []func(*testing.T, checks.Launch){checks.Norms, checks.Rope,
			checks.Elementwise, checks.LayerNorms, checks.Activations, checks.Copy,
			checks.Heads, checks.Experts, checks.Operands, checks.TooSmallGrid, checks.Peak,
			checks.ShortConvolutions, func(t *testing.T, launch checks.Launch) { checks.Recurrences(t, launch, 0, 1) }} {
			check(t, l.launch)
		}
		// The emulator does a few cases here, and package emulator does the others. A GPU does all
		// of them, and is compared with itself and with the reference.
		attention(t, l, []int{1, 5, 9}, []int{128})
		checks.FreshRows(t, l.launch, 128)
		l.bits.compare(t)
		l.bits = nil
		checks.FetchAhead(t, l.launch, 128)
		if !emulated.Emulated() {
			attention(t, l, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33},
				[]int{64, 80, 96, 256, 512})
			checks.FreshRows(t, l.launch, 64, 80, 96, 256)
			checks.FetchAhead(t, l.launch, 64, 96, 256, 512)
			checks.ManySplits(t, l.launch, false)
			checks.ScoresAtTheEdges(t, l.launch, false)
		}
	})
}

// A few rows that attention stores itself, among the checks of TestLayers. Bugs planted there run this test: the
// sanitizer of threads takes minutes for all checks.
func TestFreshRows(t *testing.T) {
	d := open(t)
	on(t, d, func() { checks.FreshRows(t, newLayers(d).launch, 128) })
}

func attention(t *testing.T, l layers, rowCounts, headDims []int) {
	for _, half := range []bool{true, false} {
		checks.Cache(t, l.launch, half, 80, 72)
		checks.RowCounts(t, l.launch, half, rowCounts)
		checks.Windows(t, l.launch, half, 64, emulated.Emulated())
		for _, headDim := range headDims {
			checks.Attention(t, l.launch, half, headDim, 260, emulated.Emulated())
		}
		checks.UnlikeAttention(t, l.launch, half, 576, 512, 260, emulated.Emulated())
	}
}

// layers runs kernels of any module on slices, once each.
type layers struct {
	*Device
	stream  Stream
	modules []Module
	bits    bits
}

func newLayers(d *Device) layers {
	l := layers{Device: d, stream: get(d.NewStream())}
	for _, name := range cuda.Modules() {
		l.modules = append(l.modules, get(d.Load(name, get(cuda.PTX(name)))))
	}
	return l
}

func (l layers) find(kernel string) (f Function, err error) {
	for _, m := range l.modules {
		if f, err = l.Kernel(m, kernel); err == nil {
			break
		}
	}
	return f, err
}

func (l layers) launch(kernel string, grid, block [3]int, args ...any) {
	buffers, parameters := emulator.LayOut(args)
	memory, content := make([]Pointer, len(buffers)), make([][]byte, len(buffers))
	for i, b := range buffers {
		content[i] = get(binary.Append(nil, binary.LittleEndian, b))
		memory[i] = get(l.Alloc(int64(max(1, len(content[i])))))
		must(l.Upload(l.stream, memory[i], content[i]))
	}
	arguments := make([]Argument, len(parameters))
	for i, p := range parameters {
		arguments[i] = Long(p.Value) // a smaller parameter is the first bytes of the value
		if p.Buffer > 0 {
			arguments[i] = Address(memory[p.Buffer-1] + Pointer(p.Value))
		}
	}
	launch := get(l.Prepare(get(l.find(kernel)), Shape{Grid: grid, Block: block}, arguments...))
	must(l.Run(launch, l.stream))
	for i, b := range buffers {
		must(l.Download(l.stream, content[i], memory[i]))
		get(binary.Decode(content[i], binary.LittleEndian, b))
		l.bits.note(kernel, b)
		must(l.Free(memory[i]))
	}
	l.FreeLaunch(launch)
}
