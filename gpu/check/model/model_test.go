package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// The assembler makes the same loops for sm_86 as for sm_89. As long as loops.txt says so, only those
// for sm_89 are counted.
const counted, like = 89, 86

func TestTwoTargetsHaveTheSameLoops(t *testing.T) {
	known, err := os.ReadFile("loops.txt")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]string{}
	for line := range strings.Lines(string(known)) {
		target, loop, _ := strings.Cut(line, " ")
		of[target] = append(of[target], loop)
	}
	one, other := fmt.Sprint("sm_", counted), fmt.Sprint("sm_", like)
	if len(of[one]) == 0 || !slices.Equal(of[one], of[other]) {
		t.Errorf("the loops of %s and %s differ in loops.txt: let TestInnerLoopsDoNotGrow count both", one, other)
	}
}

// The inner loops of the products that are shipped are no longer than loops.txt says.
func TestInnerLoopsDoNotGrow(t *testing.T) {
	found, err := findTools("../../../.gpu-model")
	if err != nil {
		t.Skip(err)
	}
	some := slices.DeleteFunc(targets(), func(target int) bool { return target == like })
	loops, err := countAll(found, "../../../kernels/cuda/ptx", some)
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile("loops.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range grown(string(known), loops) {
		t.Error(line)
	}
}

func TestGrownLoopsAreNamed(t *testing.T) {
	known := "# comment\nsm_89 a 10.00 64\nsm_89 b 10.00 64\n"
	for _, c := range []struct {
		of   loop
		want string
	}{
		{loop{kernel: "a", target: 89, instructions: 10.4}, ""},
		{loop{kernel: "b", target: 89, instructions: 10.6}, "sm_89 b: 10.60 instructions, before 10.00"},
		{loop{kernel: "a", target: 90, instructions: 1}, "sm_90 a: not in " + loopsFile},
	} {
		if got := strings.Join(grown(known, []loop{c.of}), "; "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
}

// A loop with two multiplications in five instructions, in one with one more; and a kernel without
// multiplications.
const disassembled = `
.text.product:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   IADD3 R1, R1, 0x1, RZ ;
.L_x_2:
        /*0020*/                   LDG.E R2, [R4] ;
        /*0030*/                   HMMA.16816.F32 R4, R8, R2, R4 ;
        /*0040*/                   IADD3 R2, R2, 0x1, RZ ;
        /*0050*/                   IMMA.16832.S8.S8 R4, R8.ROW, R2.COL, R4 ;
        /*0060*/               @P0 BRA ` + "`(.L_x_2) ;" + `
        /*0070*/                   HMMA.16816.F32 R4, R8, R2, R4 ;
        /*0080*/               @P1 BRA ` + "`(.L_x_1) ;" + `
        /*0090*/                   EXIT ;
.text.other:
.L_x_3:
        /*0000*/                   BRA ` + "`(.L_x_3);" + `
`

func TestTheInnermostLoopIsFound(t *testing.T) {
	got := hotLoops(disassembled)
	if len(got) != 1 || got[0].kernel != "product" || got[0].instructions != 2.5 {
		t.Errorf("%+v, want 2.5 instructions in product alone", got)
	}
	if r := registersOf("ptxas info    : Compiling entry function 'a' for 'sm_89'\nptxas info    : Used 72 registers"); r["a"] != 72 {
		t.Errorf("registers %v", r)
	}
}

// A product that reads much takes hardly more than the time of reading, since waiting is short; one whose blocks fill half of a wave takes twice
// as long as the arithmetic of a full one.
func TestProducts(t *testing.T) {
	c := card{multiprocessor: 100, clock: 2, bytes: 1000, half: 100, target: 89}
	reading := launch{count: 2, kernel: "matmul_half_rows8", blocks: 10000, threads: 256, bytes: 920e6}
	if got := product(reading, 1, c, loop{instructions: 1, registers: 64}); got < 1000 || got > 1002 {
		t.Errorf("reading 920 MB took %g µs", got)
	}
	full := launch{count: 1, kernel: "matmul_half_tile", blocks: 100, threads: 256, bytes: 4096}
	half := full
	half.blocks = 50
	of := loop{instructions: 1000}
	if a, b := product(full, 128, c, of), product(half, 128, c, of); math.Abs(b-2*a) > 1e-9 {
		t.Errorf("%g µs with all processors, %g µs with half of them", a, b)
	}
}

func TestPassesAreRead(t *testing.T) {
	passes, err := readPasses(recorded)
	if err != nil || len(passes) != 36 {
		t.Fatalf("%d passes: %v", len(passes), err)
	}
	for _, text := range []string{"1 a 1 1 1", "pass a b c", "pass a b 1\n1 a", "pass a b 1\n1 a+other 1 1 1"} {
		if _, err := readPasses(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// Passes of types that were not recorded launch the products of their own format and read its bytes.
func TestPassesOfOtherTypes(t *testing.T) {
	passes, err := readPasses(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for format, c := range map[string]struct {
		kernel, like string
		bits, ofLike float64 // per weight
	}{"Q5_1": {"matmul_q5_1_row", "Q8_0", 6, 8.5}, "Q5_K": {"matmul_q5_k_row", "Q4_K", 5.625, 4.625}} {
		got, like := productsOf(withOtherTypes(passes), format), productsOf(passes, c.like)
		if ratio := got.weightBytes() / like.weightBytes(); math.Abs(ratio-c.bits/c.ofLike) > 1e-9 {
			t.Errorf("%s reads %.4f times the weights of %s, want %.4f", format, ratio, c.like, c.bits/c.ofLike)
		}
		if !slices.ContainsFunc(got.launches, func(l launch) bool { return l.kernel == c.kernel }) {
			t.Errorf("a pass of %s launches no %s", format, c.kernel)
		}
	}
}

// productsOf is the pass of one row of Qwen3-8B in a format, without the launches that are no products.
func productsOf(passes []pass, format string) (products pass) {
	for _, p := range passes {
		if p.model == "qwen3-8b" && p.format == format && p.rows == 1 {
			p.launches = slices.DeleteFunc(slices.Clone(p.launches), func(l launch) bool { return !strings.HasPrefix(l.kernel, "matmul_") })
			products = p
		}
	}
	return products
}

// The assumptions explain what the H200 measured. The worst figure is decoding of 1.7B in Q4_K, for which the
// estimate is 17 % too short.
func TestTheEstimateIsNearWhatACardMeasured(t *testing.T) {
	const most = 18 // %
	text, err := os.ReadFile("../../../" + measuredFile)
	if err != nil {
		t.Fatal(err)
	}
	figures, err := compare(text)
	if err != nil || len(figures) != 80 { // without the first kernel of each pass
		t.Errorf("%d figures: %v", len(figures), err)
	}
	for _, f := range figures {
		if math.Abs(f.percent()) > most {
			t.Errorf("%s: estimated %.1f µs, measured %.1f: %+.0f %%", f.name, f.estimated, f.measured, f.percent())
		}
	}
}

// The products after attention find in the cache what attention had time to fetch, in their order; the last of them
// gets what is left.
func TestProductsFindWhatAttentionFetched(t *testing.T) {
	c := card{multiprocessor: 100, bytes: 1000, cache: 100 << 20}
	p := pass{rows: 1, launches: []launch{
		{count: 9, kernel: "matmul_half_rows8", bytes: 3e6}, {count: 9, kernel: "attend_half_128", also: []string{"ahead"}, blocks: 32},
		{count: 9, kernel: "norm_summed"}, {count: 9, kernel: "matmul_half_rows8", bytes: 2e6},
		{count: 9, kernel: "matmul_half_rows8", also: []string{"swiglu"}, bytes: 3e6},
		{count: 9, kernel: "matmul_half_rows8", bytes: 1e6}, {count: 9, kernel: "matmul_half_rows8", bytes: 1e6},
		{count: 1, kernel: "matmul_half_rows8", bytes: 5e6},
	}}
	check := func(what string, c card, want ...float64) {
		if fetches, fetched := p.fetching(c); fetches[1] != want[1] || !slices.Equal(fetched[2:], want[2:]) {
			t.Errorf("%s: attention fetches %g bytes, products find %v, want %v", what, fetches[1], fetched, want)
		}
	}
	check("four matrices", c, 0, 6e6, 0, 2e6, 3e6, 1e6, 0, 0)
	c.bytes = 500
	check("as much as the memory delivers in 8 µs", c, 0, 4e6, 0, 2e6, 2e6, 0, 0, 0)
	c.multiprocessor = 32
	check("attention fills the card", c, 0, 0, 0, 0, 0, 0, 0, 0)
}
