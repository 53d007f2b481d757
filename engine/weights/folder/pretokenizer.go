package folder

import (
	"encoding/json"
	"fmt"
)

// component is a part of tokenizer.json that changes a text, cuts it, or puts special tokens around it. It has
// the fields of all types of components.
type component struct {
	Type          string      `json:"type"`
	Normalizers   []component `json:"normalizers"`
	PreTokenizers []component `json:"pretokenizers"`
	Processors    []component `json:"processors"`

	Pattern          map[string]string `json:"pattern"` // Split: Regex or String
	Behavior         string            `json:"behavior"`
	Invert           bool              `json:"invert"`
	IndividualDigits bool              `json:"individual_digits"`
	UseRegex         *bool             `json:"use_regex"`
	AddPrefixSpace   bool              `json:"add_prefix_space"`
	PrependScheme    string            `json:"prepend_scheme"`
	Prepend          string            `json:"prepend"`

	// Single lists what a text becomes: the special tokens around it, and the text itself.
	Single []map[string]json.RawMessage `json:"single"`
}

// maxComponents bounds the parts of a sequence.
const maxComponents = 64

// has reports whether a component, or a part of it, fulfils a condition.
func (c *component) has(is func(*component) bool) bool {
	if is(c) {
		return true
	}
	for _, parts := range [][]component{c.Normalizers, c.PreTokenizers, c.Processors} {
		for i := range parts {
			if parts[i].has(is) {
				return true
			}
		}
	}
	return false
}

// byteLevel reports whether tokens are spelled in GPT-2's byte alphabet.
func (t *tokenizerFile) byteLevel() bool {
	is := func(c *component) bool { return c.Type == "ByteLevel" }
	return t.PreTokenizer.has(is) || t.Normalizer.has(is)
}

// prependsSpace reports whether a space is put before a text.
func (t *tokenizerFile) prependsSpace() bool {
	return t.Normalizer.has(func(c *component) bool { return c.Type == "Prepend" && c.Prepend == "▁" }) ||
		t.PreTokenizer.has(func(c *component) bool {
			return c.Type == "Metaspace" && (c.PrependScheme == "always" || c.PrependScheme == "first" || c.PrependScheme == "" && c.AddPrefixSpace)
		})
}

// beginsWithToken reports whether a token is put before a text.
func (c *component) beginsWithToken() bool {
	return c.has(func(c *component) bool {
		if c.Type != "TemplateProcessing" || len(c.Single) == 0 {
			return false
		}
		_, begins := c.Single[0]["SpecialToken"]
		return begins
	})
}

// expressions returns the regular expressions that cut a text, in order; "" means GPT-2's. The error
// names the part that is not supported.
func (c *component) expressions() (list []string, err error) {
	if len(c.PreTokenizers) > maxComponents {
		return nil, fmt.Errorf("%d parts", len(c.PreTokenizers))
	}
	switch c.Type {
	case "Sequence":
		for i := range c.PreTokenizers {
			part, err := c.PreTokenizers[i].expressions()
			if err != nil {
				return nil, err
			}
			list = append(list, part...)
		}
		return list, nil
	case "ByteLevel":
		if c.AddPrefixSpace {
			return nil, fmt.Errorf("ByteLevel with add_prefix_space")
		}
		if c.UseRegex == nil || *c.UseRegex {
			return []string{""}, nil
		}
		return nil, nil
	case "Digits":
		if c.IndividualDigits {
			return []string{`\p{N}`}, nil
		}
		return []string{`\p{N}+`}, nil
	case "Punctuation":
		return []string{"[\\p{P}$+<=>^~|`]+"}, nil
	case "Split":
		if regex, ok := c.Pattern["Regex"]; ok && (c.Behavior == "Isolated" || c.Behavior == "Removed" && c.Invert) {
			return []string{regex}, nil
		}
	}
	return nil, fmt.Errorf("%.64q with pattern %.64q and behavior %.64q", c.Type, c.Pattern, c.Behavior)
}
