package constrain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// value is a JSON value. It keeps the order of its members and the spelling of its numbers.
type value struct {
	kind  string // "object", "array", "string", "number", "boolean", "null"
	text  string // the content of a string; a number as it was written
	truth bool
	keys  []string // the keys of an object
	items []value  // the items of an array, or the members of an object
}

func (v value) get(key string) (value, bool) {
	for i, k := range v.keys {
		if k == key {
			return v.items[i], true
		}
	}
	return value{}, false
}

// with returns a copy of v with one member replaced, or added at the end.
func (v value) with(key string, member value) value {
	out := value{kind: "object", keys: slices.Clone(v.keys), items: slices.Clone(v.items)}
	if i := slices.Index(out.keys, key); i >= 0 {
		out.items[i] = member
		return out
	}
	out.keys, out.items = append(out.keys, key), append(out.items, member)
	return out
}

// json writes v without white space.
func (v value) json() string {
	switch v.kind {
	case "object", "array":
		parts := make([]string, len(v.items))
		for i, item := range v.items {
			parts[i] = item.json()
			if v.kind == "object" {
				parts[i] = jsonString(v.keys[i]) + ":" + parts[i]
			}
		}
		if v.kind == "object" {
			return "{" + strings.Join(parts, ",") + "}"
		}
		return "[" + strings.Join(parts, ",") + "]"
	case "string":
		return jsonString(v.text)
	case "number":
		return v.text
	case "boolean":
		return fmt.Sprint(v.truth)
	}
	return "null"
}

func jsonString(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// maxJSONDepth is how deep the JSON text of a schema may nest.
const maxJSONDepth = 64

// parseJSON reads a text that is one JSON value.
func parseJSON(text string) (value, error) {
	if !utf8.ValidString(text) {
		return value{}, errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	v, err := parseValue(dec, 0)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("something follows after the end of the JSON value")
		}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it ends too early")
	}
	if err != nil {
		return value{}, fmt.Errorf("line %d: %w", 1+strings.Count(text[:min(int(dec.InputOffset()), len(text))], "\n"), err)
	}
	return v, nil
}

func parseValue(dec *json.Decoder, depth int) (value, error) {
	if depth > maxJSONDepth {
		return value{}, fmt.Errorf("it nests more than %d deep", maxJSONDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return value{}, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return parseObject(dec, depth)
		}
		v := value{kind: "array"}
		for dec.More() {
			item, err := parseValue(dec, depth+1)
			if err != nil {
				return value{}, err
			}
			v.items = append(v.items, item)
		}
		_, err := dec.Token()
		return v, err
	case string:
		return value{kind: "string", text: t}, nil
	case json.Number:
		return value{kind: "number", text: t.String()}, nil
	case bool:
		return value{kind: "boolean", truth: t}, nil
	}
	return value{kind: "null"}, nil
}

func parseObject(dec *json.Decoder, depth int) (value, error) {
	v := value{kind: "object"}
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return value{}, err
		}
		key, _ := token.(string) // the decoder allows only strings here
		if seen[key] {
			return value{}, fmt.Errorf("the key %.64q stands twice in one object", key)
		}
		seen[key] = true
		item, err := parseValue(dec, depth+1)
		if err != nil {
			return value{}, err
		}
		v.keys, v.items = append(v.keys, key), append(v.items, item)
	}
	_, err := dec.Token()
	return v, err
}
