package tokenizer

import (
	"slices"
	"strings"
	"testing"
)

// Expressions as tokenizer.json spells them, and with them the name under which llama.cpp's
// converter writes the same vocabulary.
func TestPreTokenizerFor(t *testing.T) {
	llama := `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen := strings.Replace(llama, `\p{N}{1,3}`, `\p{N}`, 1)
	for _, c := range []struct {
		want        string
		wholeWords  bool
		expressions []string
	}{
		{"gpt-2", false, []string{""}},
		{"smollm", false, []string{`\p{N}`, ""}},
		{"llama-bpe", true, []string{llama}},
		{"dbrx", false, []string{llama}},
		{"qwen2", false, []string{qwen}},
		{"qwen2", false, []string{strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(qwen)}},
		{"qwen2", true, []string{qwen}}, // no such model treats whole words so; the cuts decide
		{"bailingmoe", false, []string{`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`}},
		{"seed-coder", false, []string{`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^` + "\r\n" + `\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}` + "\r\n" + `]+|\s*[` + "\r\n" + `]+|\s+(?!\S)|\s+`}},
		{"tekken", true, []string{`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`}},
		{"deepseek-v3", false, []string{`\p{N}{1,3}`, `[一-龥\u3040-ゟ゠-ヿ]+`,
			"[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|" + `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`}},
		{"falcon", false, []string{"[\\p{P}$+<=>^~|`]+", "", `[0-9][0-9][0-9]`}},
		{"", false, nil},
		{"", false, []string{`\w+`}},
		{"", false, []string{"", ""}},
		{"", false, []string{`(((((a*)*)*)*)*)b`}},
	} {
		if got := PreTokenizerFor(c.expressions, c.wholeWords); got != c.want {
			t.Errorf("%q is %q, want %q", c.expressions, got, c.want)
		}
	}
	for _, p := range preTokenizers() {
		name := PreTokenizerFor(p.expressions, p.wholeWords)
		found, err := choosePreTokenizer(Spec{Model: "gpt2", Pre: name})
		if err != nil || !slices.Equal(found.expressions, p.expressions) || found.wholeWords != p.wholeWords {
			t.Errorf("the expressions of %s are found as %q", p.names, name)
		}
	}
}
