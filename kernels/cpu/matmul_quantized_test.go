package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// formats pairs each format with its reference.
var formats = func() (all []pair) {
	for _, f := range ref.Formats() {
		repacked, _ := cpu.FormatOf(f.Type)
		all = append(all, pair{repacked, f})
	}
	return all
}()

type pair struct {
	cpu cpu.Format
	ref ref.Format
}

// onEveryLevel runs test on each level of this processor, and logs if it does not have all levels.
func onEveryLevel(t *testing.T, test func(*testing.T)) {
	for level := cpu.Portable; level <= cpu.NEON; level++ {
		if !slices.Contains(cpu.Levels(), level) {
			t.Logf("not run on %v: the processor or the build lacks it", level)
			continue
		}
		t.Run(level.String(), func(t *testing.T) {
			defer cpu.SetLevel(level)()
			test(t)
		})
	}
}

// randomBlocks makes blocks of random bytes. Unless wild is set, half-precision numbers have a
// magnitude of about 2⁻⁷.
func randomBlocks(f ref.Format, rows, cols int, r *rand.Rand, wild bool) []byte {
	w := make([]byte, rows*cols/f.BlockElements*f.BlockBytes)
	for i := range w {
		w[i] = byte(r.Uint32())
	}
	if wild {
		return w
	}
	for block := 0; block < len(w); block += f.BlockBytes {
		f.SetScales(w[block:], calm(r), calm(r))
	}
	return w
}

// calm returns a half-precision number with a magnitude of about 2⁻⁷.
func calm(r *rand.Rand) uint16 { return uint16(r.Uint32())&0x83ff | 0x2000 }

func repack(f cpu.Format, rows, cols int, src []byte) *cpu.Panels {
	w := cpu.NewPanels(f, rows, cols)
	task := cpu.Repack{Panels: w, Src: src}
	for p := range w.Items() { // in pieces, as a pool may do
		task.Do(p, p+1)
	}
	return w
}

func TestMatMulQuantizedEqualsReference(t *testing.T) {
	pool := cpu.NewPool(3, cpu.DefaultPoll)
	defer pool.Close()
	onEveryLevel(t, func(t *testing.T) {
		var x cpu.Quantized
		for _, f := range formats {
			for n, in := range inputs {
				for _, cols := range []int{1, 2, 3} {
					cols *= f.ref.BlockElements
					const rows = 37
					for i, m := range []int{1, 2, 3, 4, 5, 9, 50, 113} {
						if m >= 50 && n > 0 {
							continue
						}
						r := rand.New(rand.NewPCG(uint64(cols), uint64(m)))
						numbers := fill(m*cols, r, in.number)
						blocks := randomBlocks(f.ref, rows, cols, r, i%2 == 1)
						got, want := make([]float32, m*rows), make([]float32, m*rows)
						x.Quantize(numbers, m, cols)
						task := cpu.MatMulQuantized{Dst: got, X: &x, W: repack(f.cpu, rows, cols, blocks)}
						pool.Run(&task, task.Items(), 1<<30)
						ref.MatMulQuantized(want, numbers, m, f.ref, blocks, rows, cols)
						sameBits(t, fmt.Sprintf("%v, %s, %d columns, %d rows", f.cpu, in.name, cols,
							m), got, want)
						if m < 9 {
							clear(got)
							task.Prefetching = cpu.Prefetching{FillCaches: true, SecondCache: true}
							pool.Run(&task, task.Items(), 1<<30)
							sameBits(t, fmt.Sprintf("%v, %s, %d columns, %d rows, the other prefetching", f.cpu, in.name,
								cols, m), got, want)
						}
					}
				}
			}
		}
	})
}

// The largest sums of each format, of either sign, neither saturate nor overflow into each other.
func TestMatMulQuantizedExtremes(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		for _, f := range formats {
			const rows, m = 32, 5
			cols := f.ref.BlockElements
			for pattern := range 8 {
				numbers := make([]float32, m*cols)
				for i := range numbers {
					numbers[i] = 127
					if pattern>>(i/cols%3)&1 == 1 {
						numbers[i] = -127
					}
				}
				for _, fill := range []byte{0x00, 0xff, 0x80, 0x7f, 0xf0, 0x0f} {
					blocks := make([]byte, rows*f.ref.BlockBytes)
					for i := range blocks {
						blocks[i] = fill
					}
					for at := 0; at < len(blocks); at += f.ref.BlockBytes {
						const one = 0x3c00
						f.ref.SetScales(blocks[at:], one, one)
					}
					var x cpu.Quantized
					x.Quantize(numbers, m, cols)
					got, want := make([]float32, m*rows), make([]float32, m*rows)
					task := cpu.MatMulQuantized{Dst: got, X: &x, W: repack(f.cpu, rows, cols, blocks)}
					task.Do(0, task.Items())
					ref.MatMulQuantized(want, numbers, m, f.ref, blocks, rows, cols)
					sameBits(t, fmt.Sprintf("%v, bytes %02x, signs %03b", f.cpu, fill, pattern), got, want)
				}
			}
		}
	})
}

func TestPanelRowsEqualReference(t *testing.T) {
	for _, f := range formats {
		const rows = 21
		cols := 2 * f.ref.BlockElements
		r := rand.New(rand.NewPCG(3, 0))
		blocks := randomBlocks(f.ref, rows, cols, r, true)
		w := repack(f.cpu, rows, cols, blocks)
		got, want := make([]float32, rows*cols), make([]float32, rows*cols)
		for i := range rows {
			w.Row(got[i*cols:(i+1)*cols], i)
		}
		f.ref.Dequantize(want, blocks)
		sameBits(t, f.cpu.String(), got, want)
	}
}

// Whatever the bytes of a file are, every format reads them, and panels hold the same weights as the
// file.
func FuzzBlocks(f *testing.F) {
	f.Add(uint8(0), []byte{0xff})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		f := formats[int(which)%len(formats)]
		blocks := make([]byte, f.ref.BlockBytes)
		copy(blocks, data)
		got, want := make([]float32, f.ref.BlockElements), make([]float32, f.ref.BlockElements)
		repack(f.cpu, 1, len(got), blocks).Row(got, 0)
		f.ref.Dequantize(want, blocks)
		sameBits(t, f.cpu.String(), got, want)
	})
}

// Compared with float64, the error is that of rounding activations to 1/254 of the largest
// magnitude in their block, plus float32 rounding.
func TestMatMulQuantizedErrorBound(t *testing.T) {
	const m, rows, cols = 4, 50, 512
	for _, f := range formats {
		r := rand.New(rand.NewPCG(5, 0))
		x, w := fill(m*cols, r, inputs[0].number), randomBlocks(f.ref, rows, cols, r, false)
		wide := make([]float32, rows*cols)
		f.ref.Dequantize(wide, w)
		want, got := make([]float64, m*rows), make([]float32, m*rows)
		ref.MatMul(want, x, m, wide, rows, cols)
		var quants cpu.Quantized
		quants.Quantize(x, m, cols)
		task := cpu.MatMulQuantized{Dst: got, X: &quants, W: repack(f.cpu, rows, cols, w)}
		task.Do(0, task.Items())
		for i := range want {
			bound := 0.0
			for b := range cols / cpu.Block {
				largest, magnitudes := 0.0, 0.0
				for k := b * cpu.Block; k < (b+1)*cpu.Block; k++ {
					largest = max(largest, math.Abs(float64(x[i/rows*cols+k])))
					magnitudes += math.Abs(float64(wide[i%rows*cols+k]))
				}
				bound += magnitudes * largest / 254 * 1.01
			}
			if diff := math.Abs(float64(got[i]) - want[i]); diff > bound {
				t.Fatalf("%v: element %d differs by %g, the bound is %g", f.cpu, i, diff, bound)
			}
		}
	}
}

// BenchmarkMatMulQuantized reads weights that do not fit into any cache, like a decode step of a
// model with 0.6 billion weights.
func BenchmarkMatMulQuantized(b *testing.B) {
	const rows, cols = 64 << 10, 1024
	r := rand.New(rand.NewPCG(1, 0))
	pool := cpu.NewPool(2, cpu.DefaultPoll)
	defer pool.Close()
	for _, f := range formats {
		blocks := randomBlocks(f.ref, 32, cols, r, false)
		src := make([]byte, 0, rows/32*len(blocks))
		for range rows / 32 {
			src = append(src, blocks...)
		}
		w := repack(f.cpu, rows, cols, src)
		bytes := f.cpu.PanelBytes(rows, cols)
		for _, m := range []int{1, 2, 5, 9, 32, 128} {
			var x cpu.Quantized
			x.Quantize(fill(m*cols, r, inputs[0].number), m, cols)
			task := cpu.MatMulQuantized{Dst: make([]float32, m*rows), X: &x, W: w}
			b.Run(fmt.Sprintf("%v/m=%d", f.cpu, m), func(b *testing.B) {
				b.SetBytes(bytes)
				for b.Loop() {
					pool.Run(&task, task.Items(), task.Work())
				}
				b.ReportMetric(2*float64(m*rows*cols)*float64(b.N)/float64(b.Elapsed().Nanoseconds()),
					"GFLOP/s")
			})
		}
	}
}

func BenchmarkRepack(b *testing.B) {
	const rows, cols = 128, 1024
	for _, f := range formats {
		src := randomBlocks(f.ref, rows, cols, rand.New(rand.NewPCG(1, 0)), false)
		task := cpu.Repack{Panels: cpu.NewPanels(f.cpu, rows, cols), Src: src}
		b.Run(f.cpu.String(), func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				task.Do(0, task.Panels.Items())
			}
		})
	}
}
