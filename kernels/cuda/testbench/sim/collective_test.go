package sim

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"
)

// lanesOf runs instructions for a warp and returns %r0 of every lane. At the start, %r1 of lane l
// is l, and %r2 is 3·l+1.
func lanesOf(t *testing.T, body string) (out [32]uint32) {
	t.Helper()
	k := load(t, header+".visible .entry k(.param .u64 memory)\n{\n"+declared+
		"ld.param.u64 %rd1, [memory];\nmov.u32 %r1, %laneid;\nmad.lo.s32 %r2, %r1, 3, 1;\nsetp.lt.u32 %p1, %r1, 5;\nmov.u32 %r0, 0;\n"+
		body+"\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nst.global.u32 [%rd2], %r0;\nret;\n}\n")
	m := NewMachine()
	memory := m.Alloc(128)
	if err := m.Launch(k, Dim{}, Dim{X: 32}, 0, memory); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	data := make([]byte, 128)
	if err := m.Read(memory, data); err != nil {
		t.Fatal(err)
	}
	for l := range out {
		out[l] = binary.LittleEndian.Uint32(data[4*l:])
	}
	return out
}

func TestCollectives(t *testing.T) {
	value := func(l int) uint32 { return uint32(3*l + 1) }
	for _, c := range []struct {
		body string
		want func(l int) uint32
	}{
		{"shfl.sync.bfly.b32 %r0, %r2, 5, 31, -1;", func(l int) uint32 { return value(l ^ 5) }},
		{"shfl.sync.up.b32 %r0, %r2, 3, 0, -1;", func(l int) uint32 {
			if l < 3 {
				return value(l)
			}
			return value(l - 3)
		}},
		{"shfl.sync.down.b32 %r0, %r2, 3, 31, -1;", func(l int) uint32 {
			if l+3 > 31 {
				return value(l)
			}
			return value(l + 3)
		}},
		{"shfl.sync.idx.b32 %r0, %r2, 7, 31, -1;", func(int) uint32 { return value(7) }},
		// in parts of eight
		{"shfl.sync.idx.b32 %r0, %r2, 1, 0x181f, -1;", func(l int) uint32 { return value(l&^7 + 1) }},
		{"shfl.sync.down.b32 %r0|%p2, %r2, 1, 0x1c1f, -1; selp.b32 %r0, 1, 0, %p2;", func(l int) uint32 {
			return uint32(map[bool]int{true: 1}[l%4 < 3])
		}},
		{"vote.sync.ballot.b32 %r0, %p1, -1;", func(int) uint32 { return 31 }},
		{"vote.sync.any.pred %p2, %p1, -1; selp.b32 %r0, 1, 0, %p2;", func(int) uint32 { return 1 }},
		{"vote.sync.all.pred %p2, %p1, -1; selp.b32 %r0, 1, 0, %p2;", func(int) uint32 { return 0 }},
		{"vote.sync.uni.pred %p2, !%p1, -1; selp.b32 %r0, 1, 0, %p2;", func(int) uint32 { return 0 }},
		{"@%p1 vote.sync.all.pred %p2, %p1, 31; @%p1 selp.b32 %r0, 1, 0, %p2;", func(l int) uint32 {
			return uint32(map[bool]int{true: 1}[l < 5])
		}},
		{"and.b32 %r3, %r1, 3; match.any.sync.b32 %r0, %r3, -1;",
			func(l int) uint32 { return 0x11111111 << (l & 3) }},
		{"redux.sync.add.s32 %r0, %r2, -1;", func(int) uint32 { return 3*31*16 + 32 }},
		{"sub.s32 %r3, %r1, 9; redux.sync.min.s32 %r0, %r3, -1;", func(int) uint32 { return 1<<32 - 9 }},
		{"redux.sync.or.b32 %r0, %r1, -1;", func(int) uint32 { return 31 }},
		{"mov.u32 %r0, %lanemask_lt;", func(l int) uint32 { return 1<<l - 1 }},
		{"mov.u32 %r0, %lanemask_ge;", func(l int) uint32 { return ^uint32(0) << l }},
		// Two halves with masks of their own, at one instruction.
		{"and.b32 %r3, %r1, 16; shl.b32 %r4, 0xffff, %r3; shfl.sync.idx.b32 %r0, %r2, %r3, 31, %r4;",
			func(l int) uint32 { return value(l & 16) }},
		// A loop whose number of rounds depends on the lane: lanes meet again after it.
		{"mov.u32 %r3, 0; L: add.s32 %r0, %r0, 2; add.s32 %r3, %r3, 1; setp.le.u32 %p2, %r3, %r1; @%p2 bra L; shfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;",
			func(l int) uint32 { return uint32(2 * (l ^ 1 + 1)) }},
		{"and.b32 %r3, %r1, 3; min.u32 %r3, %r3, 2; brx.idx %r3, T; T: .branchtargets A, B, C; A: mov.u32 %r0, 10; bra D; B: mov.u32 %r0, 11; bra D; C: mov.u32 %r0, 12; D:",
			func(l int) uint32 { return uint32(10 + min(l&3, 2)) }},
		// Atomics on the memory, which begins as −1.
		{"atom.global.add.u32 %r3, [%rd1], 1; bar.warp.sync -1; ld.global.u32 %r0, [%rd1]; bar.warp.sync -1;", func(int) uint32 { return 31 }},
		{"atom.global.cas.b32 %r0, [%rd1], -1, %r1; bar.warp.sync -1;", func(l int) uint32 {
			return map[bool]uint32{true: 1<<32 - 1}[l == 0]
		}},
		{"red.global.max.s32 [%rd1], %r2; bar.warp.sync -1; ld.global.u32 %r0, [%rd1]; bar.warp.sync -1;",
			func(int) uint32 { return 94 }},
		{"red.global.min.u32 [%rd1], %r2; bar.warp.sync -1; ld.global.u32 %r0, [%rd1]; bar.warp.sync -1;",
			func(int) uint32 { return 1 }},
	} {
		for l, got := range lanesOf(t, c.body) {
			if got != c.want(l) {
				t.Errorf("%s\nlane %d: %#x, want %#x", c.body, l, got, c.want(l))
				break
			}
		}
	}
}

// Lanes that leave a loop early wait after it for the others, and do not run what follows alone.
func TestLanesMeetBehindALoop(t *testing.T) {
	run := func(rounds string) uint64 {
		k := load(t, header+".visible .entry k()\n{\n"+declared+"mov.u32 %r1, "+rounds+`; mov.u32 %r0, 0;
			bra HEAD;
			TAIL: xor.b32 %r2, %r2, 1; add.s32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, %r1; @%p1 bra HEAD; bra BEHIND;
			HEAD: and.b32 %r3, %r0, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra EVEN;
			add.s32 %r4, %r4, 1; bra TAIL;
			EVEN: add.s32 %r5, %r5, 1; bra TAIL;
			BEHIND: `+strings.Repeat("add.s32 %r2, %r2, 1;\n", 100)+"ret;\n}\n")
		m := NewMachine()
		if err := m.Launch(k, Dim{}, Dim{X: 32}, 0); err != nil {
			t.Fatal(err)
		}
		return m.Steps()
	}
	together, apart := run("32"), run("%tid.x")
	if apart > together+20 {
		t.Errorf("lanes with a different number of rounds take %d steps, with the same one %d",
			apart, together)
	}
}

// tileTest computes a product through mma, with fragments filled as in the figures of the PTX
// manual.
func tileTest(t *testing.T, shape, kind string, inner, bytes int, a, b func(row, column int) uint32,
	sum func(row, column int) uint32) (out [16][8]uint32) {
	t.Helper()
	perRegister := 4 / bytes
	na, nb := 16*inner*bytes/128, inner*8*bytes/128
	names := func(first, n int, letter string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("%%%s%d", letter, first+i))
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	letter, accumulator := "f", "f32"
	if bytes == 1 {
		letter, accumulator = "r", "s32"
	}
	var body strings.Builder
	body.WriteString("ld.param.u64 %rd1, [memory]; mov.u32 %r31, %laneid; mul.wide.u32 %rd2, %r31, 128; add.s64 %rd1, %rd1, %rd2;\n")
	for i := range na + nb {
		fmt.Fprintf(&body, "ld.global.b32 %%r%d, [%%rd1+%d];\n", 8+i, 4*i)
	}
	for i := range 4 {
		fmt.Fprintf(&body, "ld.global.b32 %%%s%d, [%%rd1+%d];\n", letter, i, 64+4*i)
	}
	d := names(0, 4, letter)
	fmt.Fprintf(&body, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s %s, %s, %s, %s;\n", shape, accumulator,
		kind, kind, accumulator, d, names(8, na, "r"), names(8+na, nb, "r"), d)
	for i := range 4 {
		fmt.Fprintf(&body, "st.global.b32 [%%rd1+%d], %%%s%d;\n", 64+4*i, letter, i)
	}
	k := load(t, header+".visible .entry k(.param .u64 memory)\n{\n"+declared+body.String()+"ret;\n}\n")

	data := make([]byte, 32*128)
	put := func(lane, at int, v uint32) { binary.LittleEndian.PutUint32(data[lane*128+at:], v) }
	for lane := range 32 {
		group, member := lane>>2, lane%4
		for r := range na {
			var v uint32
			for e := range perRegister {
				i := r*perRegister + e // the manual numbers elements a0, a1, …
				row := group
				if r%2 == 1 {
					row += 8
				}
				column := member*perRegister + i%perRegister
				if r >= 2 {
					column += inner / 2
				}
				v |= a(row, column) << (e * bytes * 8)
			}
			put(lane, 4*r, v)
		}
		for r := range nb {
			var v uint32
			for e := range perRegister {
				row := member*perRegister + e
				if r == 1 {
					row += inner / 2
				}
				v |= b(row, group) << (e * bytes * 8)
			}
			put(lane, 4*(na+r), v)
		}
		for i := range 4 {
			put(lane, 64+4*i, sum(group+i/2*8, member*2+i%2))
		}
	}
	m := NewMachine()
	memory := m.Alloc(len(data))
	if err := m.Write(memory, data); err != nil {
		t.Fatal(err)
	}
	if err := m.Launch(k, Dim{}, Dim{X: 32}, 0, memory); err != nil {
		t.Fatal(err)
	}
	if err := m.Read(memory, data); err != nil {
		t.Fatal(err)
	}
	for lane := range 32 {
		for i := range 4 {
			out[lane/4+i/2*8][lane%4*2+i%2] = binary.LittleEndian.Uint32(data[lane*128+64+4*i:])
		}
	}
	return out
}

func TestTileProducts(t *testing.T) {
	mix := func(a, b, c int) uint32 { return bits.RotateLeft32(uint32(a*7919+b*104729+c*1299709)*2654435761, 13) }
	for _, c := range []struct {
		shape, kind string
		inner       int
	}{{"m16n8k16", "f16", 16}, {"m16n8k16", "bf16", 16}, {"m16n8k8", "f16", 8}} {
		wide := func(h uint32) float64 { return float64(widenHalf(uint16(h))) }
		if c.kind == "bf16" {
			wide = func(h uint32) float64 { return float64(widenBfloat(uint16(h))) }
		}
		one := map[string]uint32{"f16": 0x3c00, "bf16": 0x3f80}[c.kind]
		a := func(row, k int) uint32 { return one + mix(row, k, 1)&0x7f | mix(row, k, 2)&0x8000 }
		b := func(k, column int) uint32 { return one + mix(k, column, 3)&0x7f | mix(k, column, 4)&0x8000 }
		s := func(row, column int) uint32 { return math.Float32bits(float32(mix(row, column, 5)) / (1 << 32)) }
		got := tileTest(t, c.shape, c.kind, c.inner, 2, a, b, s)
		for row := range 16 {
			for column := range 8 {
				want := math.Float32frombits(s(row, column))
				for k := range c.inner {
					want = exactSum(float32(wide(a(row, k))), float32(wide(b(k, column))), want)
				}
				if got[row][column] != math.Float32bits(want) {
					t.Fatalf("%s %s: row %d, column %d: %v, want %v", c.shape, c.kind, row, column,
						math.Float32frombits(got[row][column]), want)
				}
			}
		}
	}
	for shape, inner := range map[string]int{"m16n8k16": 16, "m16n8k32": 32} {
		a := func(row, k int) uint32 { return mix(row, k, 1) & 0xff }
		b := func(k, column int) uint32 { return mix(k, column, 2) & 0xff }
		s := func(row, column int) uint32 { return mix(row, column, 3) }
		got := tileTest(t, shape, "s8", inner, 1, a, b, s)
		for row := range 16 {
			for column := range 8 {
				want := s(row, column)
				for k := range inner {
					want += uint32(int32(int8(a(row, k))) * int32(int8(b(k, column))))
				}
				if got[row][column] != want {
					t.Fatalf("%s s8: row %d, column %d: %d, want %d", shape, row, column,
						int32(got[row][column]), int32(want))
				}
			}
		}
	}
}

// ldmatrix brings tiles from shared memory into the fragments that mma reads.
func TestLoadTiles(t *testing.T) {
	// Row l has the 8 elements from 8·l on.
	fill := ".shared .align 16 .b8 tile[512]; mov.u32 %r3, tile; shl.b32 %r4, %r1, 4; add.s32 %r5, %r3, %r4;" +
		"shl.b32 %r6, %r1, 3; mad.lo.s32 %r6, %r6, 0x10001, 0x10000; add.s32 %r7, %r6, 0x20002; add.s32 %r8, %r7, 0x20002; add.s32 %r9, %r8, 0x20002;" +
		"st.shared.v4.b32 [%r5], {%r6, %r7, %r8, %r9}; bar.warp.sync -1;"
	for tile := range 4 {
		for _, transposed := range []string{"", ".trans"} {
			body := fill + fmt.Sprintf("ldmatrix.sync.aligned.m8n8.x4%s.shared.b16 {%%r10, %%r11, %%r12, %%r13}, [%%r5]; mov.u32 %%r0, %%r%d;", transposed, 10+tile)
			for l, got := range lanesOf(t, body) {
				x, y := l/4, l%4*2
				want := uint32(64*tile+8*x+y) | uint32(64*tile+8*x+y+1)<<16
				if transposed != "" {
					want = uint32(64*tile+8*y+x) | uint32(64*tile+8*(y+1)+x)<<16
				}
				if got != want {
					t.Fatalf("tile %d%s, lane %d: %#x, want %#x", tile, transposed, l, got, want)
				}
			}
		}
	}
}
