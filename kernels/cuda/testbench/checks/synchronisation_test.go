package checks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/sim"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// without removes the n-th occurrence of an instruction from a kernel and returns the module; ""
// if there are fewer.
func without(t *testing.T, module, kernel, instruction string, n int) string {
	t.Helper()
	text, err := cuda.PTX(module)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(text, ".entry "+kernel+"(")
	if !ok {
		t.Fatalf("module %s has no kernel %s", module, kernel)
	}
	body, after, _ := strings.Cut(rest, ".entry ")
	lines := strings.SplitAfter(body, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), instruction) {
			if n--; n < 0 {
				lines[i] = "\n"
				return before + ".entry " + kernel + "(" + strings.Join(lines,
					"") + strings.TrimSuffix(".entry "+after, ".entry ")
			}
		}
	}
	return ""
}

// normedInTurns returns a function that lets one block compute all tiles of two products of a norm, and their SwiGLU.
// It compares them with products of a row that is normalised before.
func normedInTurns(f Matmul) func(testing.TB, simtest.Kernels) error {
	const rows, eps = 40, float32(1e-6)
	return func(t testing.TB, k simtest.Kernels) (err error) {
		r := rand.New(rand.NewPCG(1, 1))
		n := 2 * max(f.Columns, 128)
		stream, norm, normed := simtest.Normal(2, n), simtest.Normal(3, n), make([]float32, n)
		ref.RMSNormGroup(normed, stream, norm, eps)
		pair := []packed{f.pack(t, f.random(r, rows, n), rows, n, 2), f.pack(t, f.random(r, rows, n), rows, n, 2)}
		run := func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
			if module := f.ModuleOf(kernel); module != f.Module {
				simtest.Load(t, module).Run(kernel, grid, block, sharedBytes, arguments...)
			} else if err == nil {
				err = k.Try(kernel, grid, block, sharedBytes, arguments...)
			}
		}
		also := beside{stream: stream, squares: ref.TileSquares(stream), norm: norm, eps: eps, blocks: 1}
		want, got := f.products(run, normed, 1, pair, n), f.productsThen(run, nil, 1, pair, n, also)
		for i := range want {
			simtest.Equal(t, f.Name, got[i], want[i])
		}
		gated := beside{kind: cuda.SwiGLUEpilogue, operand: f.emptyOperand(1, rows)}
		f.productsThen(run, normed, 1, pair, n, gated)
		also.kind, also.operand = gated.kind, f.emptyOperand(1, rows)
		f.productsThen(run, nil, 1, pair, n, also)
		simtest.Equal(t, f.Name, also.operand, gated.operand)
		return err
	}
}

// A norm or a product that lacks one of its barriers or waits is found out: by the simulator, or by a wrong result.
func TestMissingSynchronisationIsNoticed(t *testing.T) {
	norm := func(t testing.TB, k simtest.Kernels) error {
		const n = 8192 + 512 // more tiles than the kernel has room for at once
		x, w := simtest.Normal(1, n), simtest.Normal(2, n)
		want := make([]float32, len(x))
		ref.RMSNormGroup(want, x, w, 1e-6)
		got := make([]float32, len(x))
		if err := k.Try("rms_norm", simtest.Grid(1), simtest.Block(ref.NormThreads(n)), 0, got, x, w,
			int32(n), float32(1e-6)); err != nil {
			return err
		}
		simtest.Equal(t, "rms_norm", got, want)
		return nil
	}
	type plant struct {
		module, kernel string
		spare          []string // what this launch does not need
		run            func(testing.TB, simtest.Kernels) error
	}
	// The barrier of a warp is for kernels in which a block of one warp writes the row.
	plants := []plant{{"norm", "rms_norm", []string{"bar.warp.sync 0"}, norm}}
	// A product of a norm copies nothing. In a turn here, a warp has one range, so it need not wait after it.
	spareInTurns := []string{"cp.async.wait_group 0", "bar.warp.sync 0", "bar.warp.sync 2"}
	for _, f := range Matmuls {
		if f.Name == "bfloat16" || f.Name == "q8_0" {
			plants = append(plants, plant{f.Module, fmt.Sprintf("matmul_%s_norm_row", f.Name), spareInTurns, normedInTurns(f)})
		}
		plants = append(plants, plant{f.Module, fmt.Sprintf("matmul_%s_tile", f.Name), nil, func(t testing.TB, k simtest.Kernels) (err error) {
			const rows, m = 16, 130
			cols := 5 * f.Columns
			w := f.random(rand.New(rand.NewPCG(1, 1)), rows, cols)
			x := simtest.Normal(3, m*cols)
			want := make([]float32, m*rows)
			f.multiply(want, x, m, w, rows, cols, 1)
			run := func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
				if module := f.ModuleOf(kernel); module != f.Module {
					simtest.Load(t, module).Run(kernel, grid, block, sharedBytes, arguments...)
				} else if err == nil {
					err = k.Try(kernel, grid, block, sharedBytes, arguments...)
				}
			}
			got := f.product(run, x, m, f.pack(t, w, rows, cols, 1), cols)
			simtest.Equal(t, f.Name, got, want)
			return err
		}})
	}
	for _, p := range plants {
		w := &simtest.Witness{TB: t}
		if err := p.run(w, simtest.Load(w, p.module)); err != nil || len(w.Says) > 0 {
			t.Errorf("%s as it is: %v, %v", p.kernel, err, w.Says)
		}
		for _, instruction := range []string{"bar.sync", "bar.warp.sync", "cp.async.wait_group"} {
			for n := 0; ; n++ {
				text := without(t, p.module, p.kernel, instruction, n)
				if text == "" {
					break
				}
				if slices.Contains(p.spare, fmt.Sprint(instruction, " ", n)) {
					continue
				}
				w := &simtest.Witness{TB: t}
				if err := p.run(w, simtest.Parse(w, text)); err == nil && len(w.Says) == 0 {
					t.Errorf("%s without %s number %d: nothing was noticed", p.kernel, instruction, n)
				} else {
					t.Logf("%s without %s number %d: %.150v, %d results differ", p.kernel, instruction, n, err, len(w.Says))
				}
			}
		}
	}
}
