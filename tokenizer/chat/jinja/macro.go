package jinja

import (
	"maps"
	"slices"
)

// definition is a macro or the body of a call block, as the template defines it.
type definition struct {
	parameters              []parameter
	body                    []statement
	varargs, kwargs, caller bool // the body of a macro uses this name; false for a call block
}

type parameter struct {
	name     string
	fallback expression // nil: undefined
}

func (n *macroNode) run(r *runner) {
	r.scope.variables[n.name] = r.define(n.name, n.definition, r.scope)
}

// define returns a function that runs macro f. The macro sees the variables of home, the scope that it
// is defined in.
func (r *runner) define(name string, f definition, home *scope) function {
	return func(a arguments) Value {
		inner := r.inside(home)
		rest := maps.Clone(a.named)
		if f.caller {
			inner.variables["caller"] = undefined{"caller"}
			if caller, ok := rest["caller"]; ok {
				inner.variables["caller"] = caller
				delete(rest, "caller")
			}
		}
		given := min(len(a.positional), len(f.parameters))
		for i, p := range f.parameters[:given] {
			inner.variables[p.name] = a.positional[i]
		}
		if extra := a.positional[given:]; f.varargs {
			inner.variables["varargs"] = &List{items: extra, form: formTuple}
		} else if len(extra) > 0 {
			return r.fail("macro %.40q takes %d arguments, not %d", name, len(f.parameters), len(a.positional))
		}
		return r.captured(func() {
			r.scope = inner
			for _, p := range f.parameters[given:] {
				if v, ok := rest[p.name]; ok {
					inner.variables[p.name] = v
					delete(rest, p.name)
				} else if p.fallback != nil {
					inner.variables[p.name] = r.eval(p.fallback)
				} else {
					inner.variables[p.name] = undefined{"parameter " + p.name}
				}
			}
			if f.kwargs {
				inner.variables["kwargs"] = r.mapping(arguments{named: rest, names: a.names})
			} else if len(rest) > 0 {
				r.fail("macro %.40q takes no argument named %.40q", name, slices.Sorted(maps.Keys(rest))[0])
			}
			r.runAll(f.body)
		})
	}
}

// run calls a macro and writes its result. The macro can write the body of the call block by caller().
func (n *callBlockNode) run(r *runner) {
	callee, a := n.call.prepare(r)
	if callee == nil {
		return
	}
	a.named["caller"] = r.define("caller", n.caller, r.scope)
	r.write(r.str(callee(a)))
}
