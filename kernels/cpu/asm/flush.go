package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// flush removes memory from the caches, so that the next product reads it as it reads the weights of
// a large model. All processors of the level AVX-512 have CLFLUSHOPT, which may flush several lines at a
// time.
func flush(c *build.Context) {
	open(c, "flushLines", "func(memory *byte, lines int)",
		"removes the cache lines from memory on from all caches, and waits until they are gone.")
	memory, lines := c.Load(c.Param("memory"), c.GP64()), c.Load(c.Param("lines"), c.GP64())
	c.Label("next")
	c.CLFLUSHOPT(at(memory, 0))
	c.ADDQ(Imm(cacheLine), memory)
	c.SUBQ(Imm(1), lines)
	c.JG(LabelRef("next"))
	c.MFENCE()
	c.RET()
}
