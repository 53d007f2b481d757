package sanitize

import "unicode"

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	textSelector       = '\ufe0e'
	emojiSelector      = '\ufe0f'
)

// invisible reports whether r draws nothing but may change the meaning of its neighbours: format
// characters (direction, joiners, tags), variation selectors, and the code points that Unicode
// says to ignore by default, assigned or not.
func invisible(r rune) bool {
	if r >= 0xe0000 && r <= 0xe0fff {
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// pictographic reports whether r may stand beside a zero-width joiner (U+200D) in an emoji: whether it has
// the property Extended_Pictographic (UTS #51). If only some code points of a block have the property,
// pictographic accepts the whole block.
func pictographic(r rune) bool {
	return unicode.Is(pictographs, r)
}

// joins reports whether r is a letter of a script whose letters join, or change their form next to others.
// In such scripts a joiner or non-joiner after a letter is part of the spelling: Persian and Urdu often
// need it, Indic scripts need it for conjuncts.
func joins(r rune) bool { return unicode.IsLetter(r) && unicode.In(r, joining...) }

// joining are the scripts with cursive letters and those with a virama, a sign that joins consonants.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Phags_Pa, unicode.Manichaean, unicode.Sogdian,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
	unicode.Javanese, unicode.Sundanese, unicode.Chakma, unicode.Grantha, unicode.Brahmi, unicode.Kaithi, unicode.Newa,
	unicode.Tirhuta, unicode.Sharada, unicode.Meetei_Mayek, unicode.Limbu,
}

// takesSelector reports whether a variation selector after r may choose between a text form and an emoji form
// of r. Like pictographic, it accepts whole blocks.
func takesSelector(r rune) bool {
	return pictographic(r) || r == '#' || r == '*' || (r >= '0' && r <= '9')
}

var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00a9, Hi: 0x00a9, Stride: 1},
		{Lo: 0x00ae, Hi: 0x00ae, Stride: 1},
		{Lo: 0x203c, Hi: 0x203c, Stride: 1},
		{Lo: 0x2049, Hi: 0x2049, Stride: 1},
		{Lo: 0x2122, Hi: 0x2122, Stride: 1},
		{Lo: 0x2139, Hi: 0x2139, Stride: 1},
		{Lo: 0x2190, Hi: 0x21ff, Stride: 1},
		{Lo: 0x2300, Hi: 0x23ff, Stride: 1},
		{Lo: 0x24c2, Hi: 0x24c2, Stride: 1},
		{Lo: 0x25a0, Hi: 0x27bf, Stride: 1},
		{Lo: 0x2900, Hi: 0x297f, Stride: 1},
		{Lo: 0x2b00, Hi: 0x2bff, Stride: 1},
		{Lo: 0x3030, Hi: 0x3030, Stride: 1},
		{Lo: 0x303d, Hi: 0x303d, Stride: 1},
		{Lo: 0x3297, Hi: 0x3297, Stride: 1},
		{Lo: 0x3299, Hi: 0x3299, Stride: 1},
	},
	R32: []unicode.Range32{
		// The letters of flags, which lie between these two, are never joined with a zero-width joiner.
		{Lo: 0x1f000, Hi: 0x1f1e5, Stride: 1},
		{Lo: 0x1f200, Hi: 0x1faff, Stride: 1},
	},
}
