package constrain

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// AnyJSON is what a user may write instead of a schema to get JSON of any form.
const AnyJSON = "any"

// Schema returns a constraint that is satisfied by JSON that is valid under a JSON Schema
// (2020-12). For AnyJSON it returns one that is satisfied by JSON of any form.
//
// What matches is always valid, but not all valid JSON matches:
//
//   - Members come in the order of their declaration.
//   - An object with properties has no other members, unless required names or additionalProperties allows them.
//   - Between two parts there is a space, or a newline and up to 20 spaces, or nothing.
//   - Numbers have up to 15 digits before the point and 15 after it.
//   - A keyword for arrays, objects, strings or numbers implies this type if no type is given.
//
// A keyword that is not supported is an error that names the keyword and where it stands.
func Schema(ctx context.Context, text string) (*Constraint, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the JSON schema has %d bytes: at most %d are read", len(text), MaxBytes)
	}
	root := value{kind: "boolean", truth: true}
	if strings.TrimSpace(text) != AnyJSON {
		var err error
		if root, err = parseJSON(text); err != nil {
			return nil, fmt.Errorf("the JSON schema: it is not JSON: %w", err)
		}
	}
	s := newSchema(newWork(ctx), root)
	e, err := s.compile(root, "#", 0)
	for len(s.todo) > 0 && err == nil && s.g.work.err == nil { // the targets of $ref
		next := s.todo[0]
		s.todo = s.todo[1:]
		s.g.rules[next.rule], err = s.compile(next.schema, next.at, 0)
	}
	return newConstraint("JSON schema", s.g, e, err)
}

// schema compiles a JSON schema.
type schema struct {
	g     *grammar
	root  value
	refs  map[string]expr // the rule of each target of a $ref
	todo  []pendingRule
	parts jsonParts
	depth int // nesting depth of the schema that is being compiled
	count int // number of schemas, with those inside others, that were compiled
}

type pendingRule struct {
	rule   int
	schema value
	at     string
}

func newSchema(w *work, root value) *schema {
	g := newGrammar(w)
	return &schema{g: g, root: root, refs: map[string]expr{}, parts: newJSONParts(g)}
}

// annotations are keywords for people. They do not restrict the value.
var annotations = []string{"$schema", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}

// keywords are the supported keywords, each with the type of value that it applies to; "" for all
// types.
var keywords = map[string]string{
	"type": "", "enum": "", "const": "", "anyOf": "", "oneOf": "", "allOf": "", "$ref": "",
	"properties": "object", "required": "object", "additionalProperties": "object",
	"items": "array", "prefixItems": "array", "minItems": "array", "maxItems": "array",
	"minLength": "string", "maxLength": "string", "pattern": "string", "format": "string",
	"minimum": "number", "maximum": "number", "exclusiveMinimum": "number", "exclusiveMaximum": "number",
}

// types are the types of JSON Schema, in the order of their alternatives in a grammar. Every "integer" is
// also a "number".
var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// Bounds of a schema whose $ref are expanded: its depth, and the number of schemas in it. A schema that refers
// to itself, and has another keyword beside that $ref, is expanded until it reaches a bound.
const (
	maxSchemaDepth = 256
	maxSchemaParts = 20_000
)

// maxCombined bounds how deep allOf, anyOf, oneOf and $ref may be combined.
const maxCombined = 32

// compile turns the schema v into an expression. at is where v stands, such as #/items, for errors.
// deep counts the $ref, allOf, anyOf and oneOf around v that are about the same JSON value as v.
func (s *schema) compile(v value, at string, deep int) (expr, error) {
	if deep > maxCombined {
		return never, fmt.Errorf("%s: allOf, anyOf and $ref are combined more than %d deep, or without end", at, maxCombined)
	}
	if !s.g.work.spend(1+len(v.keys), 0) {
		return never, nil // newConstraint returns the error of the work
	}
	s.count++
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > maxSchemaDepth || s.count > maxSchemaParts {
		return never, fmt.Errorf("%.120s…: more than %d parts, or %d deep; a schema that refers to itself may have nothing beside its $ref", at, maxSchemaParts, maxSchemaDepth)
	}
	if v.kind == "boolean" {
		if v.truth {
			return s.parts.any, nil
		}
		return never, nil
	}
	if err := checkKeywords(v, at); err != nil {
		return never, err
	}
	v = withoutAnnotations(v)
	for _, combine := range []struct {
		key string
		do  func(v, with value, at string, deep int) (expr, error)
	}{{"$ref", s.ref}, {"allOf", s.allOf}, {"anyOf", s.anyOf}, {"oneOf", s.oneOf}} {
		if with, ok := v.get(combine.key); ok {
			return combine.do(without(v, combine.key), with, at, deep)
		}
	}
	return s.plain(v, at)
}

// plain compiles a schema without $ref, allOf, anyOf and oneOf.
func (s *schema) plain(v value, at string) (expr, error) {
	allowed, err := typesOf(v, at)
	if err != nil {
		return never, err
	}
	if list, ok := v.get("const"); ok {
		return s.enum(without(v, "const"), "const", []value{list}, allowed, at)
	}
	if list, ok := v.get("enum"); ok {
		if list.kind != "array" {
			return never, fmt.Errorf("%s/enum: must be a list of values", at)
		}
		return s.enum(without(v, "enum"), "enum", list.items, allowed, at)
	}
	if len(v.keys) == 0 {
		return s.parts.any, nil
	}
	var list []expr
	for _, name := range allowed {
		e, err := s.ofType(name, v, at)
		if err != nil {
			return never, err
		}
		list = append(list, e)
	}
	return s.g.alt(list...), nil
}

func (s *schema) ofType(name string, v value, at string) (expr, error) {
	switch name {
	case "object":
		return s.object(v, at)
	case "array":
		return s.array(v, at)
	case "string":
		return s.text(v, at)
	case "number", "integer":
		return s.number(v, at, name == "integer")
	case "boolean":
		return s.parts.boolean, nil
	}
	return s.parts.null, nil
}

// enum allows the listed values that have an allowed type.
func (s *schema) enum(rest value, keyword string, list []value, allowed []string, at string) (expr, error) {
	for _, key := range rest.keys {
		if key != "type" {
			return never, fmt.Errorf("%s/%s: together with %s it is not supported: leave the values out that it excludes", at, key, keyword)
		}
	}
	var texts []string
	for _, item := range list {
		if slices.ContainsFunc(allowed, func(name string) bool { return hasType(item, name) }) {
			texts = append(texts, item.json())
		}
	}
	if texts == nil {
		return never, fmt.Errorf("%s/%s: no value is left that has the type", at, keyword)
	}
	return s.g.literals(texts), nil
}

func hasType(v value, name string) bool {
	if name == "integer" {
		_, err := wholeNumber(v)
		return v.kind == "number" && err == nil
	}
	return v.kind == name
}

// typesOf returns the types that the keyword "type" allows. Without that keyword, it returns the types
// that the other keywords apply to (see keywords), or all types if no keyword applies to one type only. With
// "number" it leaves out "integer".
func typesOf(v value, at string) ([]string, error) {
	given, ok := v.get("type")
	if !ok {
		var spoken []string
		for _, name := range types {
			if slices.ContainsFunc(v.keys, func(key string) bool { return keywords[key] == name }) {
				spoken = append(spoken, name)
			}
		}
		if len(spoken) == 0 {
			spoken = slices.DeleteFunc(slices.Clone(types), func(name string) bool { return name == "integer" })
		}
		return spoken, nil
	}
	list := given.items
	if given.kind == "string" {
		list = []value{given}
	}
	var names []string
	for _, item := range list {
		if item.kind != "string" || !slices.Contains(types, item.text) {
			return nil, fmt.Errorf("%s/type: %.64s is no type; there are %s", at, item.json(), strings.Join(types, ", "))
		}
		names = append(names, item.text)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s/type: must be a type or a list of types", at)
	}
	if slices.Contains(names, "number") {
		names = slices.DeleteFunc(names, func(name string) bool { return name == "integer" })
	}
	return names, nil
}

func checkKeywords(v value, at string) error {
	if v.kind != "object" {
		return fmt.Errorf("%s: a schema must be an object, true or false, got %.64s", at, v.json())
	}
	for i, key := range v.keys {
		_, known := keywords[key]
		switch {
		case known || slices.Contains(annotations, key):
		case key == "$id" && at == "#":
		case key == "uniqueItems" && v.items[i].kind == "boolean" && !v.items[i].truth:
		default:
			return fmt.Errorf("%s/%s: this keyword is not supported", at, escapePointer(key))
		}
	}
	return nil
}

// withoutAnnotations returns v with only the keywords that restrict the value.
func withoutAnnotations(v value) value {
	out := value{kind: "object"}
	for i, key := range v.keys {
		if _, known := keywords[key]; known {
			out.keys, out.items = append(out.keys, key), append(out.items, v.items[i])
		}
	}
	return out
}

func without(v value, key string) value {
	out := value{kind: "object"}
	for i, k := range v.keys {
		if k != key {
			out.keys, out.items = append(out.keys, k), append(out.items, v.items[i])
		}
	}
	return out
}

func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
