package sanitize

// scanner recognises escape sequences (ECMA-48) rune by rune, so that they are dropped as a whole.
type scanner struct {
	inside sequence
	length int
	sawESC bool // in a string sequence: the last rune was ESC, which may begin ST
}

type sequence uint8

const (
	outside      sequence = iota
	escape                // after ESC
	intermediate          // after ESC and intermediates (0x20 to 0x2f): one final character ends it
	control               // CSI: parameters and intermediates, until a final character
	text                  // OSC, DCS, SOS, PM, APC: until BEL or ST
)

// swallows reports whether r belongs to an escape sequence. Call it with every rune, in order.
//
// When in doubt it ends a sequence early, so that text after a stray ESC is not lost. That is safe: the
// ESC itself is always dropped, and without it the rest is harmless.
func (s *scanner) swallows(r rune) bool {
	if s.inside == outside {
		return s.begins(r)
	}
	s.length++
	if r == '\n' || r == '\r' || s.length > maxSequenceRunes {
		s.inside = outside
		return false
	}
	if r == 0x18 || r == 0x1a { // CAN and SUB abort any sequence
		s.inside = outside
		return true
	}
	switch s.inside {
	case escape, intermediate:
		return s.afterEscape(r)
	case control:
		return s.inControl(r)
	default:
		return s.inText(r)
	}
}

// begins reports whether r opens a sequence.
func (s *scanner) begins(r rune) bool {
	s.length, s.sawESC = 0, false
	switch r {
	case 0x1b:
		s.inside = escape
	case 0x9b:
		s.inside = control
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		s.inside = text
	default:
		return false
	}
	return true
}

func (s *scanner) afterEscape(r rune) bool {
	fresh := s.inside == escape
	switch {
	case r == 0x1b:
		s.inside = escape
	case fresh && r == '[':
		s.inside = control
	case fresh && (r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_'):
		s.inside = text
	case r >= 0x20 && r <= 0x2f:
		s.inside = intermediate
	case r >= 0x30 && r <= 0x7e:
		s.inside = outside
	case r < 0x20 || r == 0x7f: // terminals execute controls inside a sequence without ending it
	default:
		s.inside = outside
		return s.begins(r)
	}
	return true
}

func (s *scanner) inControl(r rune) bool {
	switch {
	case r == 0x1b:
		s.inside = escape
	case r >= 0x40 && r <= 0x7e:
		s.inside = outside
	case r < 0x40 || r == 0x7f:
	default: // nothing outside ASCII belongs to a control sequence
		s.inside = outside
		return s.begins(r)
	}
	return true
}

func (s *scanner) inText(r rune) bool {
	if s.sawESC {
		s.sawESC = false
		if r == '\\' {
			s.inside = outside
			return true
		}
		s.inside = escape
		return s.afterEscape(r)
	}
	switch r {
	case 0x1b:
		s.sawESC = true
	case 0x07, 0x9c:
		s.inside = outside
	}
	return true
}
