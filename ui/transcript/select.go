package transcript

import "specula/ui/state"

// Hit returns the token that the last Draw drew at column x, row y of the pane.
func (v *View) Hit(x, y int) (ref state.Ref, ok bool) {
	if x < 0 || y < 0 || x >= v.w || y >= v.h {
		return ref, false
	}
	v.walk(v.top+y, func(b *block, i int) bool {
		if i < b.lines() {
			ref, ok = b.tokenAt(i, x, false)
		}
		return false
	})
	return ref, ok
}

// Vertical returns a token of the next line above or below ref that has tokens: the token at ref's
// column, or else the last one before that column, or else the first one of the line. ok is false if
// no such line follows.
func (v *View) Vertical(ref state.Ref, down bool) (state.Ref, bool) {
	at, x, ok := v.locate(ref)
	if !ok {
		return ref, false
	}
	step := -1
	if down {
		step = 1
	}
	for at += step; at >= 0 && at < v.total; at += step {
		found := false
		next := ref
		v.walk(at, func(b *block, i int) bool {
			if i < b.lines() {
				next, found = b.tokenAt(i, x, true)
			}
			return false
		})
		if found {
			return next, true
		}
	}
	return ref, false
}

// tokenAt returns the token at column x of line i. If there is none and nearest is set, it returns
// the last token before x, or else the first one of the line.
func (b *block) tokenAt(i, x int, nearest bool) (ref state.Ref, ok bool) {
	at := indent
	for _, s := range b.line(i).segments {
		inside := x >= at && x < at+s.width
		if s.token >= 0 && (inside || nearest && (!ok || x >= at)) {
			ref, ok = state.Ref{Message: b.message.ID, Token: s.token}, true
		}
		at += s.width
	}
	return ref, ok
}

// locate returns the line and column where a token begins.
func (v *View) locate(ref state.Ref) (at, x int, ok bool) {
	for _, b := range v.blocks {
		if b.message.ID != ref.Message {
			at += b.height()
			continue
		}
		for i := 0; i < b.lines(); i++ {
			x = indent
			for _, s := range b.line(i).segments {
				if s.token == ref.Token {
					return at + i, x, true
				}
				x += s.width
			}
		}
		return 0, 0, false
	}
	return 0, 0, false
}
