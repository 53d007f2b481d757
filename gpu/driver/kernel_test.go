//go:build cuda && linux && cgo

package driver

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"specula/gpu/driver/emulated"
	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// module runs kernels of one module, once each, on slices.
type module struct {
	*Device
	stream  Stream
	kernels Module
	bits    bits
}

func loadModule(d *Device, name, ptx string) module {
	return module{Device: d, stream: get(d.NewStream()), kernels: get(d.Load(name, ptx))}
}

// run copies every slice to device memory of exactly its size, runs the kernel, and copies back
// what is there afterwards.
func (m module) run(kernel string, shape Shape, values ...any) {
	arguments := make([]Argument, len(values))
	memory := make([][]byte, len(values))
	for i, value := range values {
		switch value := value.(type) {
		case int32:
			arguments[i] = Int(value)
		case uint64:
			arguments[i] = Long(value)
		case float32:
			arguments[i] = Float(value)
		default:
			memory[i] = get(binary.Append(nil, binary.LittleEndian, value))
			p := get(m.Alloc(int64(max(1, len(memory[i])))))
			must(m.Upload(m.stream, p, memory[i]))
			arguments[i] = Address(p)
		}
	}
	launch := get(m.Prepare(get(m.Kernel(m.kernels, kernel)), shape, arguments...))
	must(m.Run(launch, m.stream))
	for i, content := range memory {
		if content == nil {
			continue
		}
		must(m.Download(m.stream, content, Pointer(arguments[i])))
		get(binary.Decode(content, binary.LittleEndian, values[i]))
		m.bits.note(kernel, values[i])
		must(m.Free(Pointer(arguments[i])))
	}
	m.FreeLaunch(launch)
}

func TestElementwise(t *testing.T) {
	d := open(t)
	on(t, d, func() {
		m := loadModule(d, "elementwise", get(cuda.PTX("elementwise")))
		for kernel, op := range map[string]func(x, y float32) float32{"add_rows": ref.AddRows,
			"swiglu": ref.SwiGLURows} {
			for _, n := range []int{1, 31, 257, 1000} {
				x, y := simtest.Normal(1, n), simtest.Normal(2, n)
				want := make([]float32, n)
				for i := range want {
					want[i] = op(x[i], y[i])
				}
				m.run(kernel, Shape{Grid: [3]int{3}, Block: [3]int{128}}, x, y, int32(n))
				simtest.Equal(t, fmt.Sprint(kernel, " of ", n), x, want)
			}
		}
	})
}

// probesPTX declares the kernels of emulated/library/testdata/probes.cu, which the emulated driver has.
func probesPTX(parameters map[string][]any) string {
	text := ".version 7.4\n.target sm_80\n.address_size 64\n"
	for name, values := range parameters {
		var list []string
		for i, value := range values {
			bits := 64
			if reflect.TypeOf(value).Kind() != reflect.Slice {
				bits = 8 * int(reflect.TypeOf(value).Size())
			}
			list = append(list, fmt.Sprintf("\t.param .u%d %s_param_%d", bits, name, i))
		}
		text += fmt.Sprintf(".visible .entry %s(\n%s\n)\n{\n\tret;\n}\n", name, strings.Join(list, ",\n"))
	}
	return text
}

// Every probe gives the expected result. The test of mutants plants bugs in the probes and expects
// this test to fail.
func TestProbes(t *testing.T) {
	d := open(t)
	if !emulated.Emulated() {
		t.Skip("the probes are emulated only")
	}
	const n, blocks = 1000, 8
	x := simtest.Normal(3, n)
	rotated := append(slices.Clone(x[4:256]), x[:4]...)
	keys := make([]uint64, n)
	ids := make([]int32, n)
	counts := make([]int32, 7)
	most := uint64(0)
	for i := range n {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
		most = max(most, keys[i])
		ids[i] = int32(keys[i] >> 40 % 7)
		counts[ids[i]]++
	}
	around := make([]float32, 64)
	for i := range around {
		around[i] = x[i/32*32+(i+1)%32]
	}
	words, nibbles := make([]uint32, 4*9), []int32(nil)
	for i := range words {
		words[i] = uint32(i) * 0x9e3779b9
		for k := range 8 {
			nibbles = append(nibbles, int32(words[i]>>(4*k)&15))
		}
	}
	steep := make([]float32, 16*blocks) // its sum depends on the order
	for i := range steep {
		steep[i] = x[i] * float32(math.Pow(10, float64(i/16)))
	}
	probes := []struct {
		kernel string
		shape  Shape
		values []any // the first is the result
		want   any
		runs   int
	}{
		{"rotate_staged", Shape{Block: [3]int{64}, SharedBytes: 1024},
			[]any{make([]float32, 256), x[:256]}, rotated, 1},
		{"sum_twice", Shape{Grid: [3]int{3}, Block: [3]int{128}}, []any{make([]float32, 6), x[:384]},
			sumTwice(x[:384]), 1},
		{"largest", Shape{Grid: [3]int{4}, Block: [3]int{64}}, []any{make([]uint64, 1), keys, int32(n)},
			[]uint64{most}, 1},
		{"count", Shape{Grid: [3]int{9}, Block: [3]int{128}},
			[]any{make([]int32, 7), ids, int32(n)}, counts, 1},
		{"neighbours", Shape{Block: [3]int{64}}, []any{make([]float32, 64), x[:64]}, around, 1},
		{"reduce_split", Shape{Grid: [3]int{blocks}, Block: [3]int{32}},
			[]any{make([]float32, 1), make([]float32, blocks), make([]int32, 1), steep, int32(16)},
			reduceSplit(steep, 16), 2},
		{"unpack", Shape{Grid: [3]int{2}, Block: [3]int{8}},
			[]any{make([]int32, len(nibbles)), words, int32(9)}, nibbles, 1},
	}
	parameters := map[string][]any{}
	for _, p := range probes {
		parameters[p.kernel] = p.values
	}
	on(t, d, func() {
		m := loadModule(d, "probes", probesPTX(parameters))
		for _, p := range probes {
			for range p.runs {
				reflect.ValueOf(p.values[0]).Clear()
				m.run(p.kernel, p.shape, p.values...)
				if fmt.Sprint(p.values[0]) != fmt.Sprint(p.want) {
					t.Errorf("%s gives %.200v, want %.200v", p.kernel, p.values[0], p.want)
				}
			}
		}
	})
}

func sumTwice(x []float32) []float32 {
	var list []float32
	for block := range slices.Chunk(x, 128) {
		for k := range 2 {
			var sums []float32
			for warp := range slices.Chunk(block, 32) {
				lanes := slices.Clone(warp)
				for i, v := range lanes {
					if k == 1 {
						lanes[i] = v * v
					}
				}
				for o := 16; o > 0; o /= 2 {
					before := slices.Clone(lanes)
					for i := range lanes {
						lanes[i] = before[i] + before[i^o]
					}
				}
				sums = append(sums, lanes[0])
			}
			list = append(list, sums[0]+sums[1]+sums[2]+sums[3])
		}
	}
	return list
}

func reduceSplit(x []float32, perBlock int) []float32 {
	total := float32(0)
	for part := range slices.Chunk(x, perBlock) {
		sum := float32(0)
		for _, v := range part {
			sum += v
		}
		total += sum
	}
	return []float32{total}
}
