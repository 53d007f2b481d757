package jinja

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nikolalohinski/gonja/v2/tokens"
)

// applyTest is "value is name(args)". The operator in also comes here, as the test of that name.
func (r *runner) applyTest(name string, v Value, args arguments) (Value, error) {
	if passed, ok := kindTest(name, v); ok {
		return passed, nil
	}
	if len(args.positional) > 0 {
		return r.relationTest(name, v, args.positional[0])
	}
	switch t, isText := v.(Text); name {
	case "odd", "even":
		i, ok := integer(v)
		if !ok {
			return nil, fmt.Errorf("%s is neither odd nor even", kind(v))
		}
		return (i%2 == 0) == (name == "even"), nil
	case "lower":
		return isText && strings.ToLower(t.s) == t.s, r.scan(len(t.s))
	case "upper":
		return isText && strings.ToUpper(t.s) == t.s, r.scan(len(t.s))
	}
	return nil, fmt.Errorf("test %.40q does not exist, is not allowed or needs an argument", name)
}

// kindTest applies the tests that look only at the kind of a value.
func kindTest(name string, v Value) (passed, known bool) {
	_, isUndefined := v.(undefined)
	_, isText := v.(Text)
	_, isList := v.(*List)
	_, isDict := v.(*Dict)
	_, isInt := v.(int)
	_, isFloat := v.(float64)
	_, isBool := v.(bool)
	_, isFunction := v.(function)
	switch name {
	case "defined":
		return !isUndefined, true
	case "undefined":
		return isUndefined, true
	case "none":
		return v == nil, true
	case "string":
		return isText, true
	case "mapping":
		return isDict, true
	case "sequence", "iterable":
		return isText || isList || isDict || isUndefined, true
	case "boolean":
		return isBool, true
	case "true":
		return v == true, true
	case "false":
		return v == false, true
	case "integer":
		return isInt, true
	case "float":
		return isFloat, true
	case "number":
		return isInt || isFloat || isBool, true
	case "callable":
		return isFunction, true
	}
	return false, false
}

// relationTest applies the tests that compare with an argument.
func (r *runner) relationTest(name string, v, other Value) (Value, error) {
	switch name {
	case "eq", "equalto", "==":
		return r.equal(v, other)
	case "ne", "!=":
		same, err := r.equal(v, other)
		return !same, err
	case "sameas":
		same, err := r.equal(v, other)
		return same && kind(v) == kind(other), err
	case "in":
		return r.contains(other, v)
	case "gt", "greaterthan", ">":
		return r.ordered(tokens.GreaterThan, v, other)
	case "ge", ">=":
		return r.ordered(tokens.GreaterThanOrEqual, v, other)
	case "lt", "lessthan", "<":
		return r.ordered(tokens.LowerThan, v, other)
	case "le", "<=":
		return r.ordered(tokens.LowerThanOrEqual, v, other)
	case "divisibleby":
		a, okA := integer(v)
		b, okB := integer(other)
		if !okA || !okB || b == 0 {
			return nil, errors.New("divisibleby needs integers, and not zero")
		}
		return a%b == 0, nil
	}
	return nil, fmt.Errorf("test %.40q does not exist, is not allowed or takes no argument", name)
}
