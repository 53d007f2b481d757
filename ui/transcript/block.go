package transcript

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// block is one wrapped message. stable has the lines that can no longer change. tail has the lines after
// them: the line that is not full yet, lines with rejected tokens of the newest rounds if these tokens will
// be hidden later, the line that stands for a folded thought, and the draft that waits for its verdict.
type block struct {
	message *state.Message
	look    look
	stable  *wrapper
	next    int // first token that is not in stable
	thought int // committed tokens so far of a folded thought; -1 once stable has the line that stands for it
	tail    []line
	final   bool // wrapped after the message was done
}

// look is everything besides the message that decides how it is wrapped.
type look struct {
	w        int
	cells    ansi.Method
	reading  bool
	brief    bool
	rejected Rejected
	newline  string // the sign for a newline in a token that is not part of the reply
	fold     bool   // one line stands for the tokens of a thought
	revision int
	// At a moment of the past: indices of the first token without a verdict, and of the first token that
	// is not known yet. In the present, end is 0 and everything is known.
	judged, end int
}

// textWidth limits the length of lines, in cells, so that they stay readable in very wide windows.
const textWidth = 110

const (
	indent = 2 // left of all text; the user's marker is drawn there
	margin = 1 // right of the text
)

func lookFor(m *state.Message, newest bool, th *theme.Theme, w int, o Options) look {
	return look{
		w: min(max(w-indent-margin, 1), textWidth), cells: th.Cells, reading: o.Reading, brief: o.Brief, rejected: o.rejected().of(m, newest),
		newline: th.Glyph.Newline, fold: !selectsThought(m, o.Cursor), revision: m.Revision,
	}
}

// selectsThought reports whether the cursor is in a thought of the message, which unfolds it.
func selectsThought(m *state.Message, cursor state.Ref) bool {
	return cursor.Message == m.ID && cursor.Token >= 0 && cursor.Token < len(m.Tokens) && m.Tokens[cursor.Token].Thought
}

// wrap brings the block up to date. draft is the pending draft that continues the message, or nil.
func (b *block) wrap(l look, draft *state.Pending) {
	m := b.message
	if b.stable == nil || b.look != l || b.next > len(m.Tokens) {
		b.look, b.stable, b.next, b.thought = l, b.wrapper(l), 0, 0
		if len(m.Tokens) == 0 {
			b.stable.feed(noToken, m.Text)
		}
	}
	if b.next == 0 && len(m.Tokens) > 0 && b.stable.fed > 0 {
		b.stable = b.wrapper(l)
	}
	tokens := m.Tokens
	if l.end > 0 {
		tokens = tokens[:min(l.end, len(tokens))]
	}
	for b.next < len(tokens) && b.settled(&m.Tokens[b.next]) {
		b.thought = b.feed(b.stable, b.next, b.thought)
		b.next++
	}
	rest, thought := b.stable.fork(), b.thought
	for i := b.next; i < len(tokens); i++ {
		thought = b.feed(&rest, i, thought)
	}
	if thought > 0 {
		rest.feed(noToken, folded(thought, m.Done))
	}
	if draft != nil && !l.reading {
		for i := range draft.Tokens {
			rest.feed(pendingToken-i, visible(draft.Tokens[i].Text, l.newline))
		}
	}
	b.tail = append(rest.done, rest.open)
}

// settled reports whether the token's drawing can no longer change.
func (b *block) settled(t *state.Token) bool {
	return b.look.rejected != Recent || t.Round < len(b.message.Rounds)-recentRounds
}

// wrapper returns an empty wrapper for the message.
func (b *block) wrapper(l look) *wrapper {
	p := newWrapper(l.w, l.cells)
	p.inReply = func(token int) bool {
		return token == noToken || token >= 0 && b.message.Tokens[token].Committed()
	}
	return p
}

// folded is the line that stands for a thought.
func folded(tokens int, over bool) string {
	if over {
		return fmt.Sprintf("[thought for %d tokens]", tokens)
	}
	return fmt.Sprintf("[thinking: %d tokens]", tokens)
}

// feed appends token i to p, if it is shown. If thoughts are folded (look.fold), it only counts the
// tokens of a thought, and appends one line for them before the answer begins. It returns the new count
// (block.thought).
func (b *block) feed(p *wrapper, i, thought int) int {
	t := &b.message.Tokens[i]
	if b.look.fold && t.Thought {
		if t.Committed() && thought >= 0 {
			thought++
		}
		return thought
	}
	if thought > 0 && t.Committed() {
		p.feed(noToken, folded(thought, true)+"\n")
		thought = -1
	}
	switch {
	case b.waits(i):
		p.feed(i, visible(t.Text, b.look.newline))
	case t.Committed():
		p.feed(i, t.Text)
	case b.look.rejected.shows(b.message, t):
		text := visible(t.Text, b.look.newline) + b.gap(i)
		if t.Fate == event.Rejected && p.last != "" && p.last != " " && !strings.HasPrefix(text, " ") {
			text = " " + text
		}
		p.feed(i, text)
	}
	return thought
}

// waits reports whether a token has no verdict yet at the moment of the past that is shown.
func (b *block) waits(token int) bool { return b.look.end > 0 && token >= b.look.judged }

// gap returns what to draw after token i, which is not part of the reply: " " if the next token of the
// round would touch it, else "". (feed puts a space before a refused token, too.)
func (b *block) gap(i int) string {
	m := b.message
	if strings.HasSuffix(m.Tokens[i].Text, " ") {
		return ""
	}
	for k := i + 1; k < len(m.Tokens) && m.Tokens[k].Round == m.Tokens[i].Round; k++ {
		switch t := &m.Tokens[k]; {
		case t.Text == "":
		case t.Committed() && !strings.HasPrefix(t.Text, " ") && !strings.HasPrefix(t.Text, "\n"):
			return " "
		case t.Committed() || b.look.rejected.shows(m, t):
			return ""
		}
	}
	return ""
}

// lines returns how many lines the text takes.
func (b *block) lines() int {
	n := len(b.stable.done) + len(b.tail)
	if len(b.tail) == 1 && len(b.tail[0].segments) == 0 && n > 1 {
		n-- // the text ends with a newline
	}
	return n
}

// line returns line i of the text.
func (b *block) line(i int) *line {
	if n := len(b.stable.done); i >= n {
		return &b.tail[i-n]
	}
	return &b.stable.done[i]
}

// footers is how many lines come after the text: a blank one, the numbers of a reply, and why it
// failed.
func (b *block) footers() int {
	n := 1
	if b.message.Role == "assistant" && b.message.Reply > 0 {
		n++
	}
	return n + len(b.failure())
}

// failureRows is the most lines that say why a reply failed.
const failureRows = 8

// failure is the wrapped reason of a failed reply; nil if it did not fail.
func (b *block) failure() []string { return paint.Wrap(b.message.Failure, b.look.w, failureRows) }

// height is the number of lines of the whole block.
func (b *block) height() int { return b.lines() + b.footers() }
