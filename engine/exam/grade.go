package exam

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Grade returns "" for a reply that obeys all rules of the question. Otherwise it says what was
// wanted.
func (q Question) Grade(reply string) (wanted string) {
	text := fold(reply)
	for _, list := range q.Must {
		if !containsAny(text, list) {
			return "one of: " + strings.Join(list, " | ")
		}
	}
	for _, phrase := range q.Not {
		if contains(text, phrase) {
			return "not: " + phrase
		}
	}
	if q.Copy != "" && unquote(reply) != q.Copy {
		return "exactly: " + q.Copy
	}
	if q.Count > 0 && !counts(text, q.Count) {
		return fmt.Sprintf("the numbers from 1 to %d and no further", q.Count)
	}
	return ""
}

// fold makes texts comparable: lower case, straight apostrophes, single spaces.
func fold(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	return strings.Join(strings.Fields(text), " ")
}

func containsAny(text string, phrases []string) bool {
	for _, phrase := range phrases {
		if contains(text, phrase) {
			return true
		}
	}
	return false
}

// contains finds a phrase as whole words: before and after it the text must not go on with a letter or
// digit. If the phrase ends with *, its last word may go on.
func contains(text, phrase string) bool {
	phrase, open := strings.CutSuffix(phrase, "*")
	first, _ := utf8.DecodeRuneInString(phrase)
	last, _ := utf8.DecodeLastRuneInString(phrase)
	for from := 0; ; {
		at := strings.Index(text[from:], phrase)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(phrase):])
		if !(wordRune(first) && wordRune(before)) && (open || !(wordRune(last) && wordRune(after))) {
			return true
		}
		from = at + utf8.RuneLen(first)
	}
}

// wordRune is false for utf8.RuneError, the result of decoding an empty text.
func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// unquote removes the space around a reply and one pair of quotation marks.
func unquote(reply string) string {
	reply = strings.TrimSpace(reply)
	for _, marks := range [][2]string{{`"`, `"`}, {"“", "”"}, {"'", "'"}} {
		inner, opened := strings.CutPrefix(reply, marks[0])
		if inner, closed := strings.CutSuffix(inner, marks[1]); opened && closed {
			return inner
		}
	}
	return reply
}

// counts reports whether a text has the numbers from 1 to n in succession, not followed by n+1. Other
// words may stand between them.
func counts(text string, n int) bool {
	list := numbers(text)
	for i := range list {
		k := 0
		for i+k < len(list) && list[i+k] == k+1 {
			k++
		}
		if k == n {
			return true
		}
	}
	return false
}

// numbers returns the numbers in a text from fold: all that are in digits, and words from zero to
// twenty-one.
func numbers(text string) []int {
	text = strings.NewReplacer("twenty-one", "21", "twenty one", "21").Replace(text)
	words := strings.Split("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "+
		"seventeen eighteen nineteen twenty", " ")
	var list []int
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return !wordRune(r) }) {
		if n, err := strconv.Atoi(field); err == nil {
			list = append(list, n)
			continue
		}
		for n, word := range words {
			if word == field {
				list = append(list, n)
			}
		}
	}
	return list
}
