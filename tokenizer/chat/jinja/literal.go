package jinja

import (
	"errors"
	"strconv"
	"strings"
)

// literalLength returns the length of the string constant at the start of s, quotes included.
func literalLength(s string) (int, error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1, nil
		}
	}
	return 0, errors.New("it is not closed")
}

// unescape decodes Python's escapes. An unknown escape stays as it is.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	simple := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\\': `\`, '\'': "'", '"': `"`, '\n': ""}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if text, ok := simple[s[i]]; ok {
			out.WriteString(text)
		} else if n, ok := digits[s[i]]; ok {
			if i+n >= len(s) {
				return "", errors.New(`an escape is cut off`)
			}
			code, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			if err != nil {
				return "", errors.New(`an escape is not hexadecimal`)
			}
			out.WriteRune(rune(code))
			i += n
		} else if s[i] >= '0' && s[i] <= '7' {
			j := i + 1
			for ; j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7'; j++ {
			}
			code, _ := strconv.ParseUint(s[i:j], 8, 32)
			out.WriteRune(rune(code))
			i = j - 1
		} else {
			out.WriteByte('\\')
			out.WriteByte(s[i])
		}
	}
	return out.String(), nil
}
