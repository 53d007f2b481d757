package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// preTokenizer cuts a text into words, inside which BPE merges. The regular expressions that models are trained with
// need lookahead and backtracking; these splitters take the same decisions in one pass. Tests hold both side by side.
type preTokenizer struct {
	split      func(text string) int // length of the first word of a text that is not empty
	wholeWords bool                  // a word that is a token is taken as it is, without merging
}

// PreTokenizers lists the names New accepts in Spec.Pre, as in tokenizer.ggml.pre.
func PreTokenizers() []string {
	return []string{"gpt2", "gpt-2", "default", "qwen2", "deepseek-r1-qwen", "llama-bpe", "llama3", "llama-v3"}
}

func choosePreTokenizer(name string) (preTokenizer, error) {
	switch name {
	case "gpt2", "gpt-2", "default", "":
		return preTokenizer{split: splitGPT2}, nil
	case "qwen2", "deepseek-r1-qwen":
		return preTokenizer{split: func(text string) int { return splitModern(text, 1) }}, nil
	case "llama-bpe", "llama3", "llama-v3":
		return preTokenizer{split: func(text string) int { return splitModern(text, 3) }, wholeWords: true}, nil
	}
	return preTokenizer{}, fieldError("pre", "is %.64q, a pre-tokenizer that is not supported; known are %s",
		name, strings.Join(PreTokenizers(), ", "))
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

// spaces matches \s+(?!\S)|\s+: a run of white space leaves its last character to the word behind it.
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

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd in either case, 0 if text begins with none.
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

// class is what the patterns tell characters apart by.
type class int

const (
	none   class = iota // the end of the text
	letter              // \p{L}
	number              // \p{N}
	space               // \s
	mark                // everything else
)

// classAt returns class and length in bytes of the character at an offset; none and 0 at the end of the text.
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

// runLength returns how many bytes from the start of text belong to characters of one class.
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

// numberLength is runLength for number, stopped after a number of digits.
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
