package cpu_test

import (
	"testing"

	"specula/kernels/cpu"
)

func TestCeilings(t *testing.T) {
	pool := cpu.NewPool(2, cpu.DefaultPoll)
	defer pool.Close()
	c := pool.MeasureCeilings()
	if c.ReadBytesPerS <= 0 {
		t.Errorf("memory is read at %g bytes a second", c.ReadBytesPerS)
	}
	if fast := cpu.Highest() > cpu.Portable; fast != (c.FloatMulPerS > 0) ||
		fast && c.IntegerMulPerS <= c.FloatMulPerS {
		t.Errorf("%g multiplications of floats and %g of bytes a second at level %v", c.FloatMulPerS,
			c.IntegerMulPerS, cpu.Highest())
	}
}
