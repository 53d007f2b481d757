package jinja

import (
	"errors"
	"fmt"
	"time"

	"github.com/nikolalohinski/gonja/v2/nodes"
)

// runner is one rendering of a template.
type runner struct {
	*budget
	literals literals
	scope    *scope
	out      *builder
}

// scope holds variables. A loop, a macro and a captured block each have one; an if has none.
type scope struct {
	parent    *scope
	variables map[string]Value
}

func (s *scope) get(name string) (Value, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.variables[name]; ok {
			return v, true
		}
	}
	return nil, false
}

var (
	errBreak    = errors.New("break")
	errContinue = errors.New("continue")
)

func newRun(t *Template, variables map[string]Value, now func() time.Time) *runner {
	r := &runner{budget: newBudget(now), literals: t.literals, out: &builder{}}
	r.scope = &scope{variables: r.globals()}
	for name, v := range variables {
		r.scope.variables[name] = v
	}
	return r
}

// statements runs nodes in order. The error has the line of the node that failed.
func (r *runner) statements(list []nodes.Node) error {
	for _, node := range list {
		if err := r.statement(node); err != nil {
			return locate(err, node)
		}
	}
	return nil
}

// locatedError is an error that already has its line, so that enclosing statements do not add
// theirs.
type locatedError struct {
	line int
	error
}

func (e *locatedError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.error) }
func (e *locatedError) Unwrap() error { return e.error }

func locate(err error, node nodes.Node) error {
	if _, known := errors.AsType[*locatedError](err); known || errors.Is(err, errBreak) || errors.Is(err, errContinue) {
		return err
	}
	return &locatedError{node.Position().Line, err}
}

func (r *runner) statement(node nodes.Node) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	switch n := node.(type) {
	case *nodes.Data:
		return r.write(Literal(n.Data.Val))
	case *nodes.Output:
		return r.output(n)
	case *nodes.ControlStructureBlock:
		return r.statement(n.ControlStructure)
	case *ifNode:
		return r.runIf(n)
	case *forNode:
		return r.runFor(n)
	case *setNode:
		return r.runSet(n)
	case *macroNode:
		r.scope.variables[n.name] = r.macro(n, r.scope)
		return nil
	case *callNode:
		return r.runCall(n)
	case *filterNode:
		return r.runFilter(n)
	case *generationNode:
		text, err := r.capture(r.scope, n.body)
		if err != nil {
			return err
		}
		return r.write(text)
	case *breakNode:
		return errBreak
	case *continueNode:
		return errContinue
	}
	return fmt.Errorf("statement %T is not supported", node)
}

// write appends to the output.
func (r *runner) write(t Text) error {
	if len(r.out.buf)+len(t.s) > maxText {
		return fmt.Errorf("the template writes more than %d MiB", maxText>>20)
	}
	if err := r.allocText(len(t.s) + 16*len(t.runs)); err != nil {
		return err
	}
	r.out.addText(t)
	return nil
}

func (r *runner) output(n *nodes.Output) error {
	c := conditional{value: n.Expression, condition: n.Condition}
	if n.Alternative != nil {
		c.alternative = &conditional{value: n.Alternative}
	}
	v, err := r.conditional(c)
	if err != nil {
		return err
	}
	t, err := r.str(v)
	if err != nil {
		return err
	}
	return r.write(t)
}

func (r *runner) conditional(c conditional) (Value, error) {
	if c.condition != nil {
		condition, err := r.eval(c.condition)
		if err != nil {
			return nil, err
		}
		if !truth(condition) {
			if c.alternative == nil {
				return undefined{"the value of an if without else"}, nil
			}
			return r.conditional(*c.alternative)
		}
	}
	return r.eval(c.value)
}

func (r *runner) runIf(n *ifNode) error {
	for _, b := range n.branches {
		if b.condition != nil {
			condition, err := r.eval(b.condition)
			if err != nil {
				return err
			}
			if !truth(condition) {
				continue
			}
		}
		return r.statements(b.body)
	}
	return nil
}

func (r *runner) runSet(n *setNode) error {
	values := make([]Value, len(n.values))
	for i, c := range n.values {
		v, err := r.conditional(c)
		if err != nil {
			return err
		}
		values[i] = v
	}
	if n.values == nil {
		text, err := r.capture(r.scope, n.body)
		if err != nil {
			return err
		}
		values = []Value{text}
	}
	if len(n.targets) == 1 {
		if len(values) == 1 {
			return r.assign(n.targets[0], values[0])
		}
		return r.assign(n.targets[0], &List{items: values, tuple: true})
	}
	if len(values) == 1 {
		items, err := r.iterate(values[0])
		if err != nil {
			return err
		}
		values = items
	}
	if len(values) != len(n.targets) {
		return fmt.Errorf("%d values for %d names", len(values), len(n.targets))
	}
	for i, target := range n.targets {
		if err := r.assign(target, values[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) assign(target nodes.Expression, v Value) error {
	switch n := target.(type) {
	case *nodes.Name:
		if err := r.alloc(64); err != nil {
			return err
		}
		r.scope.variables[n.Name.Val] = v
		return nil
	case *nodes.GetAttribute:
		object, err := r.eval(n.Node)
		if err != nil {
			return err
		}
		if ns, ok := object.(*namespace); ok {
			ns.attributes[n.Attribute] = v
			return r.alloc(64)
		}
		return fmt.Errorf("cannot set %.40q: only a namespace can be changed, not %s", n.Attribute, kind(object))
	}
	return errors.New("only a name or an attribute of a namespace can be set")
}

// capture runs statements in a new scope inside parent, and returns what they write.
func (r *runner) capture(parent *scope, body []nodes.Node) (Text, error) {
	inner, err := r.inside(parent)
	if err != nil {
		return Text{}, err
	}
	return r.captureIn(inner, body)
}

// inside opens a scope.
func (r *runner) inside(parent *scope) (*scope, error) {
	return &scope{parent: parent, variables: map[string]Value{}}, r.alloc(400)
}

func (r *runner) captureIn(inner *scope, body []nodes.Node) (Text, error) {
	outerScope, outerOut := r.scope, r.out
	r.scope, r.out = inner, &builder{}
	defer func() { r.scope, r.out = outerScope, outerOut }()
	err := r.statements(body)
	return r.out.text(), err
}
