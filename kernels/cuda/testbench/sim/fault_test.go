package sim

import (
	"strings"
	"testing"
)

// kernel makes a kernel of instructions. %rd1 is the address of 1024 bytes, %r1 the thread; array
// is 512 bytes of shared memory, dynamic is the shared memory that the launch asks for.
func kernel(body string) string {
	return header + ".extern .shared .align 16 .b8 dynamic[];\n.visible .entry k(.param .u64 memory)\n{\n" + declared +
		".shared .align 16 .b8 array[512];\n.local .align 8 .b8 mine[16];\n" +
		"ld.param.u64 %rd1, [memory];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nmov.u32 %r3, array;\nadd.s32 %r4, %r3, %r2;\n" +
		"mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nsetp.lt.u32 %p1, %r1, 16;\nsetp.eq.u32 %p2, %r1, 0;\n" +
		body + "\nret;\n}\n"
}

// launchFault runs kernel(body) with two blocks of that many threads, each with 64 bytes of dynamic
// shared memory.
func launchFault(t *testing.T, body string, threads int, seed uint64) error {
	t.Helper()
	k := load(t, kernel(body))
	m := NewMachine()
	m.Seed = seed
	m.MostSteps = 10000
	// A kernel with a fault may write to the same memory from both blocks. One worker runs them one
	// after the other: else Go's race detector would report the simulator.
	m.Workers = 1
	memory := m.Alloc(1024)
	if err := m.Write(memory, make([]byte, 1024)); err != nil {
		t.Fatal(err)
	}
	return m.Launch(k, Dim{X: 2}, Dim{X: threads}, 64, memory)
}

const (
	writeOwn = "st.shared.u32 [%r4], %r1;\n"
	readNext = "xor.b32 %r5, %r2, 4; add.s32 %r5, %r3, %r5; ld.shared.u32 %r6, [%r5];\n"
	readFar  = "xor.b32 %r5, %r2, 128; add.s32 %r5, %r3, %r5; ld.shared.u32 %r6, [%r5];\n"
	barrier  = "bar.sync 0;\n"
	copyOwn  = "shl.b32 %r5, %r1, 4; add.s32 %r5, %r3, %r5; mul.wide.u32 %rd4, %r1, 16; add.s64 %rd4, %rd1, %rd4;\n" +
		"cp.async.cg.shared.global [%r5], [%rd4], 16;\n"
	firstRead = "@%p2 st.shared.u32 [array], 1;" + barrier + "ld.shared.u32 %r6, [array];"
	useCopy   = "ld.shared.u32 %r6, [%r5];\n"
)

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, body string
		threads    int
		says       string // "": no error
	}{
		{"exchange between warps", writeOwn + barrier + readFar, 64, ""},
		{"missing barrier between warps", writeOwn + readFar, 64, "has written yet"},
		{"missing barrier before overwriting", writeOwn + barrier + readFar + writeOwn, 64, "race"},
		{"barrier before overwriting", writeOwn + barrier + readFar + barrier + writeOwn, 64, ""},
		{"exchange in a warp", writeOwn + "bar.warp.sync -1;" + readNext, 32, ""},
		{"missing barrier in a warp", writeOwn + readNext, 32,
			"race: thread 1 wrote byte 4 of array array of 512 bytes and thread 0 reads it"},
		{"barrier of one warp for two", writeOwn + "bar.warp.sync -1;" + readFar, 64, "has written yet"},
		{"overwriting in a warp", writeOwn + "bar.warp.sync -1;" + readNext + writeOwn, 32, "race"},
		{"overwriting after a barrier in a warp",
			writeOwn + "bar.warp.sync -1;" + readNext + "bar.warp.sync -1;" + writeOwn, 32, ""},
		{"overwriting what was read again after the barrier",
			firstRead + "bar.warp.sync -1; @%p2 ld.shared.u32 %r6, [array]; @%p2 st.shared.u32 [array], 2;", 32, ""},
		{"overwriting what another lane read again",
			firstRead + "bar.warp.sync -1; @%p1 ld.shared.u32 %r6, [array]; @%p2 st.shared.u32 [array], 2;", 32, "race"},
		{"barrier of other lanes",
			"@%p1 bra L;" + writeOwn + "bar.warp.sync 0xffff0000; bra M; L:" + writeOwn + "bar.warp.sync 0xffff; M:" + readNext, 32, ""},
		{"all write one word", "st.shared.u32 [array], %r1;", 32, "race"},
		{"one writes a word", "@%p2 st.shared.u32 [array], %r1;" + barrier + "ld.shared.u32 %r5, [array];", 64, ""},
		{"atomics share a word", "@%p2 st.shared.u32 [array], 0;" + barrier + "atom.shared.add.u32 %r5, [array], 1;" + barrier + "ld.shared.u32 %r5, [array];", 64, ""},
		{"atomics beside a plain read",
			"@%p2 st.shared.u32 [array], 0;" + barrier + "red.shared.add.u32 [array], 1; ld.shared.u32 %r5, [array];", 64, "race"},
		{"unwritten shared memory", "ld.shared.u32 %r5, [array+8];", 1,
			"reads byte 8 of array array of 512 bytes, which nobody has written yet"},
		{"unwritten dynamic memory", "ld.shared.u32 %r5, [dynamic+8];", 1,
			"reads byte 8 of dynamic shared memory, which nobody has written yet"},
		{"shared memory of the block before",
			"mov.u32 %r5, %ctaid.x; setp.eq.u32 %p3, %r5, 0; @%p3 st.shared.u32 [array], 1; ld.shared.u32 %r5, [array];", 1, "block (1,0,0): thread 0"},

		{"end of an array", "st.shared.u32 [array+512], 1;", 1, "4 bytes of shared memory at"},
		{"misaligned halves", "st.shared.v2.u32 [array+504], {%r1, %r1}; st.shared.u16 [array+511], %rs1;", 1, "no multiple of 2"},
		{"end of dynamic memory", "st.shared.u32 [dynamic+64], 1;", 1,
			"4 bytes at offset 64 of 64 bytes of dynamic shared memory"},
		{"null pointer to shared memory", "mov.u32 %r5, 0; st.shared.u32 [%r5], 1;", 1, "before every array"},
		{"end of an allocation", "ld.global.u32 %r5, [%rd1+1024];", 1,
			"4 bytes at offset 1024 of an allocation of 1024 bytes"},
		{"before an allocation", "ld.global.u32 %r5, [%rd1+-4];", 1, "in no allocation"},
		{"prefetch in an allocation", "prefetch.global.L2 [%rd1+1023];", 1, ""},
		{"prefetch after an allocation", "prefetch.global.L2 [%rd1+1024];", 1, "offset 1024 of an allocation of 1024 bytes"},
		{"null pointer", "mov.u64 %rd5, 0; ld.global.u32 %r5, [%rd5];", 1, "address 0x0 is in no allocation"},
		{"truncated pointer", "cvt.u32.u64 %r5, %rd1; cvt.u64.u32 %rd5, %r5; ld.global.u32 %r5, [%rd5];",
			1, "in no allocation"},
		{"misaligned", "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd1+8];", 1,
			"16 bytes at address 0x1000000008, which is no multiple of 16"},
		{"shared address as a global one", "cvt.u64.u32 %rd5, %r3; ld.global.u32 %r5, [%rd5];", 1,
			"in no allocation"},
		{"generic address of shared memory",
			"cvt.u64.u32 %rd5, %r3; cvta.shared.u64 %rd5, %rd5; st.u32 [%rd5], 1; ld.shared.u32 %r5, [array];", 1, ""},
		{"read-only load of what is written", "ld.global.nc.u32 %r5, [%rd3]; st.global.u32 [%rd3], %r5;",
			1, "read by ld.global.nc and written in the same launch"},
		{"read-only load", "ld.global.nc.u32 %r5, [%rd3]; ld.global.u32 %r6, [%rd3];", 1, ""},
		{"local memory", "mov.u64 %rd5, mine; cvta.local.u64 %rd6, %rd5; st.u32 [%rd6+12], %r1; ld.local.u32 %r5, [%rd5+12];", 64, ""},
		{"end of local memory", "mov.u64 %rd5, mine; ld.local.u32 %r5, [%rd5+16];", 1,
			"4 bytes at 16 of 16 bytes of local memory"},

		{"copy", copyOwn + "cp.async.commit_group; cp.async.wait_group 0;" + useCopy, 32, ""},
		{"copy without a wait", copyOwn + "cp.async.commit_group;" + useCopy, 32,
			"while an asynchronous copy into it is under way"},
		{"copy of the latest group", copyOwn + "cp.async.commit_group; cp.async.wait_group 1;" + useCopy,
			32, "under way"},
		{"copy of an older group",
			copyOwn + "cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 1;" + useCopy,
			32, ""},
		{"copy outside a group", "cp.async.commit_group;" + copyOwn + "cp.async.wait_group 0;" + useCopy,
			32, "under way"},
		{"copy by another thread", copyOwn + "cp.async.wait_all; ld.shared.u32 %r6, [array];", 32, "race"},
		{"copy over what others still read", firstRead + copyOwn + "cp.async.wait_all;", 32,
			"race: byte 0 of array array of 512 bytes was read by"},
		{"copy over what others have read", firstRead + barrier + copyOwn + "cp.async.wait_all;", 32, ""},
		{"copy from outside", copyOwn + "cp.async.wait_all; cp.async.cg.shared.global [%r5], [%rd1+1024], 16;", 32, "offset 1024 of an allocation"},

		{"barrier in a branch", "@%p1 bra L;" + barrier + "L:", 32, ""}, // the others have ended
		{"barrier in a branch, all go on", "@%p1 bra L;" + barrier + "L:" + barrier + writeOwn, 32,
			"different barriers: warp 0 lanes "},
		{"barrier that a warp misses",
			"setp.lt.u32 %p3, %r1, 32; @%p3 bra L;" + barrier + "L: bar.sync 0;", 64, "different barriers"},
		{"shuffle of half a warp", "@%p1 bra L; shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1; L:" + barrier, 32,
			"deadlock: warp 0 lanes ffff0000"},
		{"shuffle with its mask",
			"@%p1 bra L; shfl.sync.bfly.b32 %r5, %r1, 1, 31, 0xffff0000; L:" + barrier, 32, ""},
		{"shuffle that leaves a lane out", "shfl.sync.bfly.b32 %r5, %r1, 1, 31, 0xffff;", 32,
			"thread 16, line "},
		{"shuffle from a lane that is away",
			"@!%p1 bra L; shfl.sync.bfly.b32 %r5, %r1, 16, 31, 0xffff; L:", 32,
			"reads lane 16, which does not take part"},
		{"two shuffles at once", "@%p1 bra L; shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1; bra M; L: shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1; M:", 32, "wait for lanes ffffffff"},
		{"shuffle after the end of others", "@%p1 ret; shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;", 32, ""},
		{"tile product of half a warp",
			"@%p1 ret; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f1,%f2,%f3,%f4};", 32, "not all lanes"},
		{"trap", "@%p2 trap;", 32, "gives up by a trap"},
		{"endless loop", "L: bra L;", 32, "an endless loop?"},
		{"waiting for a lane of the same warp",
			"@%p1 bra M; L: ld.volatile.global.u32 %r5, [%rd1]; setp.eq.u32 %p3, %r5, 0; @%p3 bra L; bra N; M: st.volatile.global.u32 [%rd1], 1; N:", 32, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(3) {
				err := launchFault(t, c.body, c.threads, seed)
				switch {
				case err == nil && c.says != "":
					t.Errorf("seed %d: nothing was noticed, want %q", seed, c.says)
				case err != nil && (c.says == "" || !strings.Contains(err.Error(), c.says)):
					t.Errorf("seed %d: %v\nwant %q", seed, err, c.says)
				}
			}
		})
	}
}

func TestLaunchRefuses(t *testing.T) {
	k := load(t, header+".visible .entry k(.param .u64 a, .param .u32 b)\n.maxntid 64\n{ ret; }")
	m := NewMachine()
	p := m.Alloc(4)
	for _, c := range []struct {
		name      string
		block     Dim
		shared    int
		arguments []any
		says      string
	}{
		{"sound", Dim{X: 64}, 0, []any{p, int32(1)}, ""},
		{"too few arguments", Dim{X: 64}, 0, []any{p}, "1 arguments for 2 parameters"},
		{"size of an argument", Dim{X: 64}, 0, []any{p, int64(1)},
			"argument 1 of type int64 has 8 bytes, the parameter has 4"},
		{"int", Dim{X: 64}, 0, []any{p, 1}, "say int32 or int64"},
		{"threads", Dim{X: 65}, 0, []any{p, int32(1)}, "65 threads a block, the kernel is made for 64"},
		{"shared memory", Dim{X: 64}, 1 << 20, []any{p, int32(1)}, "bytes of shared memory; the most are"},
	} {
		err := m.Launch(k, Dim{}, c.block, c.shared, c.arguments...)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	if err := m.Write(p, make([]byte, 5)); err == nil {
		t.Error("more was written than there is room for")
	}
	if err := m.Free(p + 1); err == nil {
		t.Error("an address in the middle was freed")
	}
	if err := m.Free(p); err != nil {
		t.Error(err)
	}
	if err := m.Read(p, make([]byte, 1)); err == nil {
		t.Error("memory was read that is free")
	}
}
