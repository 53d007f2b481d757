package simtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/sim"
	"specula/kernels/ref"
)

// witness is a test that may fail without harm.
type witness struct {
	testing.TB
	says []string
}

func (w *witness) Helper()             {}
func (w *witness) Logf(string, ...any) {}
func (w *witness) Errorf(format string, arguments ...any) {
	w.says = append(w.says, fmt.Sprintf(format, arguments...))
}

func TestEqual(t *testing.T) {
	nan := math.Float32frombits(0xffc00001)
	for _, c := range []struct {
		got, want []float32
		says      string
	}{
		{[]float32{1, nan}, []float32{1, float32(math.NaN())}, ""},
		{[]float32{0, 1, 2}, []float32{0, 1.0000001, 3}, "x: 2 of 3 differ, first element 1: 1, want 1.0000001"},
		{[]float32{0}, []float32{float32(math.Copysign(0, -1))}, "x: 1 of 1 differ"},
		{[]float32{nan}, []float32{1}, "x: 1 of 1 differ"},
		{[]float32{1}, nil, "x: 1 elements, want 0"},
	} {
		w := &witness{TB: t}
		Equal(w, "x", c.got, c.want)
		if got := strings.Join(w.says, "\n"); !strings.HasPrefix(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("%v and %v: %q, want %q", c.got, c.want, got, c.says)
		}
	}
}

const lastBlockWins = `.version 7.4
.target sm_80
.address_size 64
.visible .entry last(.param .u64 word)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [word];
	mov.u32 %r1, %ctaid.x;
	st.global.u32 [%rd1], %r1;
	ret;
}`

func TestOrderOfBlocksIsNoticed(t *testing.T) {
	w := &witness{TB: t}
	k := Parse(w, lastBlockWins)
	k.workers = 1
	k.Run("last", Grid(50), Block(1), 0, []uint32{0})
	if len(w.says) != 1 || !strings.Contains(w.says[0], "depends on the order") {
		t.Errorf("said %q", w.says)
	}
}

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
	body, behind, _ := strings.Cut(rest, ".entry ")
	lines := strings.SplitAfter(body, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), instruction) {
			if n--; n < 0 {
				lines[i] = "\n"
				return before + ".entry " + kernel + "(" + strings.Join(lines, "") + strings.TrimSuffix(".entry "+behind, ".entry ")
			}
		}
	}
	return ""
}

// Kernels that lack one of their barriers or waits are found out: by the simulator, or by a wrong
// result.
func TestMissingSynchronisationIsNoticed(t *testing.T) {
	norm := func(k Kernels) error {
		x, w := Normal(1, 512), Normal(2, 512)
		want := make([]float32, len(x))
		ref.RMSNormGroup(want, x, w, 1e-6)
		got := make([]float32, len(x))
		if err := k.Try("rms_norm", Grid(1), Block(ref.NormThreads(512)), 0, got, x, w, int32(512), float32(1e-6)); err != nil {
			return err
		}
		Equal(k.t, "rms_norm", got, want)
		return nil
	}
	type plant struct {
		module, kernel string
		spare          []int // barriers that this launch does not need
		run            func(Kernels) error
	}
	plants := []plant{{"norm", "rms_norm", []int{0}, norm}} // the first barrier is for a second sum
	for _, f := range Matmuls {
		plants = append(plants, plant{f.Module, fmt.Sprintf("matmul_%s_tile", f.Name), nil, func(k Kernels) (err error) {
			const rows, m = 16, 130
			cols := 5 * f.Columns
			w := f.random(rand.New(rand.NewPCG(1, 1)), rows, cols)
			x := Normal(3, m*cols)
			want := make([]float32, m*rows)
			f.multiply(want, x, m, w, rows, cols, 1)
			run := func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
				if err == nil {
					err = k.Try(kernel, grid, block, sharedBytes, arguments...)
				}
			}
			got := f.product(run, x, m, f.pack(k.t, w, rows, cols), []int{rows}, cols, 1)[0]
			Equal(k.t, f.Name, got, want)
			return err
		}})
	}
	for _, p := range plants {
		for _, instruction := range []string{"bar.sync", "bar.warp.sync", "cp.async.wait_group"} {
			for n := 0; ; n++ {
				text := without(t, p.module, p.kernel, instruction, n)
				if text == "" {
					break
				}
				if instruction == "bar.sync" && slices.Contains(p.spare, n) {
					continue
				}
				w := &witness{TB: t}
				if err := p.run(Parse(w, text)); err == nil && len(w.says) == 0 {
					t.Errorf("%s without %s number %d: nothing was noticed", p.kernel, instruction, n)
				} else {
					t.Log(p.kernel, instruction, n, err, len(w.says))
				}
			}
		}
	}
}
