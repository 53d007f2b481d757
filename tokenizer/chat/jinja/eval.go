package jinja

type expression interface{ eval(r *runner) Value }

type (
	constantNode struct{ value Value }
	nameNode     struct {
		pos
		name string
	}
	listNode struct {
		pos
		items []expression
		tuple bool
	}
	dictNode struct {
		pos
		keys, values []expression
	}
	attributeNode struct { // value.name
		pos
		value expression
		name  string
	}
	itemNode struct { // value[key]
		pos
		value, key expression
	}
	sliceNode struct { // value[start:end:step]
		pos
		value  expression
		bounds [3]expression // nil: left out
	}
	callNode struct {
		pos
		callee    expression
		arguments []argument
	}
	filterCallNode struct { // value|name(arguments)
		pos
		value     expression // nil: the filter gets the body of a statement
		name      string
		arguments []argument
	}
	testNode        filterCallNode // value is name(arguments)
	conditionalNode struct {       // value if condition else alternative
		pos
		value, condition, alternative expression
	}
	notNode struct {
		pos
		value expression
	}
	logicNode struct {
		pos
		and         bool // false: or
		left, right expression
	}

	argument struct {
		name   string // "": by position
		spread int    // number of stars before the argument
		value  expression
	}
)

// eval computes an expression.
func (r *runner) eval(e expression) Value {
	if !r.enter() {
		return nil
	}
	defer r.leave()
	v := e.eval(r)
	r.locate(e)
	return v
}

func (r *runner) evalAll(list []expression) []Value {
	if !r.alloc(48 + 16*len(list)) {
		return nil
	}
	values := make([]Value, len(list))
	for i, e := range list {
		values[i] = r.eval(e)
	}
	return values
}

// name looks a variable up.
func (r *runner) name(name string) Value {
	for s := r.scope; s != nil; s = s.parent {
		if v, ok := s.variables[name]; ok {
			return v
		}
	}
	return undefined{name}
}

func (n *constantNode) eval(*runner) Value { return n.value }
func (n *nameNode) eval(r *runner) Value   { return r.name(n.name) }
func (n *notNode) eval(r *runner) Value    { return !truth(r.eval(n.value)) }

func (n *listNode) eval(r *runner) Value {
	list := &List{items: r.evalAll(n.items)}
	if n.tuple {
		list.form = formTuple
	}
	return list
}

func (n *dictNode) eval(r *runner) Value {
	d := &Dict{}
	for i := range n.keys {
		key, value := r.eval(n.keys[i]), r.eval(n.values[i])
		if r.alloc(128) && !d.set(key, value) {
			return r.fail("the key of a dict must be a string, a number or None, not %s", kind(key))
		}
	}
	return d
}

func (n *conditionalNode) eval(r *runner) Value {
	switch {
	case truth(r.eval(n.condition)):
		return r.eval(n.value)
	case n.alternative == nil:
		return undefined{"the value of an if without else"}
	}
	return r.eval(n.alternative)
}

func (n *logicNode) eval(r *runner) Value {
	left := r.eval(n.left)
	if truth(left) != n.and {
		return left
	}
	return r.eval(n.right)
}

func (n *attributeNode) eval(r *runner) Value { return r.attribute(r.eval(n.value), n.name, true) }
func (n *itemNode) eval(r *runner) Value      { return r.item(r.eval(n.value), r.eval(n.key)) }

// attribute returns a method or an item of object; undefined if it has neither. For object.name,
// methodFirst is true: a method comes before an item of the same name. For object['name'], the item
// comes first.
func (r *runner) attribute(object Value, name string, methodFirst bool) Value {
	var found Value
	var method builtin
	var isMethod bool
	known := false
	switch o := object.(type) {
	case undefined:
		return o.use(r)
	case *loop:
		return o.attribute(r, name)
	case *namespace:
		found, known = o.attributes[name]
	case Text:
		method, isMethod = r.textMethods[name]
	case *Dict:
		method, isMethod = dictMethods[name]
		found, known = o.Get(name)
	}
	switch {
	case isMethod && (methodFirst || !known):
		return function(func(a arguments) Value { return method.call(r, "."+name, object, a) })
	case known:
		return found
	}
	return undefined{name}
}

// item is object[key].
func (r *runner) item(object, key Value) Value {
	if name, ok := key.(Text); ok {
		return r.attribute(object, name.s, false)
	}
	i, isInteger := integer(key)
	switch o := object.(type) {
	case undefined:
		return o.use(r)
	case *Dict:
		if v, ok := o.get(key); ok {
			return v
		}
	case *List:
		if i < 0 {
			i += len(o.items)
		}
		if isInteger && o.form != formView && i >= 0 && i < len(o.items) {
			return o.items[i]
		}
	case Text:
		if n := o.runes(); r.scan(len(o.s)) && isInteger {
			if i < 0 {
				i += n
			}
			if i >= 0 && i < n {
				return r.made(o.sliceRunes(i, i+1))
			}
		}
	}
	return undefined{"item of " + kind(object)}
}

// made counts the memory of a text that was just cut out of another text.
func (r *runner) made(t Text) Text {
	r.alloc(48 + 16*len(t.runs))
	return t
}

func (n *sliceNode) eval(r *runner) Value {
	v := r.eval(n.value)
	var bounds [3]*int
	for i, e := range n.bounds {
		if e == nil {
			continue
		}
		if bound := r.eval(e); bound != nil {
			number, ok := integer(bound)
			if !ok {
				return r.fail("a slice needs integers, not %s", kind(bound))
			}
			bounds[i] = &number
		}
	}
	step := 1
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step == 0 {
		return r.fail("the step of a slice is zero")
	}
	return r.slice(v, bounds[0], bounds[1], step)
}

func (r *runner) slice(v Value, start, end *int, step int) Value {
	switch v := v.(type) {
	case undefined:
		return v.use(r)
	case *List:
		first, count := sliceBounds(len(v.items), start, end, step)
		if v.form == formView || !r.alloc(48+16*count) {
			break
		}
		cut := &List{items: make([]Value, count), form: v.form}
		for i := range cut.items {
			cut.items[i] = v.items[first+i*step]
		}
		return cut
	case Text:
		if !r.scan(2 * len(v.s)) {
			return nil
		}
		first, count := sliceBounds(v.runes(), start, end, step)
		if step == 1 {
			return r.made(v.sliceRunes(first, first+count))
		}
		characters := r.iterate(v)
		picked := make([]Text, 0, count)
		for i := range count {
			if r.err == nil {
				picked = append(picked, characters[first+i*step].(Text))
			}
		}
		return r.join(Text{}, picked)
	}
	return r.fail("%s cannot be sliced", kind(v))
}

// sliceBounds returns the first index of a slice and its number of elements.
func sliceBounds(length int, start, end *int, step int) (first, count int) {
	low, high := 0, length // clamp returns an index from low to high
	first, stop := 0, length
	if step < 0 {
		low, high = -1, length-1
		first, stop = length-1, -1
	}
	clamp := func(i int) int {
		if i < 0 {
			i += length
		}
		return min(max(i, low), high)
	}
	if start != nil {
		first = clamp(*start)
	}
	if end != nil {
		stop = clamp(*end)
	}
	return first, rangeLength(first, stop, step)
}

// rangeLength is the number of elements of Python's range.
func rangeLength(start, stop, step int) int {
	distance := stop - start
	if distance == 0 || (distance > 0) != (step > 0) {
		return 0
	}
	count := distance / step
	if distance%step != 0 {
		count++
	}
	return count
}
