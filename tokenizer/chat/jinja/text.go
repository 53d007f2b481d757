package jinja

import "unicode"

// IsSpace reports whether Python's str.strip would remove r.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }
