package main

import "github.com/mmcloughlin/avo/build"

// pause tells the processor that this thread is waiting, which leaves a core's units to the other thread on it.
func pause(c *build.Context) {
	c.Function("pause")
	c.Attributes(build.NOSPLIT)
	c.SignatureExpr("func()")
	c.Doc("pause waits some ten nanoseconds and leaves the core's units to its other thread, if there is one.")
	c.PAUSE()
	c.RET()
}
