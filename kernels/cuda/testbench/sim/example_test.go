package sim_test

import (
	"encoding/binary"
	"fmt"

	"specula/kernels/cuda/testbench/sim"
)

const double = `.version 7.4
.target sm_80
.address_size 64
.visible .entry double(.param .u64 numbers)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [numbers];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	shl.b32 %r2, %r2, 1;
	st.global.u32 [%rd3], %r2;
	ret;
}`

func Example() {
	module, err := sim.Load(double)
	if err != nil {
		panic(err)
	}
	kernel, err := module.Kernel("double")
	if err != nil {
		panic(err)
	}
	m := sim.NewMachine()
	numbers := m.Alloc(12)
	data := make([]byte, 12)
	for i := range 3 {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(i+1))
	}
	if err := m.Write(numbers, data); err != nil {
		panic(err)
	}
	if err := m.Launch(kernel, sim.Dim{X: 1}, sim.Dim{X: 3}, 0, numbers); err != nil {
		panic(err)
	}
	if err := m.Read(numbers, data); err != nil {
		panic(err)
	}
	fmt.Println(binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:]),
		binary.LittleEndian.Uint32(data[8:]))
	fmt.Println(m.Launch(kernel, sim.Dim{X: 1}, sim.Dim{X: 4}, 0, numbers))
	// Output:
	// 2 4 6
	// kernel double, block (0,0,0): thread 3, line 12: 4 bytes at offset 12 of an allocation of 12 bytes: ld.global.u32 %r2, [%rd3]
}
