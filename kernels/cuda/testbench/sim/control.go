package sim

import "errors"

// target returns the index of the instruction after a label. It looks for the label in the innermost
// scope first, then in the scopes around it.
func (c *compiler) target(name string) int {
	for scope := c.in.scope; scope >= 0; scope = c.kernel.scopes[scope] {
		if i, ok := c.kernel.labels[label{scope, name}]; ok {
			return i
		}
	}
	c.fail("there is no label %s", name)
	return 0
}

func (c *compiler) branch() execute {
	c.take("uni")
	if c.operands(1) {
		c.step.flow = jump
		c.step.targets = []int{c.target(c.operand(0).text)}
	}
	return nil
}

func (c *compiler) branchByTable() execute {
	c.need("idx")
	c.take("uni")
	if !c.operands(2) {
		return nil
	}
	c.step.flow = table
	c.step.selector = c.from(0, u32)
	name := c.operand(1).text
	for scope := c.in.scope; scope >= 0; scope = c.kernel.scopes[scope] {
		for _, l := range c.kernel.tables[label{scope, name}] {
			c.step.targets = append(c.step.targets, c.target(l))
		}
	}
	if len(c.step.targets) == 0 {
		c.fail("there is no table of labels %s", name)
	}
	return nil
}

func (c *compiler) leave() execute {
	c.take("uni")
	c.operands(0)
	c.step.flow = finish
	return nil
}

func (c *compiler) trap() execute {
	c.operands(0)
	return func(*warp, uint32) error { return errors.New("the kernel gives up by a trap") }
}

// barrier compiles bar.sync 0, for the whole block, and bar.warp.sync.
func (c *compiler) barrier() execute {
	if c.in.name == "bar" && c.take("warp") {
		c.need("sync")
		if !c.operands(1) {
			return nil
		}
		c.step.flow = meeting
		c.step.mask = c.from(0, u32)
		return func(w *warp, lanes uint32) error {
			w.synchronise(lanes)
			return nil
		}
	}
	c.take("cta")
	c.need("sync")
	c.take("aligned")
	c.step.flow = rendezvous
	if c.operands(1) && c.immediate(0) != 0 {
		c.fail("barriers other than 0 are not known to the simulator")
	}
	return nil
}
