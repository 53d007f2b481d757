package main

import "github.com/mmcloughlin/avo/build"

// pause tells the processor that this thread is waiting. The other thread on the core then gets its
// units.
func pause(c *build.Context) {
	c.Function("pause")
	c.Attributes(build.NOSPLIT)
	c.SignatureExpr("func()")
	c.Doc("pause waits a moment and leaves the core's units to its other thread, if there is one.")
	c.PAUSE()
	c.RET()
}
