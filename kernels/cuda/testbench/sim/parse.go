package sim

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// parser reads the tokens of a module. At the first error a method panics with a syntaxError,
// which parse turns into an error again.
type parser struct {
	tokens []token
	at     int
	module *Module
	shared []*variable // external arrays, declared outside kernels

	kernel *Kernel
	scope  int
	names  []map[string]int // registers by scope
}

// Bounds in bytes on what a text may ask for: of an array, and of one parameter.
const (
	mostBytes      = 1 << 20
	parameterBytes = 4096
)

type syntaxError struct{ error }

func (p *parser) fail(line int, format string, arguments ...any) {
	panic(syntaxError{fmt.Errorf("line %d: "+format, append([]any{line}, arguments...)...)})
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// accept takes the next token if it is text.
func (p *parser) accept(text string) bool {
	if t := p.peek(); t.text != text || t.kind == quoted {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text string) {
	if t := p.peek(); !p.accept(text) {
		p.fail(t.line, "%v stands where %q belongs", t, text)
	}
}

func (p *parser) word() string {
	t := p.next()
	if t.kind != word {
		p.fail(t.line, "%v stands where a name belongs", t)
	}
	return t.text
}

func (p *parser) integer() int {
	t := p.next()
	n, err := strconv.ParseInt(t.text, 0, 32)
	if t.kind != number || err != nil {
		p.fail(t.line, "%v stands where a number belongs", t)
	}
	return int(n)
}

// size reads the number of elements of an array.
func (p *parser) size() int {
	t := p.peek()
	n := p.integer()
	if n < 1 || n > mostBytes {
		p.fail(t.line, "%v is no size of an array", t)
	}
	return n
}

func (p *parser) scalarType() scalar {
	t := p.next()
	s, ok := scalars[strings.TrimPrefix(t.text, ".")]
	if !ok || !strings.HasPrefix(t.text, ".") {
		p.fail(t.line, "%v stands where a type belongs", t)
	}
	return s
}

func parse(tokens []token) (m *Module, err error) {
	p := &parser{tokens: tokens, module: &Module{kernels: map[string]*Kernel{}}}
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case syntaxError:
			m, err = nil, failure.error
		default:
			panic(failure)
		}
	}()
	p.header()
	for p.peek().kind != end {
		p.declaration()
	}
	return p.module, nil
}

// header reads the three directives that begin a module.
func (p *parser) header() {
	p.expect(".version")
	t := p.next()
	major, minor, _ := strings.Cut(t.text, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil || b > 9 {
		p.fail(t.line, "%v is no version of PTX", t)
	}
	p.module.version = a*10 + b
	p.expect(".target")
	t = p.next()
	sm, err := strconv.Atoi(strings.TrimPrefix(t.text, "sm_"))
	if err != nil || !strings.HasPrefix(t.text, "sm_") {
		p.fail(t.line, "%v is no target; one is sm_80, and those with a letter are not known here", t)
	}
	p.module.target = sm
	p.expect(".address_size")
	if line := p.peek().line; p.integer() != 64 {
		p.fail(line, "addresses have 64 bits")
	}
}

// declaration reads a kernel, or a variable outside kernels.
func (p *parser) declaration() {
	external := false
	for p.accept(".visible") || p.accept(".weak") {
	}
	if p.accept(".extern") {
		external = true
	}
	switch t := p.next(); t.text {
	case ".entry":
		p.entry()
	case ".func":
		if external {
			p.fail(t.line, "a function is called that no module has: %v", p.peek())
		}
		p.fail(t.line, "functions beside kernels are not known here: inline them")
	case ".shared":
		v := p.variable(sharedSpace, external)
		if !external {
			p.fail(t.line, "shared memory outside a kernel has to be external")
		}
		p.shared = append(p.shared, v)
	case ".global", ".const":
		if external {
			p.fail(t.line, "a variable is used that no module has: %v", p.peek())
		}
		p.module.variables = append(p.module.variables, p.variable(spaces[t.text[1:]], false))
	default:
		p.fail(t.line, "%v stands where a kernel or a variable belongs", t)
	}
}

// variable reads what follows the state space: [.align 8] .b8 name[16] [= {…}];
func (p *parser) variable(where space, external bool) *variable {
	v := &variable{space: where, external: external, line: p.peek().line}
	if p.accept(".align") {
		v.align = p.integer()
	}
	element := p.scalarType().bytes()
	v.align = max(v.align, element)
	v.name = p.word()
	v.elementTypeBytes = element
	count := 1
	for p.accept("[") {
		if p.accept("]") {
			if !external {
				p.fail(v.line, "array %s has no size", v.name)
			}
			count = 0
			continue
		}
		count *= p.size()
		if count > mostBytes {
			p.fail(v.line, "array %s is too large", v.name)
		}
		p.expect("]")
	}
	v.bytes = count * element
	if p.accept("=") {
		p.initial(v)
	}
	p.expect(";")
	return v
}

func (p *parser) initial(v *variable) {
	v.initial = make([]byte, v.bytes)
	list := p.accept("{")
	for i := 0; ; i += v.elementTypeBytes {
		value := p.immediate().value
		if i+v.elementTypeBytes > v.bytes {
			p.fail(v.line, "more values than %s has room for", v.name)
		}
		var eight [8]byte
		binary.LittleEndian.PutUint64(eight[:], value)
		copy(v.initial[i:i+v.elementTypeBytes], eight[:])
		if !list || !p.accept(",") {
			break
		}
	}
	if list {
		p.expect("}")
	}
}

// entry reads a kernel from its name on.
func (p *parser) entry() {
	t := p.peek()
	k := &Kernel{name: p.word(), module: p.module, most: 1024, labels: map[label]int{},
		tables: map[label][]string{}, scopes: []int{-1}}
	if p.module.kernels[k.name] != nil {
		p.fail(t.line, "kernel %s is there twice", k.name)
	}
	p.kernel, p.scope, p.names = k, 0, []map[string]int{{}}
	k.arrays = append(k.arrays, p.shared...)
	if p.accept("(") {
		for !p.accept(")") {
			p.parameter()
			p.accept(",")
		}
	}
	for !p.accept("{") {
		p.limit()
	}
	p.body()
	p.module.kernels[k.name] = k
}

// parameter reads .param .u64 name or .param .align 8 .b8 name[16].
func (p *parser) parameter() {
	p.expect(".param")
	align := 1
	if p.accept(".align") {
		align = p.integer()
	}
	size := p.scalarType().bytes()
	align = max(align, size)
	for p.accept(".ptr") || p.accept(".global") || p.accept(".shared") {
	}
	if p.accept(".align") { // of what a pointer points to
		p.integer()
	}
	name := p.word()
	if p.accept("[") {
		size *= p.size()
		p.expect("]")
	}
	if size > parameterBytes {
		p.fail(p.peek().line, "parameter %s has more than %d bytes", name, parameterBytes)
	}
	offset := 0
	if n := len(p.kernel.parameters); n > 0 {
		last := p.kernel.parameters[n-1]
		offset = (last.offset + last.bytes + align - 1) / align * align
	}
	p.kernel.parameters = append(p.kernel.parameters, parameter{name, size, offset})
}

// limit reads a bound on the launch of a kernel.
func (p *parser) limit() {
	t := p.next()
	switch t.text {
	case ".maxntid", ".reqntid":
		n := p.integer()
		for p.accept(",") {
			n *= p.integer()
		}
		p.kernel.most, p.kernel.exact = n, t.text == ".reqntid"
	case ".minnctapersm", ".maxnreg":
		p.integer()
	default:
		p.fail(t.line, "%v stands where a kernel's body begins", t)
	}
}
