package constrain

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// member is a property that an object may or must have.
type member struct {
	pair     expr // key, colon and value
	required bool
}

// object matches an object with the declared members in their order, and then other members.
func (s *schema) object(v value, at string) (expr, error) {
	members, keys, err := s.members(v, at)
	if err != nil {
		return never, err
	}
	other, err := s.others(v, keys, at)
	if err != nil {
		return never, err
	}
	g, p := s.g, &s.parts
	comma := p.comma(g)
	// first and later match the members from the i-th on: first at the beginning of the object, later
	// after another member.
	first := g.optional(g.seq(p.list(g, other, 1, unlimited), p.space))
	later := g.seq(g.repeat(g.seq(comma, other), 0, unlimited), p.space)
	for i := len(members) - 1; i >= 0; i-- {
		m := members[i]
		begin, goOn := g.seq(m.pair, later), g.seq(comma, m.pair, later)
		if !m.required {
			begin, goOn = g.alt(begin, first), g.alt(goOn, later)
		}
		first, later = begin, goOn
	}
	return g.seq(g.literal("{"), p.space, first, g.literal("}")), nil
}

// maxKeyBytes is the largest length of a property's name. otherThan nests expressions as deep as the
// name is long.
const maxKeyBytes = 1 << 10

// members returns the declared properties, and after them those that are required but not declared. The
// second result has their names.
func (s *schema) members(v value, at string) ([]member, []string, error) {
	properties, declared := v.get("properties")
	if declared && properties.kind != "object" {
		return nil, nil, fmt.Errorf("%s/properties: must be an object of schemas", at)
	}
	required, err := requiredNames(v, at)
	if err != nil {
		return nil, nil, err
	}
	var list []member
	keys := slices.Clone(properties.keys)
	isRequired, isDeclared := setOf(required), setOf(keys)
	for i, key := range properties.keys {
		if len(key) > maxKeyBytes {
			return nil, nil, fmt.Errorf("%s/properties: the name %.64q… has more than %d bytes", at, key, maxKeyBytes)
		}
		e, err := s.compile(properties.items[i], at+"/properties/"+escapePointer(key), 0)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, member{s.pair(key, e), isRequired[key]})
	}
	for _, key := range required {
		if isDeclared[key] {
			continue
		}
		isDeclared[key] = true
		keys = append(keys, key)
		e := s.parts.any
		if more, ok := v.get("additionalProperties"); ok {
			if e, err = s.compile(more, at+"/additionalProperties", 0); err != nil {
				return nil, nil, err
			}
		}
		list = append(list, member{s.pair(key, e), true})
	}
	return list, keys, nil
}

func requiredNames(v value, at string) ([]string, error) {
	list, ok := v.get("required")
	if ok && list.kind != "array" {
		return nil, fmt.Errorf("%s/required: must be a list of property names", at)
	}
	var names []string
	for _, item := range list.items {
		if item.kind != "string" {
			return nil, fmt.Errorf("%s/required: %.64s is not the name of a property", at, item.json())
		}
		if len(item.text) > maxKeyBytes {
			return nil, fmt.Errorf("%s/required: the name %.64q… has more than %d bytes", at, item.text, maxKeyBytes)
		}
		names = append(names, item.text)
	}
	return names, nil
}

func (s *schema) pair(key string, e expr) expr {
	return s.g.seq(s.g.literal(jsonString(key)+":"), s.parts.space, e)
}

// others matches one member that is not declared: its key is none of keys.
func (s *schema) others(v value, keys []string, at string) (expr, error) {
	more, ok := v.get("additionalProperties")
	if !ok {
		if _, declared := v.get("properties"); declared {
			return never, nil
		}
		more = value{kind: "boolean", truth: true}
	}
	e, err := s.compile(more, at+"/additionalProperties", 0)
	if err != nil {
		return never, err
	}
	key := s.g.repeat(s.parts.char, 0, unlimited)
	key = s.g.seq(key, s.g.literal(`"`))
	if len(keys) > 0 {
		key = s.otherThan(keys)
	}
	return s.g.seq(s.g.label(s.g.seq(s.g.literal(`"`), key), "a key"), s.g.literal(":"), s.parts.space, e), nil
}

// otherThan matches the rest of a string, closing quote included, if it differs from all texts. It
// allows no escapes, because an escape could spell one of the texts in another way.
func (s *schema) otherThan(texts []string) expr {
	g := s.g
	end := g.literal(`"`)
	rest := g.seq(g.repeat(plainCharacter(g), 0, unlimited), end)
	parts := []expr{never}
	if !slices.Contains(texts, "") {
		parts[0] = end
	}
	after := map[rune][]string{}
	excluded := []rune{0, ' ' - 1, '"', '"', '\\', '\\'} // ranges that the last branch excludes; at first what needs an escape
	for _, text := range texts {
		if c, size := utf8.DecodeRuneInString(text); text != "" {
			after[c] = append(after[c], text[size:])
		}
	}
	var firsts []rune
	for c := range after {
		if !slices.Contains(excluded, c) && c >= ' ' { // any other c needs an escape, so it is not written here
			firsts = append(firsts, c)
		}
	}
	slices.Sort(firsts)
	for _, c := range firsts {
		excluded = append(excluded, c, c)
		parts = append(parts, g.seq(g.runes(c, c), s.otherThan(after[c])))
	}
	return g.alt(append(parts, g.seq(g.runes(invert(excluded)...), rest))...)
}

// array matches an array. Its first items may have schemas of their own.
func (s *schema) array(v value, at string) (expr, error) {
	low, high, err := s.counts(v, at, "minItems", "maxItems")
	if err != nil {
		return never, err
	}
	first, err := s.prefix(v, at)
	if err != nil {
		return never, err
	}
	g, p := s.g, &s.parts
	item := p.any
	if items, ok := v.get("items"); ok {
		if items.kind == "array" {
			return never, fmt.Errorf("%s/items: a list of schemas is called prefixItems", at)
		}
		if item, err = s.compile(items, at+"/items", 0); err != nil {
			return never, err
		}
	}
	n := int32(len(first))
	rest := high
	if rest != unlimited {
		rest = max(rest-n, 0)
	}
	need := max(low-n, 0)
	var e expr // what follows the first n items
	if n > 0 {
		e = g.repeat(g.seq(p.comma(g), item), need, rest)
	} else if rest != 0 {
		e = g.seq(p.list(g, item, max(need, 1), rest), p.space)
		if need == 0 {
			e = g.optional(e)
		}
	}
	for i := n - 1; i >= 0; i-- {
		part := g.seq(first[i], e)
		if i > 0 {
			part = g.seq(p.comma(g), part)
		} else {
			part = g.seq(part, p.space)
		}
		switch {
		case high != unlimited && i >= high:
			part = empty
		case i >= low:
			part = g.optional(part)
		}
		e = part
	}
	if e == never {
		return never, fmt.Errorf("%s: no array has %d such items", at, low)
	}
	return g.seq(g.literal("["), p.space, e, g.literal("]")), nil
}

func (s *schema) prefix(v value, at string) ([]expr, error) {
	list, ok := v.get("prefixItems")
	if ok && list.kind != "array" {
		return nil, fmt.Errorf("%s/prefixItems: must be a list of schemas", at)
	}
	var out []expr
	for i, item := range list.items {
		e, err := s.compile(item, fmt.Sprintf("%s/prefixItems/%d", at, i), 0)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
