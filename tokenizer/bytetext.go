package tokenizer

import "unicode/utf8"

// GPT-2 writes its vocabulary as text, one character per byte. A printable Latin-1 byte is written as
// itself. The other bytes, in ascending order, are the characters from U+0100 on. A space is Ġ
// (U+0120), a line feed Ċ (U+010A).

// byteRune returns the character that stands for a byte.
func byteRune(b byte) rune {
	switch {
	case b <= 0x20: // 33 bytes, which become U+0100 to U+0120
		return 0x100 + rune(b)
	case b < 0x7F:
		return rune(b)
	case b <= 0xA0: // 34 bytes, which become U+0121 to U+0142
		return 0x121 + rune(b-0x7F)
	case b == 0xAD: // the soft hyphen, the last byte that is not printable
		return 0x143
	}
	return rune(b)
}

// runeByte is the inverse of byteRune. It returns false for a character that stands for no byte.
func runeByte(r rune) (byte, bool) {
	switch {
	case r >= 0x100 && r <= 0x120:
		return byte(r - 0x100), true
	case r >= 0x121 && r <= 0x142:
		return byte(r-0x121) + 0x7F, true
	case r == 0x143:
		return 0xAD, true
	case r > 0x20 && r < 0x7F, r > 0xA0 && r <= 0xFF && r != 0xAD:
		return byte(r), true
	}
	return 0, false
}

// fromByteText returns the bytes that a token's text stands for. A character that byteRune never
// returns, as in tokens added by hand, stands for itself.
func fromByteText(text string) []byte {
	raw := make([]byte, 0, len(text))
	for _, r := range text {
		if b, ok := runeByte(r); ok {
			raw = append(raw, b)
		} else {
			raw = utf8.AppendRune(raw, r)
		}
	}
	return raw
}

// appendByteText appends raw bytes as the vocabulary writes them: one character of byteRune each.
func appendByteText(dst []byte, raw string) []byte {
	for i := range len(raw) {
		dst = utf8.AppendRune(dst, byteRune(raw[i]))
	}
	return dst
}
