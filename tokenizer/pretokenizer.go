package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// preTokenizer cuts a text into words; BPE merges inside words only. Models are trained with
// regular expressions that need lookahead and backtracking. These splitters decide the same in one
// pass; tests compare both.
type preTokenizer struct {
	names      string                // as in tokenizer.ggml.pre, separated by spaces
	split      func(text string) int // returns the length of the first word of a non-empty text
	wholeWords bool                  // a word that is a token is not merged
	addBOS     bool                  // a prompt begins with BOS unless the file says otherwise
}

// preTokenizers has one entry for each way to cut. The names are those of llama.cpp.
func preTokenizers() []preTokenizer {
	qwen2 := func(text string) int { return splitModern(text, 1) }
	llama3 := func(text string) int { return splitModern(text, 3) }
	return []preTokenizer{
		{split: splitGPT2, names: "gpt-2 gpt2 phi-2 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe " +
			"modern-bert gigachat a.x-4.0 mellum exaone4 mpt olmo jais trillion granite-docling"},
		{split: splitDigits, names: "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2"},
		{split: qwen2, names: "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2"},
		{split: llama3, wholeWords: true, addBOS: true,
			names: "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"},
		{split: llama3, wholeWords: true, names: "glm4 glm5"},
		{split: llama3, names: "dbrx smaug-bpe chatglm-bpe"},
	}
}

// PreTokenizers lists the names that New accepts in Spec.Pre, as in tokenizer.ggml.pre. New also
// accepts "" and "default", which name none; see Spec.AssumedPre.
func PreTokenizers() []string {
	var names []string
	for _, p := range preTokenizers() {
		names = append(names, strings.Fields(p.names)...)
	}
	return names
}

// AssumedPre is the pre-tokenizer that New assumes because the file names none; "" if the file
// names one, or needs none. A wrong assumption gives the model other tokens than it was trained
// with.
func (s Spec) AssumedPre() string {
	if s.Model == "gpt2" && (s.Pre == "" || s.Pre == "default") {
		return "gpt-2"
	}
	return ""
}

// PrependsBOS reports whether prompts begin with BOS when the file does not say. It depends on the
// pre-tokenizer, because llama.cpp decides it so and converters rely on that.
func (s Spec) PrependsBOS() bool {
	if s.Model == "llama" {
		return true
	}
	pre, err := choosePreTokenizer(s)
	return err == nil && pre.addBOS
}

func choosePreTokenizer(s Spec) (preTokenizer, error) {
	name := cmp.Or(s.AssumedPre(), s.Pre)
	for _, p := range preTokenizers() {
		if slices.Contains(strings.Fields(p.names), name) {
			return p, nil
		}
	}
	var ways []string
	for _, p := range preTokenizers() {
		first, _, _ := strings.Cut(p.names, " ")
		ways = append(ways, first)
	}
	return preTokenizer{}, fieldError("pre", "is %.64q, a pre-tokenizer that is not supported: choose a model whose own is one of %s, "+
		"or one that cuts text alike", name, strings.Join(ways, ", "))
}

// splitGPT2 matches
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func splitGPT2(text string) int {
	if n := contraction(text); n > 0 && text[:n] == strings.ToLower(text[:n]) {
		return n
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if kind, size := classAt(text, start); size > 0 && kind != space {
		return start + runLength(text[start:], kind)
	}
	return spaces(text)
}

// splitDigits first takes every \p{N} as a word of its own. Between them it cuts as splitGPT2
// does.
func splitDigits(text string) int {
	kind, size := classAt(text, 0)
	switch kind {
	case number:
		return size
	case space:
		run := runLength(text, space)
		if next, _ := classAt(text, run); next == number {
			return run // the part of the text between two numbers ends here
		}
	}
	return splitGPT2(text)
}

// splitModern matches, with {1,digits} for the length of a number,
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func splitModern(text string, digits int) int {
	if n := contraction(text); n > 0 {
		return n
	}
	kind, size := classAt(text, 0)
	if kind == letter {
		return runLength(text, letter)
	}
	if kind == number {
		return numberLength(text, digits)
	}
	newline := text[0] == '\r' || text[0] == '\n'
	if next, _ := classAt(text, size); next == letter && !newline {
		return size + runLength(text[size:], letter)
	}
	start := 0
	if text[0] == ' ' {
		start = 1
	}
	if kind, _ := classAt(text, start); kind == mark {
		end := start + runLength(text[start:], mark)
		return end + len(text[end:]) - len(strings.TrimLeft(text[end:], "\r\n"))
	}
	run := text[:runLength(text, space)]
	if last := strings.LastIndexAny(run, "\r\n"); last >= 0 {
		return last + 1
	}
	return spaces(text)
}

// spaces matches \s+(?!\S)|\s+: a run of white space leaves its last character to the word after
// it.
func spaces(text string) int {
	run := runLength(text, space)
	if run == len(text) {
		return run
	}
	_, last := utf8.DecodeLastRuneInString(text[:run])
	if last < run {
		return run - last
	}
	return run
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd in either case, 0 if text
// begins with none.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) > 2 && slices.Contains([]string{"re", "ve", "ll"}, strings.ToLower(text[1:3])) {
		return 3
	}
	return 0
}

// class is how the patterns tell characters apart.
type class int

const (
	none   class = iota // the end of the text
	letter              // \p{L}
	number              // \p{N}
	space               // \s
	mark                // everything else
)

// classAt returns class and length in bytes of the character at an offset; none and 0 at the end
// of the text.
func classAt(text string, at int) (class, int) {
	if at >= len(text) {
		return none, 0
	}
	r, size := rune(text[at]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(text[at:])
	}
	switch {
	case unicode.IsLetter(r):
		return letter, size
	case unicode.IsSpace(r):
		return space, size
	case unicode.IsNumber(r):
		return number, size
	}
	return mark, size
}

// runLength returns how many bytes at the start of text belong to characters of one class.
func runLength(text string, kind class) int {
	end := 0
	for {
		k, size := classAt(text, end)
		if k != kind {
			return end
		}
		end += size
	}
}

// numberLength is runLength of number, for at most so many digits.
func numberLength(text string, digits int) int {
	end := 0
	for ; digits > 0; digits-- {
		kind, size := classAt(text, end)
		if kind != number {
			break
		}
		end += size
	}
	return end
}
