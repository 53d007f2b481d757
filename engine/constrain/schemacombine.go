package constrain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ref compiles a $ref. If no other keywords stand beside the $ref, its target becomes a rule, so that a
// schema may contain itself. Otherwise the target is merged with these keywords.
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

// resolve returns the target of a $ref.
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

// allOf merges its parts and the keywords beside it into one schema, and compiles that schema.
func (s *schema) allOf(rest, list value, at string, deep int) (expr, error) {
	if list.kind != "array" || len(list.items) == 0 {
		return never, fmt.Errorf("%s/allOf: must be a list of schemas", at)
	}
	merged := rest
	for i, part := range list.items {
		if !s.g.work.spend(1, 0) {
			return never, nil
		}
		var err error
		if merged, err = s.merge(merged, part, fmt.Sprintf("%s/allOf/%d", at, i), deep); err != nil {
			return never, err
		}
	}
	return s.compile(merged, at, deep+1)
}

// anyOf matches any of its parts, each merged with the keywords beside anyOf.
func (s *schema) anyOf(rest, list value, at string, deep int) (expr, error) {
	return s.branches(rest, list, at+"/anyOf", deep)
}

// oneOf is compiled like anyOf. This is right only if no value satisfies two of its parts. If disjoint
// cannot tell, oneOf returns an error.
func (s *schema) oneOf(rest, list value, at string, deep int) (expr, error) {
	for i := range list.items {
		for j := range i {
			if !s.g.work.spend(32, 0) {
				return never, nil
			}
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
	if !s.g.work.spend(len(list.items), 0) {
		return never, nil
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

// disjoint reports whether two schemas obviously exclude each other: by their types, by their const or
// enum, or by the const or enum of a property that both require. False means that a value might satisfy both.
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
		return !overlap(valuesA, valuesB)
	}
	_, typedA := a.get("type")
	_, typedB := b.get("type")
	namesA, errA := typesOf(a, "")
	namesB, errB := typesOf(b, "")
	if !typedA || !typedB || errA != nil || errB != nil {
		return false
	}
	both := slices.ContainsFunc(namesA, func(name string) bool {
		return slices.Contains(namesB, name) || name == "number" && slices.Contains(namesB, "integer") || name == "integer" && slices.Contains(namesB, "number")
	})
	if !both {
		return true
	}
	if !slices.Equal(namesA, []string{"object"}) || !slices.Equal(namesB, namesA) {
		return false
	}
	propertiesA, _ := a.get("properties")
	propertiesB, _ := b.get("properties")
	for i, key := range propertiesA.keys {
		if !s.g.work.spend(1+len(propertiesB.keys)/8, 0) {
			return false
		}
		other, found := propertiesB.get(key)
		if !found || !requires(a, key) || !requires(b, key) {
			continue
		}
		valuesA, valuesB := s.listed(propertiesA.items[i]), s.listed(other)
		if valuesA != nil && valuesB != nil && !overlap(valuesA, valuesB) {
			return true
		}
	}
	return false
}

// overlap reports whether two lists have a text in common.
func overlap(a, b []string) bool {
	known := setOf(a)
	return slices.ContainsFunc(b, func(text string) bool { return known[text] })
}

func setOf(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[text] = true
	}
	return set
}

// listed returns the strings, booleans and nulls that const or enum allows, as JSON. It returns nil if
// the schema allows other values, too.
func (s *schema) listed(v value) []string {
	list, ok := v.get("enum")
	if one, found := v.get("const"); found {
		list, ok = value{items: []value{one}}, true
	}
	if !ok {
		return nil
	}
	if !s.g.work.spend(len(list.items), 0) {
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

// merge returns a schema that a value satisfies iff it satisfies both a and b.
func (s *schema) merge(a, b value, at string, deep int) (value, error) {
	if deep > maxCombined {
		return value{}, fmt.Errorf("%s: allOf, anyOf and $ref are combined more than %d deep, or without end", at, maxCombined)
	}
	if !s.g.work.spend(1+len(a.keys)+len(b.keys), 0) {
		return value{kind: "boolean"}, nil // not used: a limit of work is reached, so newConstraint returns an error
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
		if !ok || s.equal(has, b.items[i]) {
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

// equal reports whether two values have the same JSON text.
func (s *schema) equal(a, b value) bool {
	textA, textB := a.json(), b.json()
	s.g.work.spend((len(textA)+len(textB))/8, 0)
	return textA == textB
}

func (s *schema) mergeKeyword(key string, a, b value) (value, error) {
	switch key {
	case "required", "allOf":
		s.g.work.spend(len(a.items)+len(b.items), 0)
		return value{kind: "array", items: append(slices.Clone(a.items), b.items...)}, nil
	case "items", "additionalProperties":
		return bothOf(a, b), nil
	case "properties":
		return s.mergeProperties(a, b), nil
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

// mergeProperties returns the properties of a in their order, and then those that only b has. A property
// of both must satisfy both schemas.
func (s *schema) mergeProperties(a, b value) value {
	s.g.work.spend(len(a.keys)+len(b.keys), 0)
	at := make(map[string]int, len(a.keys))
	for i, name := range a.keys {
		at[name] = i
	}
	out := value{kind: "object", keys: slices.Clone(a.keys), items: slices.Clone(a.items)}
	for i, name := range b.keys {
		if j, ok := at[name]; ok {
			out.items[j] = bothOf(out.items[j], b.items[i])
		} else {
			out.keys, out.items = append(out.keys, name), append(out.items, b.items[i])
		}
	}
	return out
}

func bothOf(a, b value) value {
	return value{kind: "object"}.with("allOf", value{kind: "array", items: []value{a, b}})
}

// closedApart returns an error if one schema forbids or restricts additional properties, and the other
// schema declares properties that the first does not. additionalProperties applies to every property
// not declared beside it. So these properties would have to obey additionalProperties besides their own
// schemas, which is hardly ever intended.
func closedApart(a, b value, at string) error {
	for _, pair := range [][2]value{{a, b}, {b, a}} {
		more, ok := pair[0].get("additionalProperties")
		if !ok || more.kind == "boolean" && more.truth {
			continue
		}
		own, _ := pair[0].get("properties")
		others, _ := pair[1].get("properties")
		declared := setOf(own.keys)
		for _, key := range others.keys {
			if !declared[key] {
				return fmt.Errorf("%s/additionalProperties: it would also hold for %.64q, which another schema of allOf, anyOf or $ref declares: put the properties together", at, key)
			}
		}
	}
	return nil
}
