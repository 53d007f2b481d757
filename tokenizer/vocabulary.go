package tokenizer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// vocabulary has the text and the type of every token.
type vocabulary struct {
	tokens   []string // by id, as the file spells them
	types    []int32  // by id; guessed if the file has none
	byteText bool     // normal tokens are spelled in GPT-2's byte alphabet, else with ▁
	// plain gives the id of each normal token with a text by its spelling; of equal spellings, the first.
	plain map[string]int32
	// byteID is the token of a single byte, or -1.
	byteID [256]int32
	// unk stands for a character that has no token and cannot be spelled in byte tokens; -1: none. It
	// is never a control token, and unused in byte-level vocabularies.
	unk int32
}

// endNames are tokens known to end a reply. Files often declare only one of the two or three that
// a model uses.
const endNames = " <|im_end|> <|endoftext|> <|eot_id|> <|eom_id|> <|end_of_text|> <|end|> <|return|> <|call|> " +
	"</s> <eos> <end_of_turn> <turn|> <EOT> [EOS] [EOT] "

func isEndName(text string) bool {
	return text != "" && !strings.Contains(text, " ") && strings.Contains(endNames, " "+text+" ")
}

// fieldError names a field of the file. Format texts from the file with %.64q, so that the error
// is short and printable.
func fieldError(field, format string, args ...any) error {
	return fmt.Errorf("vocabulary: tokenizer.ggml.%s "+format, append([]any{field}, args...)...)
}

func newVocabulary(spec Spec) (*vocabulary, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	v := &vocabulary{
		tokens:   spec.Tokens,
		types:    kinds(spec),
		byteText: spec.byteLevel(),
		plain:    make(map[string]int32, len(spec.Tokens)),
		unk:      spec.UNK,
	}
	if v.isControl(v.unk) {
		v.unk = -1
	}
	for i := range v.byteID {
		v.byteID[i] = -1
	}
	for i, text := range v.tokens {
		id := int32(i)
		switch v.types[id] {
		case TypeNormal:
			if _, seen := v.plain[text]; !seen && text != "" {
				v.plain[text] = id
			}
		case TypeByte:
			value, ok := byteToken(text)
			if !ok {
				return nil, fieldError("tokens", "entry %d is %.64q but is typed as a byte; allowed are <0x00> to <0xFF>", i, text)
			}
			if v.byteID[value] < 0 {
				v.byteID[value] = id
			}
		}
	}
	if v.byteText {
		for value := range v.byteID {
			if id, ok := v.plain[string(byteRune(byte(value)))]; ok {
				v.byteID[value] = id
			}
		}
	}
	return v, v.checkSpelling()
}

// checkSpelling refuses a vocabulary that cannot spell common text.
//
// A vocabulary that is not byte-level needs an unknown token, or tokens for all bytes of UTF-8. A
// byte-level vocabulary may lack the tokens of bytes that did not occur in its training text; encoding leaves
// these bytes out. But if it has the token of a byte and calls it a control token, the file is wrong. No text
// gives control tokens, so the byte would be left out although it has a token.
func (v *vocabulary) checkSpelling() error {
	for value, id := range v.byteID {
		switch {
		case id >= 0 || !inUTF8(byte(value)):
		case v.byteText:
			text := string(byteRune(byte(value)))
			if at := slices.Index(v.tokens, text); at >= 0 && v.isControl(int32(at)) {
				return fieldError("tokens", "entry %d is %q, the token of byte 0x%02X, but is also a control token: "+
					"it begins or ends a text", at, text, value)
			}
		case v.unk < 0:
			return fieldError("tokens", "has no token for byte 0x%02X and there is no unknown token that could stand for it", value)
		}
	}
	return nil
}

// inUTF8 reports whether a byte can be part of UTF-8 text.
func inUTF8(b byte) bool { return b < 0xC0 || (b > 0xC1 && b < 0xF5) }

// unspelled returns the bytes of UTF-8 that encoding leaves out, ascending.
func (v *vocabulary) unspelled() []byte {
	var missing []byte
	for value, id := range v.byteID {
		if v.byteText && id < 0 && inUTF8(byte(value)) {
			missing = append(missing, byte(value))
		}
	}
	return missing
}

// kinds returns the type of every token. Whatever the file says, BOS, EOS and EOT are control
// tokens, and so is a user-defined token with a known name for an end (endNames). If the file has no
// types, kinds guesses them from the texts and from the ids that the file names.
func kinds(spec Spec) []int32 {
	types := slices.Clone(spec.Types)
	if len(types) == 0 {
		types = guessKinds(spec)
	}
	for i, text := range spec.Tokens {
		if types[i] == TypeUserDefined && isEndName(text) {
			types[i] = TypeControl
		}
	}
	for _, id := range []int32{spec.BOS, spec.EOS, spec.EOT} {
		if id >= 0 {
			types[id] = TypeControl
		}
	}
	return types
}

func guessKinds(spec Spec) []int32 {
	types := make([]int32, len(spec.Tokens))
	for i, text := range spec.Tokens {
		_, isByte := byteToken(text)
		switch {
		case !spec.byteLevel() && isByte:
			types[i] = TypeByte
		case isEndName(text), strings.HasPrefix(text, "<|") && strings.HasSuffix(text, "|>") && len(text) > 4:
			types[i] = TypeControl
		case int32(i) == spec.UNK:
			types[i] = TypeUnknown
		default:
			types[i] = TypeNormal
		}
	}
	return types
}

// byteToken reads "<0xNN>" with exactly two hexadecimal digits.
func byteToken(text string) (byte, bool) {
	if len(text) != 6 || text[:3] != "<0x" || text[5] != '>' {
		return 0, false
	}
	high, low := hexDigit(text[3]), hexDigit(text[4])
	return byte(high<<4 | low), high >= 0 && low >= 0
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// stopTokens lists the tokens that end a reply: those named by id, and control tokens with a known
// name.
func stopTokens(spec Spec, v *vocabulary) []int32 {
	var stops []int32
	for i, text := range v.tokens {
		id := int32(i)
		if id == spec.EOS || id == spec.EOT || slices.Contains(spec.Ends, id) || (v.isControl(id) && isEndName(text)) {
			stops = append(stops, id)
		}
	}
	return stops
}

func (v *vocabulary) has(id int32) bool { return id >= 0 && int(id) < len(v.tokens) }

func (v *vocabulary) isControl(id int32) bool { return v.has(id) && v.types[id] == TypeControl }

// isOrdinary reports whether a token is user-defined and just an abbreviation of text. Its text is one
// character, or only letters, digits, marks and white space, such as a run of spaces. A delimiter such
// as <think> is not ordinary. Only ordinary tokens may come from text that a user wrote.
func (v *vocabulary) isOrdinary(id int32) bool {
	if v.types[id] != TypeUserDefined {
		return false
	}
	text := v.tokens[id]
	return utf8.RuneCountInString(text) == 1 || !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !unicode.IsSpace(r)
	})
}

// spell appends the byte tokens of a character, or the unknown token if the vocabulary lacks one of
// the bytes.
func (v *vocabulary) spell(to *encoding, char string) {
	start := len(to.ids)
	for i := range len(char) {
		if id := v.byteID[char[i]]; id >= 0 {
			to.ids = append(to.ids, id)
			continue
		}
		to.ids = append(to.ids[:start], v.unk)
		return
	}
}

// bytes returns what a token stands for in a text.
func (v *vocabulary) bytes(id int32) []byte {
	if !v.has(id) {
		return nil
	}
	text := v.tokens[id]
	switch v.types[id] {
	case TypeNormal:
		if v.byteText {
			return fromByteText(text)
		}
		return []byte(strings.ReplaceAll(text, "▁", " "))
	case TypeByte:
		value, _ := byteToken(text)
		return []byte{value}
	case TypeUserDefined:
		return []byte(text)
	case TypeUnknown:
		return []byte("\uFFFD")
	}
	return nil
}
