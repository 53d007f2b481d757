package jinja

import (
	"fmt"
	"maps"
	"time"
)

// runner is one rendering of a template. After an error it does nothing: every loop ends, and results of
// functions are not used. Code that allocates or loops asks the budget first (limits.go).
type runner struct {
	budget
	source  string
	scope   *scope
	out     *builder
	jump    jumpNode // break or continue, on the way to its loop
	err     error
	located bool // err already has its line and column

	// The global maps filters and textMethods. Functions in these maps use them through the runner, because
	// Go does not compile a global map whose own functions refer to it.
	filters, textMethods map[string]builtin
}

// scope holds variables. Each element of a loop, each call of a macro and each captured block has one
// of its own; an if has none.
type scope struct {
	parent    *scope
	variables map[string]Value
}

func newRun(source string, variables map[string]Value, now func() time.Time) *runner {
	r := &runner{budget: budget{now: now, deadline: now().Add(maxDuration)}, source: source, out: &builder{}, filters: filters, textMethods: textMethods}
	r.scope = &scope{&scope{variables: r.globals()}, map[string]Value{}}
	maps.Copy(r.scope.variables, variables)
	return r
}

// fail notes the first error. It returns None, so that a caller can write return r.fail(…).
func (r *runner) fail(format string, args ...any) Value {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	return nil
}

// pos is an offset in the source. An error gets the offset of the innermost node that has one.
type pos int

func (p pos) offset() int { return int(p) }

func (r *runner) locate(node any) {
	if n, ok := node.(interface{ offset() int }); ok && r.err != nil && !r.located {
		r.err, r.located = locate(r.source, n.offset(), r.err), true
	}
}

type statement interface{ run(r *runner) }

type (
	dataNode   struct{ text string }
	outputNode struct {
		pos
		value expression
	}
	ifNode struct{ branches []branch }
	branch struct {
		condition expression // nil: else
		body      []statement
	}
	forNode struct {
		pos
		target    target
		list      expression
		condition expression // nil: every element
		body      []statement
		otherwise []statement // runs if there was no element
	}
	setNode struct {
		pos
		target  target
		value   expression // nil: what the body writes
		filters []*filterCallNode
		body    []statement
	}
	macroNode struct {
		pos
		name string
		definition
	}
	callBlockNode struct { // {% call f() %}body{% endcall %}
		pos
		call   *callNode
		caller definition
	}
	filterNode struct { // {% filter f %}body{% endfilter %}
		pos
		filters []*filterCallNode
		body    []statement
	}
	jumpNode string // break or continue

	// target is a name, an attribute of a namespace, or several targets.
	target struct {
		name, attribute string
		parts           []target
	}
)

func (r *runner) runAll(list []statement) {
	for _, s := range list {
		if r.jump != "" || !r.enter() {
			return
		}
		s.run(r)
		r.locate(s)
		r.leave()
	}
}

// write appends to the output.
func (r *runner) write(t Text) {
	if len(r.out.buf)+len(t.s) > maxText {
		r.fail("the template writes more than %d MiB", maxText>>20)
	} else if r.allocText(len(t.s) + 16*len(t.runs)) {
		r.out.addText(t)
	}
}

func (n *dataNode) run(r *runner)   { r.write(Literal(n.text)) }
func (n *outputNode) run(r *runner) { r.write(r.str(r.eval(n.value))) }
func (n jumpNode) run(r *runner)    { r.jump = n }

func (n *ifNode) run(r *runner) {
	for _, b := range n.branches {
		if b.condition == nil || truth(r.eval(b.condition)) {
			r.runAll(b.body)
			return
		}
	}
}

func (n *setNode) run(r *runner) {
	if n.value != nil {
		r.assign(n.target, r.eval(n.value))
	} else if v := r.filterBody(n.filters, n.body); r.jump == "" {
		r.assign(n.target, v)
	}
}

func (n *filterNode) run(r *runner) {
	if v := r.filterBody(n.filters, n.body); r.jump == "" {
		r.write(r.str(v))
	}
}

// filterBody runs statements and applies filters to what they write.
func (r *runner) filterBody(filters []*filterCallNode, body []statement) Value {
	v := Value(r.capture(r.scope, body))
	for _, f := range filters {
		v = f.apply(r, v)
	}
	return v
}

func (r *runner) assign(t target, v Value) {
	switch {
	case t.attribute != "":
		if ns, ok := r.name(t.name).(*namespace); !ok {
			r.fail("cannot set %.40q: only a namespace can be changed, not %s", t.attribute, kind(r.name(t.name)))
		} else if r.alloc(64) {
			ns.attributes[t.attribute] = v
		}
	case t.parts != nil:
		values := r.iterate(v)
		if len(values) != len(t.parts) {
			r.fail("%d values for %d names", len(values), len(t.parts))
			return
		}
		for i, part := range t.parts {
			r.assign(part, values[i])
		}
	case r.alloc(64):
		r.scope.variables[t.name] = v
	}
}

// capture runs statements in a new scope inside parent, and returns what they write.
func (r *runner) capture(parent *scope, body []statement) Text {
	return r.captured(func() {
		r.scope = r.inside(parent)
		r.runAll(body)
	})
}

func (r *runner) captured(run func()) Text {
	scope, out := r.scope, r.out
	r.out = &builder{}
	defer func() { r.scope, r.out = scope, out }()
	run()
	return r.out.text()
}

// inside returns a new scope inside parent.
func (r *runner) inside(parent *scope) *scope {
	r.alloc(400)
	return &scope{parent, map[string]Value{}}
}
