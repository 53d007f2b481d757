package sim

import (
	"fmt"
	"slices"
	"strings"
)

// execute carries out one instruction for the lanes whose bits are set.
type execute func(w *warp, lanes uint32) error

// compiler turns one instruction into a step. Its methods that read modifiers and operands keep the
// first error and return a harmless value. So the functions in families need no error handling.
type compiler struct {
	kernel *Kernel
	in     *instruction
	rest   []string // modifiers not yet read
	step   *step
	err    error
}

// families has a function for every known instruction, by the name before the first dot. The
// function reads all modifiers and operands; anything left unread is an error.
var families = map[string]func(*compiler) execute{
	"add": (*compiler).arithmetic, "sub": (*compiler).arithmetic, "mul": (*compiler).multiply,
	"mad": (*compiler).multiplyAdd,
	"fma": (*compiler).multiplyAdd, "div": (*compiler).divide, "rem": (*compiler).remainder,
	"min": (*compiler).extreme, "max": (*compiler).extreme,
	"neg": (*compiler).negate, "abs": (*compiler).absolute, "sqrt": (*compiler).root,
	"rcp": (*compiler).reciprocal, "copysign": (*compiler).copySign,
	"and": (*compiler).logic, "or": (*compiler).logic, "xor": (*compiler).logic, "not": (*compiler).not,
	"shl": (*compiler).shift, "shr": (*compiler).shift,
	"shf": (*compiler).funnelShift, "lop3": (*compiler).logicOfThree, "prmt": (*compiler).permuteBytes,
	"popc": (*compiler).count,
	"clz":  (*compiler).count, "brev": (*compiler).reverseBits, "bfe": (*compiler).extractBits,
	"bfi":   (*compiler).insertBits,
	"bfind": (*compiler).findBit, "dp4a": (*compiler).dotOfFour, "cvt": (*compiler).convert,
	"mov": (*compiler).move, "cvta": (*compiler).convertAddress,
	"setp": (*compiler).compare, "selp": (*compiler).choose, "ld": (*compiler).load,
	"st": (*compiler).store, "atom": (*compiler).atomic,
	"red": (*compiler).atomic, "membar": (*compiler).fence, "fence": (*compiler).fence,
	"prefetch": (*compiler).prefetch, "cp": (*compiler).asynchronousCopy,
	"bra": (*compiler).branch, "brx": (*compiler).branchByTable, "ret": (*compiler).leave,
	"exit": (*compiler).leave, "trap": (*compiler).trap,
	"bar": (*compiler).barrier, "barrier": (*compiler).barrier, "shfl": (*compiler).shuffle,
	"vote": (*compiler).vote, "match": (*compiler).match,
	"redux": (*compiler).reduce, "mma": (*compiler).multiplyTiles, "ldmatrix": (*compiler).loadTiles,
	"nanosleep": (*compiler).sleep,
}

func (k *Kernel) compile() error {
	k.placeArrays()
	k.grain = 4
	steps := make([]step, len(k.body))
	for i := range k.body {
		in := &k.body[i]
		c := &compiler{kernel: k, in: in, rest: in.modifier, step: &steps[i]}
		if err := c.compile(); err != nil {
			return fmt.Errorf("line %d: %w: %s", in.line, err, in.text)
		}
	}
	code, err := layOut(steps)
	k.code = code
	return err
}

func (c *compiler) compile() error {
	c.step.source, c.step.guard = c.in, -1
	if g := c.in.guard; g != nil {
		c.step.guard, c.step.negated = g.predicate, g.negated
	}
	if slices.ContainsFunc(c.rest,
		func(m string) bool { return m == "approx" || m == "ftz" || m == "full" }) {
		return fmt.Errorf("%s is approximate: its bits differ between GPUs, so no reference can state them", c.in.fullName())
	}
	family := families[c.in.name]
	if family == nil {
		return fmt.Errorf("instruction %s is not known to the simulator", c.in.fullName())
	}
	c.step.execute = family(c)
	if c.err == nil && len(c.rest) > 0 {
		c.unknown()
	}
	if c.err == nil {
		c.err = c.allowed()
	}
	return c.err
}

func (c *compiler) fail(format string, arguments ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, arguments...)
	}
}

func (c *compiler) unknown() {
	c.fail("instruction %s is not known to the simulator (at %q)", c.in.fullName(), strings.Join(c.rest, "."))
}

// take reads the next modifier if it is m.
func (c *compiler) take(m string) bool {
	if len(c.rest) == 0 || c.rest[0] != m {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// oneOf reads the next modifier, which must be in list.
func (c *compiler) oneOf(list ...string) string {
	if len(c.rest) == 0 || !slices.Contains(list, c.rest[0]) {
		c.unknown()
		return list[0]
	}
	m := c.rest[0]
	c.rest = c.rest[1:]
	return m
}

func (c *compiler) need(m string) { c.oneOf(m) }

// typ reads the next modifier, which must be a type in list.
func (c *compiler) typ(list ...string) scalar { return scalars[c.oneOf(list...)] }

// nextIs reports whether the next modifier is in list, without reading it.
func (c *compiler) nextIs(list ...string) bool {
	return len(c.rest) > 0 && slices.Contains(list, c.rest[0])
}

// operands checks the number of operands.
func (c *compiler) operands(n int) bool {
	if len(c.in.operands) != n {
		c.fail("%s takes %d operands, not %d", c.in.fullName(), n, len(c.in.operands))
	}
	return c.err == nil
}

func (c *compiler) operand(i int) operand {
	if i >= len(c.in.operands) {
		c.fail("%s has no operand %d", c.in.fullName(), i+1)
		return operand{kind: sinkOperand}
	}
	return c.in.operands[i]
}

// to returns the register that operand i names, as the target of a value of type t.
func (c *compiler) to(i int, t scalar) int { return c.destination(c.operand(i), t, false) }

// toWide does what to does, for instructions whose register may be larger than the value.
func (c *compiler) toWide(i int, t scalar) int { return c.destination(c.operand(i), t, true) }

func (c *compiler) destination(o operand, t scalar, wide bool) int {
	switch {
	case o.kind == sinkOperand:
		return c.kernel.constant(constant{sink: true})
	case o.kind != registerOperand || o.negated || o.second != nil:
		c.fail("%s cannot be written to", o.text)
	case !fits(o.scalar, t, wide):
		c.fail("%s is a register of type %v, not %v", o.text, o.scalar, t)
	}
	return o.register
}

func fits(register, t scalar, wide bool) bool {
	return register.meaning(t) && (register.bits == t.bits || wide && register.bits > t.bits &&
		register.kind != float)
}

// from returns the register that holds operand i, of type t. Numbers, special registers and addresses
// of variables get registers, too, so that execution deals with registers only.
func (c *compiler) from(i int, t scalar) int { return c.source(c.operand(i), t, false) }

func (c *compiler) fromWide(i int, t scalar) int { return c.source(c.operand(i), t, true) }

func (c *compiler) source(o operand, t scalar, wide bool) int {
	switch {
	case o.negated || o.second != nil:
		c.fail("%s stands where a value belongs", o.text)
	case o.kind == registerOperand:
		if !fits(o.scalar, t, wide) {
			c.fail("%s is a register of type %v, not %v", o.text, o.scalar, t)
		}
		return o.register
	case o.kind == specialOperand:
		if !fits(u32, t, wide) {
			c.fail("%s is of type .u32, not %v", o.text, t)
		}
		return c.kernel.constant(constant{special: o.text})
	case o.kind == integerOperand || o.kind == floatOperand:
		return c.number(o, t)
	case o.kind == symbolOperand:
		return c.symbol(o.text, t)
	}
	c.fail("%s stands where a value belongs", o.text)
	return 0
}

func (c *compiler) number(o operand, t scalar) int {
	switch {
	case o.kind == floatOperand:
		if t.kind == float && t.bits == 32 && o.scalar.bits == 64 {
			c.fail("%s has 64 bits, the instruction works on %v", o.text, t)
		} else if t.kind != float && t.kind != untyped || o.scalar.bits != t.bits {
			c.fail("%s is of type %v, not %v", o.text, o.scalar, t)
		}
	case t.kind == float:
		c.fail("%s is an integer, the instruction works on %v", o.text, t)
	default:
		if negative := int64(o.value); o.value&^t.mask() != 0 &&
			(negative >= 0 || negative < -1<<(t.bits-1)) {
			c.fail("%s has no place in %v", o.text, t)
		}
	}
	return c.kernel.constant(constant{value: o.value & t.mask()})
}

// symbol is a register with the address of a variable in its own state space.
func (c *compiler) symbol(name string, t scalar) int {
	v := c.kernel.variable(name)
	switch {
	case v == nil:
		c.fail("%s is not declared", name)
		return 0
	case t.kind == float || t.bits < 32 || t.bits == 32 && (v.space == global || v.space == constantSpace):
		c.fail("the address of %s does not fit into %v", name, t)
	}
	return c.kernel.constant(constant{variable: v})
}

// toPredicate returns the index of the predicate that an operand names. The sink _ gets a new
// predicate.
func (c *compiler) toPredicate(o operand) int {
	if o.kind == sinkOperand {
		c.kernel.predicates++
		return c.kernel.predicates - 1
	}
	if o.kind != registerOperand || o.scalar != pred || o.negated {
		c.fail("%s is no predicate", o.text)
		return 0
	}
	return c.kernel.registers[o.register].index
}

// condition is a predicate that may be negated.
type condition struct {
	predicate int
	negated   bool
}

func (c *compiler) condition(i int) condition {
	o := c.operand(i)
	if o.kind != registerOperand || o.scalar != pred || o.second != nil {
		c.fail("%s is no predicate", o.text)
		return condition{}
	}
	return condition{c.kernel.registers[o.register].index, o.negated}
}

// elements are the registers of a vector operand with n elements, or the one register if n is 1.
func (c *compiler) elements(i, n int) []operand {
	o := c.operand(i)
	list := o.elements
	if o.kind != vectorOperand {
		list = []operand{o}
	}
	if len(list) != n {
		c.fail("operand %d has %d elements, not %d", i+1, len(list), n)
		return slices.Repeat([]operand{{kind: sinkOperand}}, n)
	}
	return list
}
