package tokenizer

import (
	"regexp"
	"strconv"
	"strings"
)

// PreTokenizerFor returns the name of the pre-tokenizer that cuts by these expressions; "" if there is
// none. The expressions are in the order of their use, in the syntax of tokenizer.json (Oniguruma); ""
// stands for GPT-2's expression. If several pre-tokenizers fit, PreTokenizerFor takes the first one with
// this wholeWords, or else the first. It only compares the expressions with those of the program: a foreign
// expression never runs.
func PreTokenizerFor(expressions []string, wholeWords bool) string {
	wanted := make([]string, len(expressions))
	for i, e := range expressions {
		if wanted[i] = canonical(e); e == "" {
			wanted[i] = canonical(gpt2)
		}
	}
	found := ""
	for _, p := range preTokenizers() {
		if !p.cutsBy(wanted) {
			continue
		}
		name := strings.Fields(p.names)[0]
		if p.wholeWords == wholeWords {
			return name
		}
		if found == "" {
			found = name
		}
	}
	return found
}

func (p preTokenizer) cutsBy(wanted []string) bool {
	if len(wanted) != len(p.expressions) {
		return false
	}
	for i, e := range p.expressions {
		if canonical(e) != wanted[i] {
			return false
		}
	}
	return true
}

// escapes matches escapes that stand for one character: a code point in hexadecimal, \r, \n or \t.
var escapes = regexp.MustCompile(`\\x\{[0-9a-fA-F]{1,6}\}|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[rnt]`)

// canonical writes an expression in one spelling, so that expressions that mean the same are equal.
func canonical(expression string) string {
	text := escapes.ReplaceAllStringFunc(expression, func(e string) string {
		switch e {
		case `\r`:
			return "\r"
		case `\n`:
			return "\n"
		case `\t`:
			return "\t"
		}
		code, err := strconv.ParseUint(strings.Trim(e[2:], "{}"), 16, 32)
		if err != nil {
			return e
		}
		return string(rune(code))
	})
	return respelled.Replace(text)
}

// respelled replaces parts of expressions by others that mean the same. A possessive repetition (?+ and ++)
// never gets shorter to let the rest match. In these expressions it means the same as a greedy one, because
// no match needs it shorter. (?i: may stand before or after the apostrophe, which is neither small nor capital.
var respelled = strings.NewReplacer(
	`'(?i:[sdmt]|ll|ve|re)`, contractions,
	`(?i:'(?:[sdmt]|ll|ve|re))`, contractions,
	`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])`, contractions,
	`'(?:[sdmt]|ll|ve|re)`, `'s|'t|'re|'ve|'m|'ll|'d`,
	`?+`, `?`,
	`++`, `+`,
	`\p{N}{1}`, `\p{N}`,
	`\s{1}`, `\s`,
	`\p{Punctuation}`, `\p{P}`,
)
