// Package transcript draws the chat: every token in the colour of its verdict, wrapped at words,
// with a cursor that selects one.
//
// A [View] remembers how each message was wrapped, so that a frame costs time in proportion to the
// lines it shows. wrap.go breaks text into lines, block.go wraps one message, draw.go draws it,
// scroll.go and select.go move window and cursor.
//
// Invariant: what a View draws depends only on the state, the options and the scroll position, not
// on what it remembers.
package transcript

import (
	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// Rejected says which rejected and discarded tokens are drawn. They are struck out, at their
// place.
type Rejected int

// The choices. The cursor cannot select a token that is not drawn.
const (
	// Recent shows the rejected tokens of the last recentRounds rounds while a reply is written, and all
	// of them from its end until the next prompt. Discarded tokens are shown in the lane only.
	Recent Rejected = iota
	All             // all rejected and discarded tokens
	Never           // no rejected or discarded tokens
	// ofNewest is the form of Recent for the newest message, once its reply is complete.
	ofNewest
)

// recentRounds is the number of rounds for which a refused token stays visible while its reply is written.
// At the slow pace a round takes half a second by default, so a reader has time to see which token replaced
// it.
const recentRounds = 3

// of returns the choice for one message. newest says that no message comes after it.
func (r Rejected) of(m *state.Message, newest bool) Rejected {
	switch {
	case r != Recent || !m.Done:
		return r
	case newest:
		return ofNewest
	default:
		return Never
	}
}

// shows reports whether a token of m is drawn. r is the choice for m, as returned by of.
func (r Rejected) shows(m *state.Message, t *state.Token) bool {
	switch {
	case t.Committed():
		return true
	case r == Recent && t.Round < len(m.Rounds)-recentRounds:
		return false
	case r == Recent || r == ofNewest:
		return t.Fate == event.Rejected
	default:
		return r == All
	}
}

// Options is how the user wants to see the chat.
type Options struct {
	Reading  bool // plain text without verdicts
	Brief    bool // leave out the numbers below a reply, because they are shown elsewhere
	Rejected Rejected
	Cursor   state.Ref // selected token; zero: none
	// At is a moment to look back at. What came later is not drawn, and draft tokens without a verdict
	// at that moment are drawn as pending.
	At      state.Moment
	Welcome []string // safe lines, shown centred while there is no message
}

// Shows reports whether the token is drawn, and so whether the cursor can select it.
func (o Options) Shows(s *state.State, ref state.Ref) bool {
	m, t := s.Message(ref.Message), (*state.Token)(nil)
	if m != nil {
		t, _ = s.Token(ref)
	}
	if t == nil || t.Text == "" {
		return false
	}
	rejected := o.rejected().of(m, m == s.Messages[len(s.Messages)-1])
	return rejected.shows(m, t)
}

// rejected returns the choice in force: plain text has no refused tokens.
func (o Options) rejected() Rejected {
	if o.Reading {
		return Never
	}
	return o.Rejected
}

// View is the window of the chat: its scroll position and its cache. Use one per chat pane. It is
// not safe for concurrent use.
type View struct {
	blocks []*block
	w, h   int

	top    int  // first line shown, counted from the first line of the chat
	stays  bool // the window stays where it is, and does not follow the end of the chat
	anchor anchor
	reveal state.Ref // token to which the next Draw scrolls; zero: none
	total  int       // lines of the whole chat
}

// anchor describes the text at the top of the window, so that it can be found again after
// everything was wrapped anew.
type anchor struct {
	message int // Message.ID
	offset  int // in bytes from the start of the message
	below   int // lines from the last line of text down to the top of the window; 0 if the top is text
}

// New returns a View that follows the newest line.
func New() *View { return &View{} }

// Draw returns h lines of w cells.
func (v *View) Draw(s *state.State, th *theme.Theme, w, h int, o Options) []string {
	w, h = max(w, 0), max(h, 0)
	rewrapped := v.update(s, th, w, o)
	v.w, v.h = w, h
	v.total = v.height()
	v.place(rewrapped)
	if len(v.blocks) == 0 {
		return welcome(th, w, h, o.Welcome)
	}
	lines := make([]string, 0, h)
	v.walk(v.top, func(b *block, i int) bool {
		if len(lines) >= h {
			return false
		}
		lines = append(lines, v.drawLine(s, th, b, i, o))
		return true
	})
	return paint.Block(lines, w, h)
}

// update makes the blocks match the messages. It reports whether text above the window may have
// moved.
func (v *View) update(s *state.State, th *theme.Theme, w int, o Options) (rewrapped bool) {
	known := make(map[int]*block, len(v.blocks))
	messages, past := s.Messages, state.Past{}
	if p, ok := s.Past(o.At); ok {
		past = p
		for messages[len(messages)-1].ID != o.At.Message {
			messages = messages[:len(messages)-1]
		}
	}
	if !v.matches(messages) {
		for _, b := range v.blocks {
			known[b.message.ID] = b
		}
		v.blocks = v.blocks[:0:0]
		for _, m := range messages {
			b := known[m.ID]
			if b == nil || b.message != m {
				b = &block{message: m}
			}
			v.blocks = append(v.blocks, b)
		}
		rewrapped = true
	}
	for i, b := range v.blocks {
		var draft *state.Pending
		l := lookFor(b.message, i == len(v.blocks)-1, th, w, o)
		switch {
		case i == len(v.blocks)-1 && past.End > 0:
			l.judged, l.end = past.Judged, past.End
			if l.rejected == Recent {
				l.rejected = ofNewest
			}
		case i == len(v.blocks)-1 && !b.message.Done:
			draft = s.Pending
		}
		if b.stable != nil && b.look == l && b.message.Done && (b.next == len(b.message.Tokens) || l.end > 0) && b.tail != nil && draft == nil && b.final {
			continue
		}
		rewrapped = rewrapped || b.stable != nil && b.look != l
		b.wrap(l, draft)
		b.final = b.message.Done
	}
	return rewrapped
}

// matches reports whether the blocks are those of the messages.
func (v *View) matches(messages []*state.Message) bool {
	n := len(v.blocks)
	return n == len(messages) && (n == 0 || v.blocks[0].message == messages[0] && v.blocks[n-1].message == messages[n-1])
}

func (v *View) height() int {
	n := 0
	for _, b := range v.blocks {
		n += b.height()
	}
	return max(0, n-1) // no blank line after the last message
}

// walk visits lines, from line top on, until visit returns false.
func (v *View) walk(top int, visit func(b *block, i int) bool) {
	for _, b := range v.blocks {
		n := b.height()
		if top >= n {
			top -= n
			continue
		}
		for i := max(top, 0); i < n; i++ {
			if !visit(b, i) {
				return
			}
		}
		top = 0
	}
}

func welcome(th *theme.Theme, w, h int, text []string) []string {
	var drawn []string
	for i, t := range text {
		style := th.Label
		if i == 0 {
			style = th.Title
		}
		rows := []string{t}
		if paint.Width(t) > w {
			rows = paint.Wrap(t, w, h)
		}
		for _, row := range rows {
			drawn = append(drawn, paint.NewLine(th, w).Pad(max(0, (w-paint.Width(row))/2)).Put(style, row).String())
		}
	}
	lines := make([]string, 0, h)
	for range max(0, (h-len(drawn))/2) {
		lines = append(lines, paint.Spaces(w))
	}
	return paint.Block(append(lines, drawn...), w, h)
}
