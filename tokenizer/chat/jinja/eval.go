package jinja

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/nikolalohinski/gonja/v2/nodes"
)

// eval computes an expression.
func (r *runner) eval(node nodes.Node) (Value, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	switch n := node.(type) {
	case *nodes.None:
		return nil, nil
	case *nodes.Bool:
		return n.Val, nil
	case *nodes.Integer:
		return n.Val, nil
	case *nodes.Float:
		return n.Val, nil
	case *nodes.String:
		return Literal(r.literals[n.Location]), nil
	case *nodes.Name:
		return r.name(n.Name.Val), nil
	case *nodes.List:
		items, err := r.evalAll(n.Val)
		return &List{items: items}, err
	case *nodes.Tuple:
		items, err := r.evalAll(n.Val)
		return &List{items: items, tuple: true}, err
	case *nodes.Dict:
		return r.dict(n)
	case *nodes.GetAttribute:
		return r.getAttribute(n)
	case *nodes.GetItem:
		return r.getItem(n)
	case *nodes.GetSlice:
		return r.getSlice(n)
	case *nodes.Call:
		f, args, err := r.prepareCall(n)
		if err != nil {
			return nil, err
		}
		return f(args)
	case *nodes.FilteredExpression:
		return r.filtered(n)
	case *nodes.TestExpression:
		return r.tested(n)
	case *nodes.Negation:
		v, err := r.eval(n.Term)
		return !truth(v), err
	case *nodes.UnaryExpression:
		return r.unary(n)
	case *nodes.BinaryExpression:
		return r.binary(n)
	}
	return nil, fmt.Errorf("expression %T is not supported", node)
}

func (r *runner) name(name string) Value {
	if v, ok := r.scope.get(name); ok {
		return v
	}
	if name == "none" {
		return nil
	}
	return undefined{name}
}

func (r *runner) evalAll(list []nodes.Expression) ([]Value, error) {
	if err := r.alloc(48 + 16*len(list)); err != nil {
		return nil, err
	}
	values := make([]Value, len(list))
	for i, n := range list {
		v, err := r.eval(n)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

func (r *runner) dict(n *nodes.Dict) (Value, error) {
	if err := r.alloc(64 + 128*len(n.Pairs)); err != nil {
		return nil, err
	}
	d := &Dict{}
	for _, pair := range n.Pairs {
		key, err := r.eval(pair.Key)
		if err != nil {
			return nil, err
		}
		name, ok := key.(Text)
		if !ok {
			return nil, fmt.Errorf("the key of a dict must be a string, not %s", kind(key))
		}
		v, err := r.eval(pair.Value)
		if err != nil {
			return nil, err
		}
		d.Set(name, v)
	}
	return d, nil
}

func (r *runner) getAttribute(n *nodes.GetAttribute) (Value, error) {
	object, err := r.eval(n.Node)
	if err != nil {
		return nil, err
	}
	if n.Attribute == "" {
		return r.item(object, n.Index)
	}
	return r.attribute(object, n.Attribute)
}

// attribute is object.name: a method or, if there is no method of that name, an item.
func (r *runner) attribute(object Value, name string) (Value, error) {
	switch o := object.(type) {
	case undefined:
		return nil, o.use()
	case *loop:
		return o.attribute(r, name), nil
	case *namespace:
		if v, ok := o.attributes[name]; ok {
			return v, nil
		}
	case Text:
		if method, ok := textMethods[name]; ok {
			return r.bound(name, func(args arguments) (Value, error) { return method(r, o, args) }), nil
		}
	case *Dict:
		if method, ok := dictMethods[name]; ok {
			return r.bound(name, func(args arguments) (Value, error) { return method(r, o, args) }), nil
		}
		if v, ok := o.Get(name); ok {
			return v, nil
		}
	}
	return undefined{name}, nil
}

// bound makes a method name itself in its errors.
func (r *runner) bound(name string, f function) function {
	return func(args arguments) (Value, error) {
		v, err := f(args)
		if err != nil {
			err = fmt.Errorf(".%s: %w", name, err)
		}
		return v, err
	}
}

func (r *runner) getItem(n *nodes.GetItem) (Value, error) {
	object, err := r.eval(n.Node)
	if err != nil {
		return nil, err
	}
	if n.Arg == nil {
		return nil, errors.New("an index is missing between [ and ]")
	}
	key, err := r.eval(n.Arg)
	if err != nil {
		return nil, err
	}
	return r.item(object, key)
}

// item is object[key].
func (r *runner) item(object, key Value) (Value, error) {
	if name, ok := key.(Text); ok {
		if d, ok := object.(*Dict); ok {
			if v, ok := d.Get(name.s); ok {
				return v, nil
			}
		}
		return r.attribute(object, name.s)
	}
	i, isInteger := integer(key)
	switch o := object.(type) {
	case undefined:
		return nil, o.use()
	case *List:
		if !isInteger {
			break
		}
		if i < 0 {
			i += len(o.items)
		}
		if i >= 0 && i < len(o.items) {
			return o.items[i], nil
		}
		return undefined{"element of a list of " + fmt.Sprint(len(o.items))}, nil
	case Text:
		if !isInteger {
			break
		}
		if err := r.scan(len(o.s)); err != nil {
			return nil, err
		}
		n := o.runes()
		if i < 0 {
			i += n
		}
		if i >= 0 && i < n {
			return r.made(o.sliceRunes(i, i+1))
		}
		return undefined{"character of a string of " + fmt.Sprint(n)}, nil
	}
	return undefined{fmt.Sprintf("item of %s", kind(object))}, nil
}

// made counts the memory of a text that was just cut out of others or mapped from them.
func (r *runner) made(t Text) (Value, error) { return t, r.alloc(48 + 16*len(t.runs)) }

// arguments are the evaluated arguments of a call.
type arguments struct {
	positional []Value
	named      map[string]Value
}

// prepareCall evaluates the function and the arguments of a call.
func (r *runner) prepareCall(n *nodes.Call) (function, arguments, error) {
	called, err := r.eval(n.Func)
	if err != nil {
		return nil, arguments{}, err
	}
	f, ok := called.(function)
	if !ok {
		if u, ok := called.(undefined); ok {
			return nil, arguments{}, fmt.Errorf("function or method %.80s does not exist or is not allowed", u.name)
		}
		return nil, arguments{}, fmt.Errorf("%s cannot be called", kind(called))
	}
	args, err := r.arguments(n.Args, n.Kwargs)
	return f, args, err
}

func (r *runner) arguments(positional []nodes.Expression, named map[string]nodes.Expression) (args arguments, err error) {
	if args.positional, err = r.evalAll(positional); err != nil {
		return args, err
	}
	args.named = make(map[string]Value, len(named))
	for _, name := range inOrder(named) {
		if args.named[name], err = r.eval(named[name]); err != nil {
			return args, err
		}
	}
	return args, r.alloc(64 * len(named))
}

// inOrder returns the names in the order of the source.
func inOrder(named map[string]nodes.Expression) []string {
	names := make([]string, 0, len(named))
	for name := range named {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(named[a].Position().Pos, named[b].Position().Pos), cmp.Compare(a, b))
	})
	return names
}

// get returns argument i, by position or by name, or the fallback.
func (a arguments) get(i int, name string, fallback Value) Value {
	if i < len(a.positional) {
		return a.positional[i]
	}
	if v, ok := a.named[name]; ok {
		return v
	}
	return fallback
}

// text returns argument i, which must be a string.
func (a arguments) text(i int, name string) (Text, error) {
	v := a.get(i, name, undefined{name})
	t, ok := v.(Text)
	if !ok {
		return Text{}, fmt.Errorf("argument %s must be a string, not %s", name, kind(v))
	}
	return t, nil
}

// integer returns argument i, which must be an integer.
func (a arguments) integer(i int, name string, fallback int) (int, error) {
	v := a.get(i, name, fallback)
	n, ok := integer(v)
	if !ok {
		return 0, fmt.Errorf("argument %s must be an integer, not %s", name, kind(v))
	}
	return n, nil
}

func (r *runner) filtered(n *nodes.FilteredExpression) (Value, error) {
	v, err := r.eval(n.Expression)
	if err != nil {
		return nil, err
	}
	for _, call := range n.Filters {
		if v, err = r.filter(v, call); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (r *runner) filter(v Value, call *nodes.FilterCall) (Value, error) {
	args, err := r.arguments(call.Args, call.Kwargs)
	if err != nil {
		return nil, err
	}
	return r.applyFilter(call.Name, v, args)
}

func (r *runner) tested(n *nodes.TestExpression) (Value, error) {
	v, err := r.eval(n.Expression)
	if err != nil {
		return nil, err
	}
	args, err := r.arguments(n.Test.Args, n.Test.Kwargs)
	if err != nil {
		return nil, err
	}
	return r.applyTest(n.Test.Name, v, args)
}
