package jinja

import (
	"math"
	"strconv"
)

// power is how strongly an operator binds. As in Jinja, ** groups from the left, and a sign binds
// more strongly than **. Filters and tests bind more strongly than all operators but the sign:
// -x|abs is (-x)|abs.
type power int

const (
	powerOr power = iota + 1
	powerAnd
	powerNot
	powerCompare
	powerAdd
	powerConcatenate
	powerMultiply
	powerPower
	powerSign
)

var powers = map[string]power{
	"or": powerOr, "and": powerAnd, "+": powerAdd, "-": powerAdd, "~": powerConcatenate, "**": powerPower,
	"*": powerMultiply, "/": powerMultiply, "//": powerMultiply, "%": powerMultiply,
	"==": powerCompare, "!=": powerCompare, "<": powerCompare, "<=": powerCompare, ">": powerCompare, ">=": powerCompare,
	"in": powerCompare, "not": powerCompare, // here not can only begin the operator "not in"
}

// powerOf returns 0 if the token is not an operator.
func powerOf(t token) power {
	if t.kind != tokenName && t.kind != tokenOperator {
		return 0
	}
	return powers[t.text]
}

// expression reads an expression, if-else included.
func (p *parser) expression() expression {
	value := p.operation(powerOr)
	for t := p.now(); p.skip("if"); t = p.now() {
		n := &conditionalNode{pos: t.at, value: value, condition: p.operation(powerOr)}
		if p.skip("else") {
			n.alternative = p.expression()
		}
		value = n
	}
	return value
}

// tuple reads an expression, or several with commas between them. conditional means that they may have
// an if-else. Jinja does not allow that in the condition of an if and in the list of a for.
func (p *parser) tuple(conditional bool) expression {
	one := func() expression {
		if conditional {
			return p.expression()
		}
		return p.operation(powerOr)
	}
	first, at := one(), p.now().at
	if !p.now().is(",") {
		return first
	}
	n := &listNode{at, []expression{first}, true}
	for p.skip(",") && p.now().kind != tokenEnd && !p.now().is(")", "recursive") {
		n.items = append(n.items, one())
	}
	return n
}

// operation reads operators that bind at least as strongly as least, and their operands.
func (p *parser) operation(least power) expression {
	var left expression
	if t := p.now(); least <= powerNot && p.skip("not") {
		left = &notNode{t.at, p.operation(powerNot)}
	} else {
		left = p.unary(true)
	}
	for {
		t := p.now()
		binds := powerOf(t)
		switch {
		case binds == 0 || binds < least:
			return left
		case binds == powerCompare:
			if left = p.comparison(left); left == nil {
				return nil
			}
		case binds == powerConcatenate:
			n := &concatenateNode{t.at, []expression{left}}
			for p.skip("~") {
				n.parts = append(n.parts, p.operation(powerMultiply))
			}
			left = n
		default:
			p.next()
			right := p.operation(binds + 1)
			if binds <= powerAnd {
				left = &logicNode{t.at, t.text == "and", left, right}
			} else {
				left = &arithmeticNode{t.at, t.text, left, right}
			}
		}
	}
}

// comparison reads a chain of comparisons, such as a < b < c.
func (p *parser) comparison(first expression) expression {
	n := &comparisonNode{pos: p.now().at, first: first}
	for powerOf(p.now()) == powerCompare {
		operator := p.next().text
		if operator == "not" {
			p.expect("in")
			operator = "not in"
		}
		n.operators = append(n.operators, operator)
		n.operands = append(n.operands, p.operation(powerAdd))
	}
	return n
}

// unary reads signs, a value, and the attributes, indexes and calls of the value. If filters is
// true, it also reads the filters and tests that follow, and calls of their results. A filter or a
// test applies to the value with its signs.
func (p *parser) unary(filters bool) expression {
	var value expression
	if t := p.now(); p.skip("-", "+") {
		value = &signNode{t.at, t.text == "-", p.unary(false)}
	} else {
		value = p.postfix(p.primary())
	}
	for filters {
		switch t := p.now(); {
		case p.skip("|"):
			value = p.filterNamed(value)
		case p.skip("is"):
			value = p.test(value, t.at)
		case t.is("("):
			value = p.call(value)
		default:
			return value
		}
	}
	return value
}

func (p *parser) primary() expression {
	t := p.now()
	switch {
	case t.kind == tokenString:
		var text string
		for p.now().kind == tokenString {
			text += p.next().text
		}
		return &constantNode{Literal(text)}
	case t.kind == tokenInteger:
		n, err := strconv.Atoi(t.text)
		if err != nil {
			p.fail(t, "the number %.40s does not fit into 64 bits", t.text)
		}
		p.next()
		return &constantNode{n}
	case t.kind == tokenFloat:
		f, _ := strconv.ParseFloat(t.text, 64)
		if math.IsInf(f, 0) {
			p.fail(t, "the number %.40s is too large", t.text)
		}
		p.next()
		return &constantNode{f}
	case t.is("(", "[", "{"):
		p.next()
		return p.bracketed(t)
	case t.kind != tokenName || t.is("and", "or", "not", "if", "else", "is", "in"):
		p.want("a value: a name, a constant, a sign, not, ( [ or {")
		return &constantNode{}
	}
	p.next()
	switch t.text {
	case "true", "True", "false", "False":
		return &constantNode{t.text == "true" || t.text == "True"}
	case "none", "None":
		return &constantNode{}
	}
	return &nameNode{t.at, t.text}
}

// bracketed reads a tuple, a value in parentheses, a list or a dict after its opening bracket.
func (p *parser) bracketed(open token) expression {
	switch open.text {
	case "(":
		if p.skip(")") {
			return &listNode{open.at, nil, true}
		}
		value := p.tuple(true)
		p.expect(")")
		return value
	case "[":
		n := &listNode{pos: open.at}
		for !p.skip("]") && p.err == nil {
			n.items = append(n.items, p.expression())
			if !p.now().is("]") {
				p.expect(",")
			}
		}
		return n
	}
	n := &dictNode{pos: open.at}
	for !p.skip("}") && p.err == nil {
		n.keys = append(n.keys, p.expression())
		p.expect(":")
		n.values = append(n.values, p.expression())
		if !p.now().is("}") {
			p.expect(",")
		}
	}
	return n
}

func (p *parser) postfix(value expression) expression {
	for {
		switch t := p.now(); {
		case p.skip("."):
			switch key := p.next(); key.kind {
			case tokenName:
				value = &attributeNode{t.at, value, key.text}
			case tokenInteger:
				n, _ := strconv.Atoi(key.text)
				value = &itemNode{t.at, value, &constantNode{n}}
			default:
				p.fail(key, "got %v; allowed: the name or the number of an attribute", key)
			}
		case p.skip("["):
			value = p.index(value, t.at)
			p.expect("]")
		case t.is("("):
			value = p.call(value)
		default:
			return value
		}
	}
}

// index reads the part between [ and ].
func (p *parser) index(value expression, at pos) expression {
	var bounds [3]expression
	slice := false
	for i := 0; i < 3; i++ {
		if !p.now().is(":", "]") {
			bounds[i] = p.expression()
		}
		if i == 2 || !p.skip(":") {
			break
		}
		slice = true
	}
	switch {
	case slice:
		return &sliceNode{at, value, bounds}
	case bounds[0] == nil:
		p.want("an index or a slice")
	}
	return &itemNode{at, value, bounds[0]}
}

func (p *parser) call(callee expression) expression {
	at := p.now().at
	return &callNode{at, callee, p.arguments()}
}

// arguments reads the arguments of a call, parentheses included.
func (p *parser) arguments() (list []argument) {
	p.expect("(")
	for !p.skip(")") && p.err == nil {
		var next argument
		following := p.tokens[min(p.at+1, len(p.tokens)-1)]
		switch t := p.now(); {
		case p.skip("*", "**"):
			next.spread = len(t.text)
		case t.kind == tokenName && following.is("="):
			next.name = t.text
			p.at += 2
		case len(list) > 0 && (list[len(list)-1].name != "" || list[len(list)-1].spread > 0):
			p.fail(t, "got %v after a named argument; allowed: name=value", t)
		}
		next.value = p.expression()
		list = append(list, next)
		if !p.now().is(")") {
			p.expect(",")
		}
	}
	return list
}

func (p *parser) filterNamed(value expression) *filterCallNode {
	n := &filterCallNode{pos: p.now().at, value: value, name: p.name("the name of a filter")}
	if p.now().is("(") {
		n.arguments = p.arguments()
	}
	return n
}

// test reads what follows the word "is": the name of a test and its arguments. A single argument may
// stand without parentheses.
func (p *parser) test(value expression, at pos) expression {
	negated := p.skip("not")
	n := &testNode{pos: at, value: value, name: p.name("the name of a test")}
	switch t := p.now(); {
	case t.is("("):
		n.arguments = p.arguments()
	case t.is("is"):
		p.fail(t, "got is after a test; allowed: and, or, an operator")
	case t.is("[", "{") || t.kind == tokenString || t.kind == tokenInteger || t.kind == tokenFloat,
		t.kind == tokenName && !t.is("else", "or", "and", "if", "in", "not", "recursive"):
		n.arguments = []argument{{value: p.postfix(p.primary())}}
	}
	if negated {
		return &notNode{at, n}
	}
	return n
}
