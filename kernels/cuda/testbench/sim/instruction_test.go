package sim

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

const header = ".version 7.8\n.target sm_90\n.address_size 64\n"

const declared = `.reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<16>; .reg .f64 %fd<8>;
`

// around makes a kernel that runs one instruction in one thread. It loads all registers of the
// instruction except the first from in, and stores the first to out afterwards.
func around(instruction string) string {
	var b strings.Builder
	b.WriteString(header + ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + declared)
	b.WriteString("ld.param.u64 %rd14, [in];\nld.param.u64 %rd15, [out];\n")
	list := regexp.MustCompile(`%(rs|rd|r|fd|f|p)\d+`).FindAllStringSubmatch(instruction, -1)
	kind := map[string]string{"rs": "b16", "r": "b32", "rd": "b64", "f": "f32", "fd": "f64"}
	for i, r := range list[1:] {
		if r[1] == "p" {
			fmt.Fprintf(&b, "ld.global.b32 %%r31, [%%rd14+%d];\nsetp.ne.s32 %s, %%r31, 0;\n", 8*i, r[0])
		} else {
			fmt.Fprintf(&b, "ld.global.%s %s, [%%rd14+%d];\n", kind[r[1]], r[0], 8*i)
		}
	}
	b.WriteString(instruction + ";\n")
	if d := list[0]; d[1] == "p" {
		fmt.Fprintf(&b, "selp.b32 %%r31, 1, 0, %s;\nst.global.b32 [%%rd15], %%r31;\n", d[0])
	} else {
		fmt.Fprintf(&b, "st.global.%s [%%rd15], %s;\n", kind[d[1]], d[0])
	}
	b.WriteString("ret;\n}\n")
	return b.String()
}

func load(t testing.TB, text string) *Kernel {
	t.Helper()
	m, err := Load(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	k, err := m.Kernel(m.Kernels()[0])
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func f(x float32) uint64 { return uint64(math.Float32bits(x)) }
func d(x float64) uint64 { return math.Float64bits(x) }
func s(x int32) uint64   { return uint64(uint32(x)) }

const (
	inf  = 0x7f800000
	nan  = 0x7fc00000
	zero = 0x80000000 // −0
)

func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		instruction string
		in          []uint64
		want        uint64
	}{
		{"add.s32 %r0, %r1, %r2", []uint64{0xffffffff, 2}, 1},
		{"add.s64 %rd0, %rd1, -8", []uint64{4}, 1<<64 - 4},
		{"add.s16 %rs0, %rs1, %rs2", []uint64{0xffff, 3}, 2},
		{"sub.s32 %r0, %r1, 5", []uint64{2}, s(-3)},
		{"mul.lo.s32 %r0, %r1, %r2", []uint64{s(-3), 7}, s(-21)},
		{"mul.hi.u32 %r0, %r1, %r2", []uint64{0xffffffff, 0xffffffff}, 0xfffffffe},
		{"mul.hi.s32 %r0, %r1, %r2", []uint64{s(-2), 3}, s(-1)},
		{"mul.hi.u64 %rd0, %rd1, %rd2", []uint64{1 << 63, 6}, 3},
		{"mul.hi.s64 %rd0, %rd1, %rd2", []uint64{1<<64 - 1, 1<<64 - 1}, 0},
		{"mul.hi.s64 %rd0, %rd1, %rd2", []uint64{1<<64 - 5, 7}, 1<<64 - 1},
		{"mul.wide.s32 %rd0, %r1, 4", []uint64{s(-3)}, 1<<64 - 12},
		{"mul.wide.u32 %rd0, %r1, %r2", []uint64{0xffffffff, 0xffffffff}, 0xfffffffe00000001},
		{"mul.wide.u16 %r0, %rs1, %rs2", []uint64{0xffff, 0xffff}, 0xfffe0001},
		{"mad.lo.s32 %r0, %r1, %r2, %r3", []uint64{s(-3), 7, 1}, s(-20)},
		{"mad.wide.u32 %rd0, %r1, %r2, %rd3", []uint64{0xffffffff, 2, 5}, 0x200000003},
		{"mad.hi.u32 %r0, %r1, %r2, %r3", []uint64{0x80000000, 6, 5}, 8},
		{"div.s32 %r0, %r1, %r2", []uint64{s(-7), 2}, s(-3)},
		{"div.u32 %r0, %r1, %r2", []uint64{s(-7), 2}, 0x7ffffffc},
		{"div.u64 %rd0, %rd1, 10", []uint64{1000}, 100},
		{"div.s32 %r0, %r1, %r2", []uint64{0x80000000, s(-1)}, 0x80000000},
		{"rem.s32 %r0, %r1, %r2", []uint64{s(-7), 2}, s(-1)},
		{"rem.u32 %r0, %r1, 10", []uint64{57}, 7},
		{"min.s32 %r0, %r1, %r2", []uint64{s(-7), 2}, s(-7)},
		{"min.u32 %r0, %r1, %r2", []uint64{s(-7), 2}, 2},
		{"max.s64 %rd0, %rd1, %rd2", []uint64{1<<64 - 7, 2}, 2},
		{"max.u64 %rd0, %rd1, %rd2", []uint64{1<<64 - 7, 2}, 1<<64 - 7},
		{"neg.s32 %r0, %r1", []uint64{5}, s(-5)},
		{"abs.s32 %r0, %r1", []uint64{s(-5)}, 5},
		{"dp4a.s32.s32 %r0, %r1, %r2, %r3", []uint64{0xff02037f, 0x0180ff7f, 10},
			s(10 - 1 - 256 - 3 + 127*127)},
		{"dp4a.u32.u32 %r0, %r1, %r2, %r3", []uint64{0xff000001, 0x02000003, 1}, 255*2 + 3 + 1},

		{"and.b32 %r0, %r1, %r2", []uint64{12, 10}, 8},
		{"or.b64 %rd0, %rd1, %rd2", []uint64{1 << 40, 2}, 1<<40 | 2},
		{"xor.b16 %rs0, %rs1, -1", []uint64{0x00ff}, 0xff00},
		{"xor.pred %p0, %p1, %p2", []uint64{1, 1}, 0},
		{"and.pred %p0, %p1, !%p2", []uint64{1, 0}, 1},
		{"not.b32 %r0, %r1", []uint64{0xff}, 0xffffff00},
		{"not.pred %p0, %p1", []uint64{0}, 1},
		{"shl.b32 %r0, %r1, %r2", []uint64{1, 31}, 0x80000000},
		{"shl.b32 %r0, %r1, %r2", []uint64{1, 32}, 0},
		{"shl.b64 %rd0, %rd1, 33", []uint64{1}, 1 << 33},
		{"shr.u32 %r0, %r1, %r2", []uint64{0x80000000, 40}, 0},
		{"shr.s32 %r0, %r1, %r2", []uint64{0x80000000, 40}, 0xffffffff},
		{"shr.s32 %r0, %r1, 4", []uint64{0xffffff00}, 0xfffffff0},
		{"shr.u64 %rd0, %rd1, 4", []uint64{0x100}, 0x10},
		{"shf.l.wrap.b32 %r0, %r1, %r2, 8", []uint64{0x11223344, 0xaabbccdd}, 0xbbccdd11},
		{"shf.r.wrap.b32 %r0, %r1, %r2, 40", []uint64{0x11223344, 0xaabbccdd}, 0xdd112233},
		{"shf.l.clamp.b32 %r0, %r1, %r2, 40", []uint64{0x11223344, 0xaabbccdd}, 0x11223344},
		{"lop3.b32 %r0, %r1, %r2, %r3, 0x96", []uint64{0xf0, 0xcc, 0xaa}, 0xf0 ^ 0xcc ^ 0xaa},
		{"lop3.b32 %r0, %r1, %r2, %r3, 0xe2", []uint64{0xf0, 0xcc, 0xaa}, 0xe2},
		{"prmt.b32 %r0, %r1, %r2, 0x7340", []uint64{0x11223384, 0xaabbccdd}, 0xaa11dd84},
		{"prmt.b32 %r0, %r1, %r2, 0x8880", []uint64{0x11223384, 0}, 0xffffff84},
		{"popc.b32 %r0, %r1", []uint64{0xf0f}, 8},
		{"popc.b64 %r0, %rd1", []uint64{0xf0f << 40}, 8},
		{"clz.b32 %r0, %r1", []uint64{1}, 31},
		{"clz.b64 %r0, %rd1", []uint64{0}, 64},
		{"brev.b32 %r0, %r1", []uint64{1}, 0x80000000},
		{"bfe.u32 %r0, %r1, 4, 8", []uint64{0x12345678}, 0x67},
		{"bfe.s32 %r0, %r1, 4, 4", []uint64{0x12345f98}, s(-7)},
		{"bfe.u32 %r0, %r1, 28, 8", []uint64{0x92345678}, 9},
		{"bfe.s32 %r0, %r1, 28, 8", []uint64{0x92345678}, 0xfffffff9},
		{"bfi.b32 %r0, %r1, %r2, 8, 4", []uint64{0xab, 0xffffffff}, 0xfffffbff},
		{"bfind.u32 %r0, %r1", []uint64{0x100}, 8},
		{"bfind.s32 %r0, %r1", []uint64{s(-1)}, 0xffffffff},
		{"bfind.shiftamt.u32 %r0, %r1", []uint64{0x100}, 23},

		{"add.rn.f32 %f0, %f1, %f2", []uint64{f(1), f(0x1p-24)}, f(1)},
		{"add.rn.f32 %f0, %f1, %f2", []uint64{inf, inf | 1<<31}, nan32},
		{"sub.rn.f32 %f0, %f1, %f2", []uint64{f(1), f(3)}, f(-2)},
		{"mul.rn.f32 %f0, %f1, 0f40490FDB", []uint64{f(2)}, 0x40c90fdb},
		{"fma.rn.f32 %f0, %f1, %f2, %f3", []uint64{f(1 + 0x1p-12), f(1 + 0x1p-12), f(-1)},
			f(0x1p-11 + 0x1p-24)},
		{"fma.rn.f64 %fd0, %fd1, %fd2, %fd3", []uint64{d(3), d(5), d(7)}, d(22)},
		{"div.rn.f32 %f0, %f1, %f2", []uint64{f(1), f(3)}, 0x3eaaaaab},
		{"div.rn.f32 %f0, %f1, %f2", []uint64{f(1), zero}, inf | 1<<31},
		{"rcp.rn.f32 %f0, %f1", []uint64{f(3)}, 0x3eaaaaab},
		{"sqrt.rn.f32 %f0, %f1", []uint64{f(2)}, 0x3fb504f3},
		{"sqrt.rn.f32 %f0, %f1", []uint64{f(-2)}, nan32},
		{"min.f32 %f0, %f1, %f2", []uint64{nan, f(2)}, f(2)},
		{"max.f32 %f0, %f1, %f2", []uint64{zero, 0}, 0},
		{"neg.f32 %f0, %f1", []uint64{f(2)}, f(-2)},
		{"abs.f32 %f0, %f1", []uint64{f(-2)}, f(2)},
		{"add.rn.f64 %fd0, %fd1, %fd2", []uint64{d(0.1), d(0.2)}, d(0.30000000000000004)},
		{"copysign.f32 %f0, %f1, %f2", []uint64{f(-2), f(3)}, f(-3)},

		{"cvt.s64.s32 %rd0, %r1", []uint64{s(-3)}, 1<<64 - 3},
		{"cvt.u64.u32 %rd0, %r1", []uint64{s(-3)}, 0xfffffffd},
		{"cvt.u32.u64 %r0, %rd1", []uint64{1<<40 | 7}, 7},
		{"cvt.u16.u32 %rs0, %r1", []uint64{0x12345}, 0x2345},
		{"cvt.s32.s8 %r0, %r1", []uint64{0x1234ff}, s(-1)},
		{"cvt.u32.u8 %r0, %rs1", []uint64{0x12ff}, 0xff},
		{"cvt.s8.s32 %r0, %r1", []uint64{0x80}, s(-128)},
		{"cvt.sat.s8.s32 %r0, %r1", []uint64{300}, 127},
		{"cvt.sat.u8.s32 %r0, %r1", []uint64{s(-4)}, 0},
		{"cvt.rzi.s32.f32 %r0, %f1", []uint64{f(-2.7)}, s(-2)},
		{"cvt.rni.s32.f32 %r0, %f1", []uint64{f(2.5)}, 2},
		{"cvt.rzi.s32.f32 %r0, %f1", []uint64{f(3e10)}, 0x7fffffff},
		{"cvt.rzi.s32.f32 %r0, %f1", []uint64{nan}, 0},
		{"cvt.rzi.u32.f32 %r0, %f1", []uint64{f(-3)}, 0},
		{"cvt.rni.s8.f32 %r0, %f1", []uint64{f(-200)}, s(-128)},
		{"cvt.rzi.u64.f32 %rd0, %f1", []uint64{f(0x1p63)}, 1 << 63},
		{"cvt.rn.f32.s32 %f0, %r1", []uint64{s(-16777217)}, f(-16777216)},
		{"cvt.rn.f32.u32 %f0, %r1", []uint64{0xffffffff}, f(0x1p32)},
		{"cvt.rn.f32.s8 %f0, %r1", []uint64{0x80}, f(-128)},
		{"cvt.rn.f32.u64 %f0, %rd1", []uint64{1<<24 + 1<<40}, f(1<<40 + 1<<24)},
		{"cvt.rni.f32.f32 %f0, %f1", []uint64{f(-2.5)}, f(-2)},
		{"cvt.rmi.f32.f32 %f0, %f1", []uint64{f(-2.5)}, f(-3)},
		{"cvt.rzi.f32.f32 %f0, %f1", []uint64{f(-0.5)}, zero},
		{"cvt.rn.f16.f32 %rs0, %f1", []uint64{f(1.00048828125)}, 0x3c00},
		{"cvt.rn.f16.f32 %rs0, %f1", []uint64{f(65520)}, 0x7c00},
		{"cvt.f32.f16 %f0, %rs1", []uint64{0x0001}, f(0x1p-24)},
		{"cvt.f32.f16 %f0, %rs1", []uint64{0xfc00}, inf | 1<<31},
		{"cvt.rn.bf16.f32 %rs0, %f1", []uint64{f(1.01171875)}, 0x3f82},
		{"cvt.f32.bf16 %f0, %rs1", []uint64{0x3f82}, f(1.015625)},
		{"cvt.rn.f16x2.f32 %r0, %f1, %f2", []uint64{f(1), f(2)}, 0x3c004000},
		{"cvt.rn.bf16x2.f32 %r0, %f1, %f2", []uint64{f(1), f(2)}, 0x3f804000},
		{"cvt.f64.f32 %fd0, %f1", []uint64{f(1.5)}, d(1.5)},
		{"cvt.rn.f32.f64 %f0, %fd1", []uint64{d(1 + 0x1p-24)}, f(1)},

		{"setp.lt.s32 %p0, %r1, %r2", []uint64{s(-1), 1}, 1},
		{"setp.lt.u32 %p0, %r1, %r2", []uint64{s(-1), 1}, 0},
		{"setp.hi.u32 %p0, %r1, %r2", []uint64{s(-1), 1}, 1},
		{"setp.ge.s64 %p0, %rd1, 0", []uint64{1 << 63}, 0},
		{"setp.eq.s16 %p0, %rs1, %rs2", []uint64{5, 5}, 1},
		{"setp.ne.b32 %p0, %r1, %r2", []uint64{5, 5}, 0},
		{"setp.lt.f32 %p0, %f1, %f2", []uint64{nan, f(1)}, 0},
		{"setp.ltu.f32 %p0, %f1, %f2", []uint64{nan, f(1)}, 1},
		{"setp.ne.f32 %p0, %f1, %f2", []uint64{nan, f(1)}, 0},
		{"setp.neu.f32 %p0, %f1, %f2", []uint64{nan, f(1)}, 1},
		{"setp.equ.f32 %p0, %f1, %f2", []uint64{nan, f(1)}, 1},
		{"setp.nan.f32 %p0, %f1, %f1", []uint64{nan, nan}, 1},
		{"setp.num.f32 %p0, %f1, %f2", []uint64{f(1), f(2)}, 1},
		{"setp.eq.f32 %p0, %f1, %f2", []uint64{zero, 0}, 1},
		{"setp.lt.and.s32 %p0, %r1, %r2, %p3", []uint64{1, 2, 0}, 0},
		{"setp.lt.or.s32 %p0, %r1, %r2, !%p3", []uint64{3, 2, 0}, 1},
		{"selp.b32 %r0, %r1, %r2, %p3", []uint64{7, 8, 1}, 7},
		{"selp.f32 %f0, %f1, 0f00000000, %p3", []uint64{f(7), 0}, 0},

		{"mov.b32 %f0, %r1", []uint64{f(3)}, f(3)},
		{"mov.b32 %r0, {%rs1, %rs2}", []uint64{0x1111, 0x2222}, 0x22221111},
		{"mov.b64 %rd0, {%r1, %r2}", []uint64{0x11111111, 0x22222222}, 0x2222222211111111},
		{"mov.u32 %r0, %ntid.x", nil, 1},
		{"mov.pred %p0, 1", nil, 1},
		{"@!%p1 mov.u32 %r0, 9", []uint64{0, 0}, 9},
	} {
		text := c.instruction
		if strings.HasPrefix(text, "@") { // the target comes first in the list of registers
			text = "mov.u32 %r0, 3;\n" + text
		}
		k := load(t, around(text))
		m := NewMachine()
		in, out := m.Alloc(64), m.Alloc(8)
		data := make([]byte, 64)
		for i, v := range c.in {
			binary.LittleEndian.PutUint64(data[8*i:], v)
		}
		if err := m.Write(in, data); err != nil {
			t.Fatal(err)
		}
		if err := m.Write(out, make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if err := m.Launch(k, Dim{}, Dim{}, 0, in, out); err != nil {
			t.Errorf("%s: %v", c.instruction, err)
			continue
		}
		if err := m.Read(out, data[:8]); err != nil {
			t.Fatal(err)
		}
		if got := binary.LittleEndian.Uint64(data); got != c.want {
			t.Errorf("%s of %x gives %#x, want %#x", c.instruction, c.in, got, c.want)
		}
	}
}
