package sim

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// sound is a correct kernel. Each case of TestCheckerRefuses breaks it in one place.
const sound = `.version 7.4
.target sm_80
.address_size 64

.extern .shared .align 16 .b8 dynamic[];
.global .align 4 .b8 table[8] = {1, 0, 0, 0, 2};

.visible .entry sound(
	.param .u64 sound_param_0,
	.param .u32 sound_param_1
)
.maxntid 128, 1, 1
{
	.reg .pred 	%p<3>;
	.reg .b16 	%rs<3>;
	.reg .b32 	%r<12>;
	.reg .f32 	%f<8>;
	.reg .b64 	%rd<6>;
	.shared .align 4 .b8 array[128];

	ld.param.u64 	%rd1, [sound_param_0];
	ld.param.u32 	%r1, [sound_param_1];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r2, %tid.x;
	setp.ge.s32 	%p1, %r2, %r1;
	@%p1 bra 	$L__BB0_2;
	mul.wide.u32 	%rd3, %r2, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.nc.L1::no_allocate.f32 	%f1, [%rd4+-4];
	fma.rn.f32 	%f2, %f1, 0f3F800000, %f1;
	st.global.f32 	[%rd4], %f2;
	{ .reg .u64 t; cvta.to.shared.u64 t, %rd1; cvt.u32.u64 %r3, t; }
	cp.async.cg.shared.global [%r3], [%rd4], 16;
	cp.async.commit_group;
	cp.async.wait_group 0;
	mov.u32 	%r4, array;
	st.shared.u8 	[%r4], %rs1;
	ld.shared.v4.u32 	{%r5, %r6, %r7, %r8}, [dynamic];
	shfl.sync.bfly.b32 	%r9|%p2, %r2, 1, 31, -1;
	mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f3,%f4,%f5,%f6}, {%r5,%r6,%r7,%r8}, {%r5,%r6}, {%f3,%f4,%f5,%f6};
	bar.sync 	0;
$L__BB0_2:
	ret;
}
`

func TestCheckerRefuses(t *testing.T) {
	if _, err := Load(sound); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, old, new string
		at             string // text in the line to blame, if that is not old
		says           string
	}{
		{"misspelt instruction", "fma.rn.f32", "fmq.rn.f32", "", "fmq.rn.f32 is not known"},
		{"unknown rounding", "fma.rn.f32", "fma.rz.f32", "", "fma.rz.f32 is not known"},
		{"unknown modifier", "st.global.f32", "st.global.wide.f32", "",
			"not known to the simulator (at \"wide.f32\")"},
		{"modifier too many", "bar.sync", "bar.sync.sync", "", "not known"},
		{"misspelt inline assembly", "wait_group 0", "wait_grup 0", "", "cp.async.wait_grup is not known"},
		{"approximate", "fma.rn.f32 \t%f2, %f1, 0f3F800000, %f1", "ex2.approx.f32 %f2, %f1", "",
			"is approximate"},
		{"sum that may be fused", "fma.rn.f32 \t%f2, %f1, 0f3F800000, %f1", "add.f32 %f2, %f1, %f1", "",
			"-ffp-contract=off"},
		{"version of PTX", ".version 7.4", ".version 7.0", "ld.global",
			"needs PTX 7.4, the module has .version 7.0"},
		{"target", ".target sm_80", ".target sm_75", "cp.async", "needs sm_80, the module has .target sm_75"},
		{"target with a letter", ".target sm_80", ".target sm_90a", "", "no target"},
		{"undeclared register", "%r2, %tid.x", "%r12, %tid.x", "", "register %r12 is not declared"},
		{"register out of its braces", "st.shared.u8 \t[%r4], %rs1", "cvta.to.shared.u64 t, %rd1", "",
			"t cannot be written"},
		{"register twice", ".reg .pred \t%p<3>;", ".reg .pred %p<3>; .reg .b32 %p1;", "", "declared twice"},
		{"size of a target", "mov.u32 \t%r2", "mov.u32 \t%rd5", "",
			"%rd5 is a register of type .b64, not .u32"},
		{"size of a source", "add.s64 \t%rd4, %rd2, %rd3", "add.s64 \t%rd4, %rd2, %r3", "",
			"%r3 is a register of type .b32, not .s64"},
		{"integer for a float", "0f3F800000", "1", "", "1 is an integer"},
		{"float of the wrong size", "0f3F800000", "0d3FF0000000000000", "", "has 64 bits"},
		{"type of a register", "fma.rn.f32 \t%f2, %f1,", ".reg .s32 i; fma.rn.f32 \t%f2, i,", "",
			"i is a register of type .s32, not .f32"},
		{"number too large", "cp.async.wait_group 0;", "and.b16 %rs1, %rs1, 0x12345;", "",
			"has no place in .b16"},
		{"predicate", "@%p1 bra", "@%r1 bra", "", "guards an instruction, but is no predicate"},
		{"label", "bra \t$L__BB0_2", "bra \t$L__BB0_3", "", "no label $L__BB0_3"},
		{"label twice", "bar.sync \t0;", "bar.sync 0; $L__BB0_2:", "$L__BB0_2:",
			"label $L__BB0_2 is there twice"},
		{"parameter", "[sound_param_1]", "[sound_param_2]", "", "no parameter sound_param_2"},
		{"size of a parameter", "ld.param.u32 \t%r1", "ld.param.u64 \t%rd1", "",
			"8 bytes at 0 of parameter sound_param_1, which has 4"},
		{"number of operands", "%f1, 0f3F800000, %f1", "%f1, 0f3F800000", "", "takes 4 operands, not 3"},
		{"elements of a vector", "{%r5, %r6, %r7, %r8}, [dynamic]", "{%r5, %r6}, [dynamic]", "",
			"operand 1 has 2 elements, not 4"},
		{"elements of a tile", "{%r5,%r6}, {%f3", "{%r5,%r6,%r7}, {%f3", "",
			"operand 3 has 3 elements, not 2"},
		{"shape of a tile", "m16n8k16", "m16n8k32", "", "bf16 does not come in m16n8k32"},
		{"undeclared array", "mov.u32 \t%r4, array", "mov.u32 \t%r4, arrray", "", "arrray is not declared"},
		{"array of another space", "[dynamic]", "[table]", "", "table is no variable in shared memory"},
		{"address without brackets", "[%rd4], %f2", "%rd4, %f2", "", "is no address"},
		{"address of 32 bits", "st.global.f32 \t[%rd4]", "st.global.f32 \t[%r4]", "",
			"%r4 is a register of type .b32, not .u64"},
		{"constant memory written", "st.global.f32", "st.const.f32", "", "constant memory cannot be written"},
		{"asynchronous copy of 3 bytes", "[%rd4], 16", "[%rd4], 3", "", "does not copy 3 bytes"},
		{"another barrier", "bar.sync \t0", "bar.sync \t1", "", "barriers other than 0"},
		{"call", "bar.sync \t0;", "call.uni (retval0), expf, (param0);", "", "a function is called"},
		{"external function", ".visible .entry",
			".extern .func (.param .b32 r) expf(.param .b32 x);\n.visible .entry", "",
			"a function is called that no module has"},
		{"function", ".visible .entry", ".func f();\n.visible .entry", "", "inline them"},
		{"no return", "\tret;\n", "", "@%p1 bra", "leads after the last instruction"},
		{"runs over the end", "\tret;\n", "add.s32 %r1, %r1, 1;", "", "runs over the end"},
		{"missing semicolon", "mov.u32 \t%r2, %tid.x;", "mov.u32 \t%r2, %tid.x", "setp.ge",
			"the next operand or the end of mov.u32"},
		{"garbage", "ret;", "ret; #", "", "does not belong into PTX"},
		{"no header", ".version", ".vercion", "", "where \".version\" belongs"},
		{"cut off", "\tret;\n}\n", "\tret;", "", "the end of the text"},
		{"float atomics", "bar.sync \t0;", "atom.global.add.f32 %f1, [%rd4], %f2;", "",
			"changes from run to run"},
		{"sign of a comparison", "setp.ge.s32", "setp.hs.s32", "", "hs does not compare .s32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := strings.Replace(sound, c.old, c.new, 1)
			if broken == sound {
				t.Fatalf("%q is not in the text", c.old)
			}
			_, err := Load(broken)
			if err == nil {
				t.Fatal("accepted")
			}
			before, _, _ := strings.Cut(sound, cmp.Or(c.at, c.old))
			line := fmt.Sprintf("line %d:", 1+strings.Count(before, "\n"))
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), line) {
				t.Errorf("%v\nwant %s … %s", err, line, c.says)
			}
		})
	}
}

// The checker must not crash, whatever text it is given.
func FuzzLoad(f *testing.F) {
	f.Add(sound)
	f.Add(header + "/* */ .visible .entry k() { ret; }")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Load(text)
		if (m == nil) == (err == nil) {
			t.Fatal(m, err)
		}
	})
}
