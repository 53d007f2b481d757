package sim

import (
	"math"
	"strconv"
	"strings"
)

// body reads a kernel from after its opening brace to its closing one.
func (p *parser) body() {
	for depth := 1; depth > 0; {
		t := p.next()
		switch {
		case t.text == "{":
			depth++
			p.kernel.scopes = append(p.kernel.scopes, p.scope)
			p.scope = len(p.kernel.scopes) - 1
			p.names = append(p.names, map[string]int{})
		case t.text == "}":
			depth--
			p.scope = p.kernel.scopes[p.scope]
			p.names = p.names[:len(p.names)-1]
		case t.text == ".reg":
			p.registers()
		case t.text == ".shared" || t.text == ".local":
			p.kernel.arrays = append(p.kernel.arrays, p.variable(spaces[t.text[1:]], false))
		case t.text == ".pragma":
			p.next()
			p.expect(";")
		case t.kind == word && p.peek().text == ":":
			p.next()
			p.label(t)
		case t.text == "@" || t.kind == word && !strings.HasPrefix(t.text, "."):
			p.at--
			p.instruction()
		default:
			p.fail(t.line, "%v stands where an instruction belongs", t)
		}
	}
}

// registers reads .reg .b32 %r<11>; or .reg .u64 a, b;
func (p *parser) registers() {
	s := p.scalarType()
	for {
		line := p.peek().line
		name := p.word()
		if p.accept("<") {
			count := p.integer()
			p.expect(">")
			if count > 1<<16 {
				p.fail(line, "%d registers are too many", count)
			}
			for i := range count {
				p.register(line, name+strconv.Itoa(i), s)
			}
		} else {
			p.register(line, name, s)
		}
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

func (p *parser) register(line int, name string, s scalar) {
	names := p.names[len(p.names)-1]
	if _, twice := names[name]; twice {
		p.fail(line, "register %s is declared twice", name)
	}
	k := p.kernel
	r := register{name: name, scalar: s}
	if s == pred {
		r.index = k.predicates
		k.predicates++
	}
	names[name] = len(k.registers)
	k.registers = append(k.registers, r)
}

func (p *parser) lookup(name string) (int, bool) {
	for i := len(p.names) - 1; i >= 0; i-- {
		if r, ok := p.names[i][name]; ok {
			return r, true
		}
	}
	return 0, false
}

func (p *parser) label(t token) {
	l := label{p.scope, t.text}
	if _, twice := p.kernel.labels[l]; twice {
		p.fail(t.line, "label %s is there twice", t.text)
	}
	if !p.accept(".branchtargets") {
		p.kernel.labels[l] = len(p.kernel.body)
		return
	}
	for {
		p.kernel.tables[l] = append(p.kernel.tables[l], p.word())
		if !p.accept(",") {
			break
		}
	}
	p.expect(";")
}

func (p *parser) instruction() {
	first := p.at
	in := instruction{line: p.peek().line, scope: p.scope}
	if p.accept("@") {
		g := &guard{negated: p.accept("!")}
		t := p.peek()
		r, ok := p.lookup(p.word())
		if !ok || p.kernel.registers[r].scalar != pred {
			p.fail(t.line, "%v guards an instruction, but is no predicate", t)
		}
		g.predicate = p.kernel.registers[r].index
		in.guard = g
	}
	parts := strings.Split(p.word(), ".")
	in.name, in.modifier = parts[0], parts[1:]
	for !p.accept(";") {
		in.operands = append(in.operands, p.operand())
		if t := p.peek(); !p.accept(",") && t.text != ";" {
			p.fail(t.line, "%v stands where the next operand or the end of %s belongs", t, in.fullName())
		}
	}
	in.text = joined(p.tokens[first:p.at])
	p.kernel.body = append(p.kernel.body, in)
}

func joined(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.kind != sign && (tokens[i-1].kind == word || tokens[i-1].text == ",") &&
			tokens[i-1].text != "!" || t.text == "{" || t.text == "[" {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return strings.TrimSuffix(b.String(), ";")
}

func (p *parser) operand() operand {
	t := p.peek()
	switch {
	case t.text == "{":
		return p.vector()
	case t.text == "[":
		return p.address()
	case t.text == "!":
		p.next()
		o := p.operand()
		o.negated = true
		return o
	case t.text == "(":
		p.fail(t.line, "a function is called: inline it, calls are not known here")
	case t.kind == number:
		return p.immediate()
	}
	o := p.named()
	if p.accept("|") {
		second := p.named()
		o.second = &second
	}
	return o
}

func (p *parser) vector() operand {
	o := operand{kind: vectorOperand, text: "{…}"}
	p.expect("{")
	for {
		o.elements = append(o.elements, p.operand())
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	return o
}

// address reads [register], [name] or [number], each with an optional offset, such as +8 or -8.
func (p *parser) address() operand {
	o := operand{kind: addressOperand}
	p.expect("[")
	base := p.operand()
	o.text = base.text
	o.elements = []operand{base}
	if minus := p.peek().text == "-"; p.accept("+") || p.accept("-") {
		o.value = p.immediate().value
		if minus {
			o.value = -o.value
		}
	} else if p.peek().kind == number && p.peek().text[0] == '-' {
		o.value = p.immediate().value
	}
	p.expect("]")
	return o
}

// named reads a register, a special register, a symbol, or the sink _.
func (p *parser) named() operand {
	t := p.peek()
	name := p.word()
	if name == "_" {
		return operand{kind: sinkOperand, text: name}
	}
	if r, ok := p.lookup(name); ok {
		return operand{kind: registerOperand, text: name, register: r, scalar: p.kernel.registers[r].scalar}
	}
	if isSpecial(name) {
		return operand{kind: specialOperand, text: name, scalar: u32}
	}
	if strings.HasPrefix(name, "%") {
		p.fail(t.line, "register %s is not declared", name)
	}
	return operand{kind: symbolOperand, text: name}
}

// immediate reads an integer, 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX.
func (p *parser) immediate() operand {
	t := p.next()
	o := operand{kind: integerOperand, text: t.text}
	var err error
	switch {
	case t.kind != number:
		p.fail(t.line, "%v stands where a number belongs", t)
	case strings.HasPrefix(t.text, "0f") || strings.HasPrefix(t.text, "0F"):
		o.kind, o.scalar = floatOperand, f32
		o.value, err = strconv.ParseUint(t.text[2:], 16, 32)
		if len(t.text) != 10 {
			p.fail(t.line, "%v is no float of 32 bits", t)
		}
	case strings.HasPrefix(t.text, "0d") || strings.HasPrefix(t.text, "0D"):
		o.kind, o.scalar = floatOperand, scalar{float, 64}
		o.value, err = strconv.ParseUint(t.text[2:], 16, 64)
	case strings.Contains(t.text, "."):
		var f float64
		f, err = strconv.ParseFloat(t.text, 64)
		o.kind, o.scalar, o.value = floatOperand, scalar{float, 64}, math.Float64bits(f)
	default:
		digits := strings.TrimSuffix(t.text, "U")
		o.value, err = strconv.ParseUint(strings.TrimPrefix(digits, "-"), 0, 64)
		if digits[0] == '-' {
			o.value = -o.value
		}
	}
	if err != nil {
		p.fail(t.line, "%v is no number", t)
	}
	return o
}
