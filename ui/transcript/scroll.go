package transcript

import "specula/ui/state"

// Scroll moves the window by lines, down if positive. When the window reaches the end of the chat, it
// follows the text again.
func (v *View) Scroll(lines int) {
	v.top = min(max(v.top+lines, 0), v.last())
	v.stays = v.top < v.last()
	v.anchor = v.anchorAt(v.top)
}

// Follow goes to the end of the chat and stays there as text arrives.
func (v *View) Follow() { v.stays = false }

// Following reports whether the window stays at the end.
func (v *View) Following() bool { return !v.stays }

// Below returns how many lines are below the window.
func (v *View) Below() int { return max(0, v.last()-v.top) }

// Above returns how many lines are above the window.
func (v *View) Above() int { return v.top }

// Reveal makes the next Draw scroll to the token.
func (v *View) Reveal(ref state.Ref) { v.reveal = ref }

// last is the top line of the window when it is at the end.
func (v *View) last() int { return max(0, v.total-v.h) }

// place decides which line is at the top of this frame.
func (v *View) place(rewrapped bool) {
	if v.stays && rewrapped {
		v.top = v.find(v.anchor)
	}
	if v.reveal != (state.Ref{}) {
		if at, _, ok := v.locate(v.reveal); ok {
			v.show(at)
		}
		v.reveal = state.Ref{}
	}
	if !v.stays {
		v.top = v.last()
	}
	v.top = min(max(v.top, 0), v.last())
}

// show scrolls so that line at is in the window, with the lines before and after it if there are any.
func (v *View) show(at int) {
	if !v.stays {
		v.top = v.last()
	}
	switch {
	case at < v.top+1:
		v.top = at - 1
	case at > v.top+v.h-2:
		v.top = at - v.h + 2
	default:
		return
	}
	v.top = min(max(v.top, 0), v.last())
	v.stays = v.top < v.last()
	v.anchor = v.anchorAt(v.top)
}

// anchorAt describes the text on line at.
func (v *View) anchorAt(at int) anchor {
	for _, b := range v.blocks {
		n := b.height()
		if at >= n {
			at -= n
			continue
		}
		a := anchor{message: b.message.ID}
		if lines := b.lines(); at >= lines {
			a.below = at - lines + 1
			at = lines - 1
		}
		if at >= 0 {
			a.offset = b.line(at).start
		}
		return a
	}
	return anchor{}
}

// find returns the line that an anchor describes.
func (v *View) find(a anchor) int {
	at := 0
	for _, b := range v.blocks {
		if b.message.ID < a.message {
			at += b.height()
			continue
		}
		if b.message.ID > a.message {
			return at // the message is gone
		}
		line := 0
		for i := 0; i < b.lines() && b.line(i).start <= a.offset; i++ {
			line = i
		}
		return at + line + a.below
	}
	return at
}
