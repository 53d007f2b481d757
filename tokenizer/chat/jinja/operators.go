package jinja

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/nikolalohinski/gonja/v2/nodes"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

func (r *runner) unary(n *nodes.UnaryExpression) (Value, error) {
	v, err := r.eval(n.Term)
	if err != nil {
		return nil, err
	}
	if i, ok := integer(v); ok {
		if n.Negative {
			i = -i
		}
		return i, nil
	}
	if f, ok := v.(float64); ok {
		if n.Negative {
			f = -f
		}
		return f, nil
	}
	return nil, fmt.Errorf("a sign before %s", kind(v))
}

func (r *runner) binary(n *nodes.BinaryExpression) (Value, error) {
	left, err := r.eval(n.Left)
	if err != nil {
		return nil, err
	}
	operator := n.Operator.Token.Type
	if operator == tokens.And && !truth(left) || operator == tokens.Or && truth(left) {
		return left, nil
	}
	right, err := r.eval(n.Right)
	if err != nil {
		return nil, err
	}
	switch operator {
	case tokens.And, tokens.Or:
		return right, nil
	case tokens.Equals:
		return r.equal(left, right)
	case tokens.Ne:
		same, err := r.equal(left, right)
		return !same, err
	case tokens.GreaterThan, tokens.GreaterThanOrEqual, tokens.LowerThan, tokens.LowerThanOrEqual:
		return r.ordered(operator, left, right)
	case tokens.In:
		return r.contains(right, left)
	case tokens.Tilde:
		return r.concatenate(left, right)
	case tokens.Addition:
		return r.add(left, right)
	case tokens.Multiply:
		return r.multiply(left, right)
	}
	return arithmetic(operator, left, right)
}

func (r *runner) concatenate(values ...Value) (Value, error) {
	texts := make([]Text, len(values))
	for i, v := range values {
		t, err := r.str(v)
		if err != nil {
			return nil, err
		}
		texts[i] = t
	}
	return r.join(Text{}, texts)
}

// join puts the separator between the texts.
func (r *runner) join(separator Text, texts []Text) (Value, error) {
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
	if err := r.allocText(size + 16*runs); err != nil {
		return nil, err
	}
	b := builder{buf: make([]byte, 0, size)}
	for i, t := range texts {
		if i > 0 {
			b.addText(separator)
		}
		b.addText(t)
	}
	return b.text(), nil
}

func (r *runner) add(left, right Value) (Value, error) {
	switch l := left.(type) {
	case Text:
		if t, ok := right.(Text); ok {
			return r.join(Text{}, []Text{l, t})
		}
	case *List:
		if list, ok := right.(*List); ok && list.tuple == l.tuple {
			if err := r.alloc(48 + 16*(len(l.items)+len(list.items))); err != nil {
				return nil, err
			}
			items := make([]Value, 0, len(l.items)+len(list.items))
			return &List{items: append(append(items, l.items...), list.items...), tuple: l.tuple}, nil
		}
	}
	return arithmetic(tokens.Addition, left, right)
}

// multiply multiplies numbers, or repeats a text or a list.
func (r *runner) multiply(left, right Value) (Value, error) {
	if _, ok := integer(left); ok {
		left, right = right, left
	}
	times, ok := integer(right)
	if !ok {
		return arithmetic(tokens.Multiply, left, right)
	}
	times = max(times, 0)
	switch l := left.(type) {
	case Text:
		size, over := product(len(l.s)+16*len(l.runs), times)
		if over {
			size = -1
		}
		if err := r.allocText(size); err != nil {
			return nil, err
		}
		var b builder
		for range times {
			b.addText(l)
		}
		return b.text(), nil
	case *List:
		size, over := product(16*len(l.items), times)
		if over {
			size = -1
		}
		if err := r.alloc(size); err != nil {
			return nil, err
		}
		repeated := &List{tuple: l.tuple}
		if len(l.items) > 0 {
			for range times {
				repeated.items = append(repeated.items, l.items...)
			}
		}
		return repeated, nil
	}
	return arithmetic(tokens.Multiply, left, right)
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

var errOverflow = errors.New("the result of a calculation does not fit into 64 bits")

func arithmetic(operator tokens.Type, left, right Value) (Value, error) {
	for _, v := range []Value{left, right} {
		if u, ok := v.(undefined); ok {
			return nil, u.use()
		}
	}
	a, okA := integer(left)
	b, okB := integer(right)
	if okA && okB && operator != tokens.Division && (operator != tokens.Power || b >= 0) {
		return integerArithmetic(operator, a, b)
	}
	x, okA := number(left)
	y, okB := number(right)
	if !okA || !okB {
		return nil, fmt.Errorf("cannot calculate with %s and %s", kind(left), kind(right))
	}
	if y == 0 && (operator == tokens.Division || operator == tokens.FloorDivision || operator == tokens.Modulo) {
		return nil, errors.New("division by zero")
	}
	switch operator {
	case tokens.Addition:
		return x + y, nil
	case tokens.Subtraction:
		return x - y, nil
	case tokens.Multiply:
		return x * y, nil
	case tokens.Division:
		return x / y, nil
	case tokens.FloorDivision:
		return math.Floor(x / y), nil
	case tokens.Modulo:
		return x - y*math.Floor(x/y), nil
	case tokens.Power:
		return math.Pow(x, y), nil
	}
	return nil, errors.New("unknown operator")
}

// integerArithmetic calculates with Python's signs: // rounds down and % has the sign of the
// divisor.
func integerArithmetic(operator tokens.Type, a, b int) (Value, error) {
	switch operator {
	case tokens.Addition:
		if sum := a + b; (sum > a) == (b > 0) {
			return sum, nil
		}
		return nil, errOverflow
	case tokens.Subtraction:
		if difference := a - b; (difference < a) == (b > 0) {
			return difference, nil
		}
		return nil, errOverflow
	case tokens.Multiply:
		if p, over := product(a, b); !over {
			return p, nil
		}
		return nil, errOverflow
	case tokens.Power:
		return power(a, b)
	}
	if b == 0 {
		return nil, errors.New("division by zero")
	}
	quotient, remainder := a/b, a%b
	if remainder != 0 && (remainder < 0) != (b < 0) {
		quotient, remainder = quotient-1, remainder+b
	}
	if operator == tokens.Modulo {
		return remainder, nil
	}
	return quotient, nil
}

func power(base, exponent int) (Value, error) {
	if base == 0 || base == 1 {
		exponent = min(exponent, 1)
	}
	if base == -1 {
		exponent %= 2
	}
	result := 1
	for range min(exponent, 64) {
		var over bool
		if result, over = product(result, base); over {
			return nil, errOverflow
		}
	}
	return result, nil
}

func (r *runner) ordered(operator tokens.Type, left, right Value) (Value, error) {
	c, err := r.compare(left, right)
	if err != nil {
		return nil, err
	}
	switch operator {
	case tokens.GreaterThan:
		return c > 0, nil
	case tokens.GreaterThanOrEqual:
		return c >= 0, nil
	case tokens.LowerThan:
		return c < 0, nil
	}
	return c <= 0, nil
}

// contains is "item in container".
func (r *runner) contains(container, item Value) (Value, error) {
	switch c := container.(type) {
	case undefined:
		return false, nil
	case Text:
		t, ok := item.(Text)
		if !ok {
			return nil, fmt.Errorf("looking for %s in a string", kind(item))
		}
		return strings.Contains(c.s, t.s), r.scan(len(c.s) + len(t.s))
	case *Dict:
		t, ok := item.(Text)
		if !ok {
			return false, nil
		}
		_, found := c.Get(t.s)
		return found, nil
	case *List:
		for _, v := range c.items {
			if same, err := r.equal(v, item); err != nil || same {
				return same, err
			}
		}
		return false, nil
	}
	return nil, fmt.Errorf("looking for a value in %s", kind(container))
}
