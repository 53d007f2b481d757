package jinja

import (
	"fmt"
	"slices"
	"strings"
)

// parser builds the tree of a template. After the first error it moves to the end of the template, so
// every loop below ends.
type parser struct {
	source  string
	tokens  []token
	at      int
	nesting int // number of statements around the token at
	loops   int // number of loops around the token at which a break there may leave
	err     error
}

func (p *parser) now() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.now()
	if t.kind != tokenEOF {
		p.at++
	}
	return t
}

// skip moves past one of the operators or keywords, if it is next.
func (p *parser) skip(texts ...string) bool {
	found := p.now().is(texts...)
	if found {
		p.next()
	}
	return found
}

func (p *parser) fail(t token, format string, args ...any) {
	if p.err == nil {
		p.err = locate(p.source, int(t.at), fmt.Errorf(format, args...))
	}
	p.at = len(p.tokens) - 1
}

// want fails because the next token is not allowed there.
func (p *parser) want(allowed string) {
	p.fail(p.now(), "got %v; allowed: %s", p.now(), allowed)
}

func (p *parser) expect(operator string) {
	if !p.skip(operator) {
		p.want(operator)
	}
}

func (p *parser) name(what string) string {
	if p.now().kind != tokenName {
		p.want(what)
		return ""
	}
	return p.next().text
}

// end moves past the end of a tag.
func (p *parser) end() {
	if p.now().kind != tokenEnd {
		p.want("an operator, or the end of the tag")
		return
	}
	p.next()
}

// statements reads until a tag with one of the names, and past that name. Without names it reads
// the whole template.
func (p *parser) statements(ends ...string) []statement {
	var list []statement
	for {
		switch t := p.next(); t.kind {
		case tokenData:
			list = append(list, &dataNode{t.text})
		case tokenBegin:
			if t.text == "{{" {
				list = append(list, &outputNode{t.at, p.tuple(true)})
				p.end()
				break
			}
			if name := p.now(); name.kind == tokenName && slices.Contains(ends, name.text) {
				p.next()
				return list
			}
			if s := p.statement(); s != nil {
				list = append(list, s)
			}
		default:
			if ends != nil {
				p.fail(t, "the template ends; due is {%% %s %%}", strings.Join(ends, " %} or {% "))
			}
			return list
		}
	}
}

// body reads statements up to the end tag, and the rest of that tag.
func (p *parser) body(end string) []statement {
	list := p.statements(end)
	p.end()
	return list
}

// closed reads the body of a statement that no break may leave.
func (p *parser) closed(end string) []statement {
	loops := p.loops
	p.loops = 0
	defer func() { p.loops = loops }()
	return p.body(end)
}

func (p *parser) statement() statement {
	if p.nesting++; p.nesting > maxNesting {
		p.fail(p.now(), "more than %d statements inside each other", maxNesting)
	}
	defer func() { p.nesting-- }()
	t := p.now()
	switch name := p.name("the name of a statement"); name {
	case "if":
		return p.ifStatement()
	case "for":
		return p.forStatement(t.at)
	case "set":
		return p.setStatement(t.at)
	case "macro":
		name := p.name("the name of the macro")
		return &macroNode{t.at, name, p.definition("endmacro")}
	case "call":
		return p.callStatement(t.at)
	case "filter":
		filters := append([]*filterCallNode{p.filterNamed(nil)}, p.filters()...)
		return &filterNode{t.at, filters, p.body("endfilter")}
	case "generation": // marks the assistant's words for training; here only a block
		p.end()
		return &filterNode{t.at, nil, p.closed("endgeneration")}
	case "break", "continue":
		if p.loops == 0 {
			p.fail(t, "%s is outside a loop", name)
		}
		p.end()
		return jumpNode(name)
	case "include", "import", "from", "extends":
		p.fail(t, "{%% %s %%} would read another file and is not allowed", name)
	default:
		p.fail(t, "{%% %.40s %%} is not allowed in a chat template, or has no beginning; "+
			"allowed: if, for, set, macro, call, filter, generation, break, continue", name)
	}
	return nil
}

func (p *parser) ifStatement() statement {
	n := &ifNode{}
	for {
		condition := p.tuple(false)
		p.end()
		n.branches = append(n.branches, branch{condition, p.statements("elif", "else", "endif")})
		if last := p.tokens[max(p.at-1, 0)]; last.is("elif") && p.err == nil {
			continue
		} else if last.is("else") {
			p.end()
			n.branches = append(n.branches, branch{nil, p.statements("endif")})
		}
		p.end()
		return n
	}
}

func (p *parser) forStatement(at pos) statement {
	n := &forNode{pos: at, target: p.target(false)}
	p.expect("in")
	n.list = p.tuple(false)
	if p.skip("if") {
		n.condition = p.expression()
	}
	if p.now().is("recursive") {
		p.fail(p.now(), "recursive loops are not allowed")
	}
	p.end()
	p.loops++
	n.body = p.statements("else", "endfor")
	p.loops--
	if p.tokens[max(p.at-1, 0)].is("else") {
		p.end()
		n.otherwise = p.statements("endfor")
	}
	p.end()
	return n
}

func (p *parser) setStatement(at pos) statement {
	target := p.target(true)
	if p.skip("=") {
		n := &setNode{pos: at, target: target, value: p.tuple(true)}
		p.end()
		return n
	}
	return &setNode{at, target, nil, p.filters(), p.body("endset")}
}

// filters reads filters up to the end of the tag.
func (p *parser) filters() (list []*filterCallNode) {
	for p.skip("|") {
		list = append(list, p.filterNamed(nil))
	}
	p.end()
	return list
}

func (p *parser) callStatement(at pos) statement {
	var f definition
	if p.now().is("(") {
		f.parameters = p.parameters()
	}
	call, ok := p.expression().(*callNode)
	if !ok {
		p.want("the call of a macro")
	}
	p.end()
	f.body = p.closed("endcall")
	return &callBlockNode{at, call, f}
}

// definition reads the parameters and the body of a macro.
func (p *parser) definition(end string) definition {
	f := definition{parameters: p.parameters()}
	p.end()
	start := p.at
	f.body = p.closed(end)
	for _, t := range p.tokens[start:p.at] {
		f.varargs = f.varargs || t.is("varargs")
		f.kwargs = f.kwargs || t.is("kwargs")
		f.caller = f.caller || t.is("caller")
	}
	return f
}

func (p *parser) parameters() []parameter {
	var list []parameter
	p.expect("(")
	for !p.skip(")") && p.err == nil {
		if len(list) > 0 {
			p.expect(",")
		}
		next := parameter{name: p.name("the name of a parameter, or )")}
		if p.skip("=") {
			next.fallback = p.expression()
		} else if len(list) > 0 && list[len(list)-1].fallback != nil {
			p.fail(p.now(), "parameter %.40q needs a default, because the one before has one", next.name)
		}
		list = append(list, next)
	}
	return list
}

// target reads what a loop or a set assigns to. If attributes is true, this may be an attribute of a
// namespace.
func (p *parser) target(attributes bool) target {
	var list []target
	for tuple := false; ; tuple = true {
		if p.skip("(") {
			list = append(list, p.target(false))
			p.expect(")")
		} else if p.now().kind == tokenName && !p.now().is("in", "true", "false", "none", "True", "False", "None") {
			next := target{name: p.next().text}
			if attributes && p.skip(".") {
				next.attribute = p.name("the name of an attribute")
			}
			list = append(list, next)
		} else if !tuple {
			p.want("a name to assign to")
			return target{}
		}
		if !p.skip(",") {
			if len(list) == 1 && !tuple {
				return list[0]
			}
			return target{parts: list}
		}
	}
}
