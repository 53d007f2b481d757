package constrain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ref points at another part of the schema. Alone it is a rule, so that a schema may contain itself.
func (s *schema) ref(rest, to value, at string, deep int) (expr, error) {
	target, err := s.resolve(to, at)
	if err != nil {
		return never, err
	}
	if len(rest.keys) > 0 {
		merged, err := s.merge(rest, target, at, deep)
		if err != nil {
			return never, err
		}
		return s.compile(merged, at, deep+1)
	}
	if e, ok := s.refs[to.text]; ok {
		return e, nil
	}
	rule, e := s.g.declare(to.text)
	s.refs[to.text] = e
	s.todo = append(s.todo, pendingRule{rule, target, to.text})
	return e, nil
}

// resolve finds what a $ref points at.
func (s *schema) resolve(to value, at string) (value, error) {
	pointer, ok := strings.CutPrefix(to.text, "#")
	if to.kind != "string" || !ok || pointer != "" && pointer[0] != '/' {
		return value{}, fmt.Errorf("%s/$ref: %.64s points outside of this schema: only places such as #/$defs/name are supported", at, to.json())
	}
	v := s.root
	for i, part := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		found := false
		var next value
		if v.kind == "object" {
			next, found = v.get(part)
		} else if n, err := strconv.Atoi(part); v.kind == "array" && err == nil && n >= 0 && n < len(v.items) {
			next, found = v.items[n], true
		}
		if !found {
			return value{}, fmt.Errorf("%s/$ref: there is nothing at %.64s", at, to.text)
		}
		v = next
	}
	return v, nil
}

// allOf merges its parts into one schema.
func (s *schema) allOf(rest, list value, at string, deep int) (expr, error) {
	if list.kind != "array" || len(list.items) == 0 {
		return never, fmt.Errorf("%s/allOf: must be a list of schemas", at)
	}
	merged := rest
	for i, part := range list.items {
		var err error
		if merged, err = s.merge(merged, part, fmt.Sprintf("%s/allOf/%d", at, i), deep); err != nil {
			return never, err
		}
	}
	return s.compile(merged, at, deep+1)
}

// anyOf is any of its parts, each merged with what stands beside.
func (s *schema) anyOf(rest, list value, at string, deep int) (expr, error) {
	return s.branches(rest, list, at+"/anyOf", deep)
}

// oneOf is the same when no value can satisfy two of its parts. That is only taken as given where it is plain to see.
func (s *schema) oneOf(rest, list value, at string, deep int) (expr, error) {
	for i := range list.items {
		for j := range i {
			if !s.disjoint(list.items[i], list.items[j]) {
				return never, fmt.Errorf("%s/oneOf: a value might satisfy both part %d and part %d; parts must differ in their types or in the const or enum of a required property, otherwise write anyOf", at, j, i)
			}
		}
	}
	return s.branches(rest, list, at+"/oneOf", deep)
}

func (s *schema) branches(rest, list value, at string, deep int) (expr, error) {
	if list.kind != "array" || len(list.items) == 0 {
		return never, fmt.Errorf("%s: must be a list of schemas", at)
	}
	parts := make([]expr, len(list.items))
	for i, part := range list.items {
		place := fmt.Sprintf("%s/%d", at, i)
		if len(rest.keys) > 0 {
			var err error
			if part, err = s.merge(rest, part, place, deep); err != nil {
				return never, err
			}
		}
		var err error
		if parts[i], err = s.compile(part, place, deep+1); err != nil {
			return never, err
		}
	}
	return s.g.alt(parts...), nil
}

// disjoint reports that it is plain to see that no value satisfies both schemas.
func (s *schema) disjoint(a, b value) bool {
	for _, v := range []*value{&a, &b} {
		if to, ok := v.get("$ref"); ok {
			target, err := s.resolve(to, "")
			if err != nil {
				return false
			}
			*v = target
		}
	}
	if valuesA, valuesB := s.listed(a), s.listed(b); valuesA != nil && valuesB != nil {
		return !slices.ContainsFunc(valuesA, func(v string) bool { return slices.Contains(valuesB, v) })
	}
	_, typedA := a.get("type")
	_, typedB := b.get("type")
	namesA, errA := typesOf(a, "")
	namesB, errB := typesOf(b, "")
	if !typedA || !typedB || errA != nil || errB != nil {
		return false
	}
	overlap := slices.ContainsFunc(namesA, func(name string) bool {
		return slices.Contains(namesB, name) || name == "number" && slices.Contains(namesB, "integer") || name == "integer" && slices.Contains(namesB, "number")
	})
	if !overlap {
		return true
	}
	if !slices.Equal(namesA, []string{"object"}) || !slices.Equal(namesB, namesA) {
		return false
	}
	propertiesA, _ := a.get("properties")
	propertiesB, _ := b.get("properties")
	for i, key := range propertiesA.keys {
		other, both := propertiesB.get(key)
		if !both || !requires(a, key) || !requires(b, key) {
			continue
		}
		valuesA, valuesB := s.listed(propertiesA.items[i]), s.listed(other)
		if valuesA != nil && valuesB != nil && !slices.ContainsFunc(valuesA, func(v string) bool { return slices.Contains(valuesB, v) }) {
			return true
		}
	}
	return false
}

// listed are the strings, booleans and nulls that const or enum allows, as JSON; nil if there is anything else.
func (s *schema) listed(v value) []string {
	list, ok := v.get("enum")
	if one, found := v.get("const"); found {
		list, ok = value{items: []value{one}}, true
	}
	if !ok {
		return nil
	}
	var out []string
	for _, item := range list.items {
		if item.kind != "string" && item.kind != "boolean" && item.kind != "null" {
			return nil
		}
		out = append(out, item.json())
	}
	return out
}

func requires(v value, key string) bool {
	list, _ := v.get("required")
	return slices.ContainsFunc(list.items, func(item value) bool { return item.text == key })
}

// merge returns a schema that is satisfied by what satisfies both.
func (s *schema) merge(a, b value, at string, deep int) (value, error) {
	if deep > maxCombined {
		return value{}, fmt.Errorf("%s: allOf, anyOf and $ref are combined more than %d deep, or without end", at, maxCombined)
	}
	for _, v := range []value{a, b} {
		if v.kind == "boolean" && !v.truth {
			return v, nil
		}
	}
	if a.kind == "boolean" {
		return b, nil
	}
	if b.kind == "boolean" {
		return a, nil
	}
	if err := checkKeywords(b, at); err != nil {
		return value{}, err
	}
	b = withoutAnnotations(b)
	if to, ok := b.get("$ref"); ok {
		target, err := s.resolve(to, at)
		if err != nil {
			return value{}, err
		}
		if a, err = s.merge(a, target, to.text, deep+1); err != nil || a.kind == "boolean" {
			return a, err
		}
		b = without(b, "$ref")
	}
	if err := closedApart(a, b, at); err != nil {
		return value{}, err
	}
	for i, key := range b.keys {
		has, ok := a.get(key)
		if !ok || has.json() == b.items[i].json() {
			a = a.with(key, b.items[i])
			continue
		}
		both, err := s.mergeKeyword(key, has, b.items[i])
		if err != nil {
			return value{}, fmt.Errorf("%s/%s: %w", at, key, err)
		}
		a = a.with(key, both)
	}
	return a, nil
}

func (s *schema) mergeKeyword(key string, a, b value) (value, error) {
	switch key {
	case "required":
		return value{kind: "array", items: append(slices.Clone(a.items), b.items...)}, nil
	case "allOf":
		return value{kind: "array", items: append(slices.Clone(a.items), b.items...)}, nil
	case "items", "additionalProperties":
		return bothOf(a, b), nil
	case "properties":
		for i, name := range b.keys {
			if has, ok := a.get(name); ok {
				a = a.with(name, bothOf(has, b.items[i]))
			} else {
				a = a.with(name, b.items[i])
			}
		}
		return a, nil
	case "type":
		names := func(v value) []value {
			if v.kind == "string" {
				return []value{v}
			}
			return v.items
		}
		out := value{kind: "array"}
		for _, x := range names(a) {
			for _, y := range names(b) {
				switch {
				case x.text == y.text || x.text == "integer" && y.text == "number":
					out.items = append(out.items, x)
				case x.text == "number" && y.text == "integer":
					out.items = append(out.items, y)
				}
			}
		}
		if len(out.items) == 0 {
			return value{}, fmt.Errorf("no type is both %s and %s", a.json(), b.json())
		}
		return out, nil
	}
	return value{}, fmt.Errorf("two schemas that must hold together both give it, as %.64s and %.64s: give one value", a.json(), b.json())
}

func bothOf(a, b value) value {
	return value{kind: "object"}.with("allOf", value{kind: "array", items: []value{a, b}})
}

// closedApart refuses to merge objects of which one forbids properties that the other declares: additionalProperties only
// knows the properties beside it, so what is meant and what is written differ.
func closedApart(a, b value, at string) error {
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		more, ok := pair[0].get("additionalProperties")
		if !ok || more.kind == "boolean" && more.truth {
			continue
		}
		own, _ := pair[0].get("properties")
		others, _ := pair[1].get("properties")
		for _, key := range others.keys {
			if _, declared := own.get(key); !declared {
				return fmt.Errorf("%s/additionalProperties: it would also hold for %.64q, which another schema of allOf, anyOf or $ref declares: put the properties together", at, key)
			}
		}
	}
	return nil
}
