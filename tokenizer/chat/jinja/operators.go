package jinja

import (
	"math"
	"math/bits"
	"strings"
)

type (
	signNode struct {
		pos
		negative bool
		value    expression
	}
	arithmeticNode struct {
		pos
		operator    string
		left, right expression
	}
	concatenateNode struct { // a ~ b ~ c
		pos
		parts []expression
	}
	comparisonNode struct { // first < operands[0] < operands[1]
		pos
		first     expression
		operators []string
		operands  []expression
	}
)

func (n *signNode) eval(r *runner) Value {
	v := r.eval(n.value)
	if i, ok := integer(v); ok {
		if n.negative {
			return -i
		}
		return i
	}
	f, ok := v.(float64)
	switch {
	case !ok:
		return r.fail("a sign before %s", kind(v))
	case n.negative:
		return -f
	}
	return f
}

func (n *concatenateNode) eval(r *runner) Value {
	texts := make([]Text, len(n.parts))
	for i, part := range n.parts {
		texts[i] = r.str(r.eval(part))
	}
	return r.join(Text{}, texts)
}

func (n *comparisonNode) eval(r *runner) Value {
	left, holds := r.eval(n.first), Value(true)
	for i, operator := range n.operators {
		right := r.eval(n.operands[i])
		if holds = r.compared(operator, left, right); !truth(holds) {
			break
		}
		left = right
	}
	return holds
}

func (r *runner) compared(operator string, left, right Value) Value {
	switch operator {
	case "==":
		return r.equal(left, right)
	case "!=":
		return !r.equal(left, right)
	case "in":
		return r.contains(right, left)
	case "not in":
		return !r.contains(right, left)
	}
	for _, v := range []Value{left, right} {
		if f, ok := v.(float64); ok && math.IsNaN(f) {
			return false
		}
	}
	c := r.order(left, right)
	switch operator {
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "<":
		return c < 0
	}
	return c <= 0
}

func (n *arithmeticNode) eval(r *runner) Value {
	left := r.eval(n.left)
	return r.calculate(n.operator, left, r.eval(n.right))
}

func (r *runner) calculate(operator string, left, right Value) Value {
	for _, v := range []Value{left, right} {
		if u, ok := v.(undefined); ok {
			return u.use(r)
		}
	}
	if r.err != nil {
		return nil
	}
	_, textLeft := left.(Text)
	_, listLeft := left.(*List)
	switch {
	case operator == "%" && textLeft:
		return r.formatPercent(left.(Text), right)
	case operator == "+" && textLeft:
		if t, ok := right.(Text); ok {
			return r.addTexts(left.(Text), t)
		}
	case operator == "+" && listLeft:
		a := left.(*List)
		b, ok := right.(*List)
		if ok && a.form == b.form && a.form <= formTuple && r.alloc(48+16*(len(a.items)+len(b.items))) {
			items := make([]Value, 0, len(a.items)+len(b.items))
			return &List{items: append(append(items, a.items...), b.items...), form: a.form}
		}
	case operator == "*":
		if times, ok := integer(right); ok && (textLeft || listLeft) {
			return r.repeat(left, times)
		}
		if times, ok := integer(left); ok {
			switch right.(type) {
			case Text, *List:
				return r.repeat(right, times)
			}
		}
	}
	return r.arithmetic(operator, left, right)
}

// join puts the separator between the texts.
func (r *runner) join(separator Text, texts []Text) Text {
	size, runs := 0, 0
	for i, t := range texts {
		if i > 0 {
			size, runs = size+len(separator.s), runs+len(separator.runs)
		}
		size, runs = size+len(t.s), runs+len(t.runs)+1
		if size > maxText {
			break
		}
	}
	if !r.allocText(size + 16*runs) {
		return Text{}
	}
	b := builder{buf: make([]byte, 0, size)}
	for i, t := range texts {
		if i > 0 {
			b.addText(separator)
		}
		b.addText(t)
	}
	return b.text()
}

// addTexts is a + b. If only one of them is safe (see Text), the other is escaped.
func (r *runner) addTexts(a, b Text) Text {
	safe := a.safe || b.safe
	if safe && !a.safe {
		a = r.escaped(a)
	} else if safe && !b.safe {
		b = r.escaped(b)
	}
	sum := r.join(Text{}, []Text{a, b})
	sum.safe = safe
	return sum
}

func (r *runner) repeat(v Value, times int) Value {
	times = max(times, 0)
	switch v := v.(type) {
	case Text:
		size, over := product(len(v.s)+16*len(v.runs), times)
		if over || !r.allocText(size) {
			return r.fail("the template makes a text of more than %d MiB", maxText>>20)
		}
		var b builder
		if v.s != "" {
			for range times {
				b.addText(v)
			}
		}
		return b.text()
	case *List:
		size, over := product(16*len(v.items), times)
		if over || !r.alloc(size) {
			return r.fail("the template makes a list of more than %d MiB", maxAlloc>>20)
		}
		repeated := &List{form: v.form}
		if len(v.items) > 0 {
			for range times {
				repeated.items = append(repeated.items, v.items...)
			}
		}
		return repeated
	}
	return nil
}

// product multiplies and reports whether the result overflows.
func product(a, b int) (int, bool) {
	negative := (a < 0) != (b < 0)
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, true
	}
	if negative {
		return -int(low), false
	}
	return int(low), false
}

func magnitude(a int) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func (r *runner) arithmetic(operator string, left, right Value) Value {
	a, okA := integer(left)
	b, okB := integer(right)
	if okA && okB && operator != "/" && (operator != "**" || b >= 0) {
		if v, over := integerArithmetic(operator, a, b); !over {
			return v
		} else if b == 0 {
			return r.fail("division by zero")
		}
		return r.fail("the result of a calculation does not fit into 64 bits")
	}
	x, okA := number(left)
	y, okB := number(right)
	if !okA || !okB {
		return r.fail("cannot calculate %s %s %s", kind(left), operator, kind(right))
	}
	if y == 0 && strings.Contains("//%", operator) {
		return r.fail("division by zero")
	}
	switch operator {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "//":
		return math.Floor(x / y)
	case "%":
		return x - y*math.Floor(x/y)
	}
	return math.Pow(x, y)
}

// integerArithmetic calculates with Python's signs: // rounds down and % has the sign of the
// divisor. over is true if the result does not fit into 64 bits or the divisor is zero.
func integerArithmetic(operator string, a, b int) (result int, over bool) {
	switch operator {
	case "+":
		return a + b, (a+b > a) != (b > 0)
	case "-":
		return a - b, (a-b < a) != (b > 0)
	case "*":
		return product(a, b)
	case "**":
		return intPower(a, b)
	}
	if b == 0 || a == math.MinInt && b == -1 {
		return 0, true
	}
	quotient, remainder := a/b, a%b
	if remainder != 0 && (remainder < 0) != (b < 0) {
		quotient, remainder = quotient-1, remainder+b
	}
	if operator == "%" {
		return remainder, false
	}
	return quotient, false
}

func intPower(base, exponent int) (result int, over bool) {
	if base == 0 || base == 1 {
		exponent = min(exponent, 1)
	}
	if base == -1 {
		exponent %= 2
	}
	result = 1
	for range min(exponent, 64) {
		if result, over = product(result, base); over {
			break
		}
	}
	return result, over
}
