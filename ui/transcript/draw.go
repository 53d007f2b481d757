package transcript

import (
	"fmt"
	"strings"

	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// drawLine draws line i of a block.
func (v *View) drawLine(s *state.State, th *theme.Theme, b *block, i int, o Options) string {
	out := paint.NewLine(th, v.w)
	n, failure := b.lines(), b.failure()
	switch {
	case i < n:
		b.drawText(s, th, out, i, o)
	case i < n+len(failure):
		out.Pad(indent).Put(th.Error, failure[i-n])
	case b.message.Role == "assistant" && b.message.Reply > 0 && i == b.height()-2:
		b.drawFooter(s, th, out)
	}
	return out.String()
}

func (b *block) drawText(s *state.State, th *theme.Theme, out *paint.Line, i int, o Options) {
	user := b.message.Role == "user"
	if user && i == 0 {
		out.Put(th.User, th.Glyph.Marker)
	}
	out.Pad(indent)
	for _, seg := range b.line(i).segments {
		style := theme.Style("")
		switch {
		case user:
			style = th.User
		case seg.token <= pendingToken:
			style = th.Pending
			if k := pendingToken - seg.token; s.Pending != nil && k < len(s.Pending.Tokens) {
				style = th.Fate(s.Pending.Tokens[k].Fate)
			}
		case seg.token >= 0 && !o.Reading:
			style = b.fate(th, seg.token)
		}
		if selected := seg.token >= 0 && o.Cursor.Token == seg.token && o.Cursor.Message == b.message.ID; selected {
			out.Put(style.With(th.Cursor), seg.text)
			continue
		}
		rest := strings.TrimLeft(seg.text, " ") // struck or underlined spaces around words read badly
		word := strings.TrimRight(rest, " ")
		out.Put("", seg.text[:len(seg.text)-len(rest)]).Put(style, word).Put("", rest[len(word):])
	}
}

// fate is the style of a token. In a message without speculation, plain tokens have no style,
// because there is nothing to tell apart.
func (b *block) fate(th *theme.Theme, token int) theme.Style {
	t := &b.message.Tokens[token]
	if b.waits(token) {
		return th.Pending
	}
	if t.Fate == event.Plain && !b.message.Speculated {
		return ""
	}
	return th.Fate(t.Fate)
}

// drawFooter says that the prompt is being read or, when the reply is done, how it ended and its numbers.
func (b *block) drawFooter(s *state.State, th *theme.Theme, out *paint.Line) {
	m := b.message
	out.Pad(indent)
	if b.look.end > 0 {
		return // at a moment of the past, the reply had not ended
	}
	if !m.Done {
		if s.Phase != state.Prefilling || len(m.Tokens) > 0 {
			return
		}
		text := "reading the prompt"
		if p := s.Prefill; p != nil && p.Total > 0 {
			text = fmt.Sprintf("reading the prompt %s %s %d of %d tokens", th.Glyph.Separator, p.Model, p.Done, p.Total)
		}
		out.Put(th.Label, text+th.Glyph.Ellipsis)
		return
	}
	sep := " " + th.Glyph.Separator + " "
	figures, seed := figures(m), ""
	if b.look.brief {
		figures = figures[:1]
	}
	if m.Settings.Temperature > 0 {
		seed = fmt.Sprintf("%sseed %d", sep, m.Settings.Seed)
	}
	for len(figures) > 1 && paint.Width(strings.Join(figures, sep)+seed) >= out.Left() {
		// Drop figures rather than a part of the seed: without the seed the reply cannot be
		// repeated.
		figures = figures[:len(figures)-1]
	}
	out.Put(th.Label, strings.Join(figures, sep)+seed)
}

// figures returns the numbers of a reply in words, the most important first.
func figures(m *state.Message) []string {
	t, parts := m.Totals, []string{reasonWords(m.Reason)}
	if t.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens", t.Tokens))
	}
	if t.Rounds > 0 {
		parts = append(parts, fmt.Sprintf("%.2f a round", float64(t.Tokens)/float64(t.Rounds)))
	}
	if t.Tested > 0 {
		parts = append(parts, fmt.Sprintf("%.0f%% kept", 100*float64(t.Accepted)/float64(t.Tested)))
	}
	if ms := t.DecodeMS(); ms > 0 {
		parts = append(parts, fmt.Sprintf("%.1f tok/s", float64(t.Tokens)*1000/ms))
	}
	return parts
}

// reasonWords says why a reply ended.
func reasonWords(reason string) string {
	switch reason {
	case "stop", "stop string":
		return "complete"
	case "length":
		return "cut: max tokens"
	case "context":
		return "cut: context full"
	case "cancelled":
		return "stopped"
	case "error":
		return "failed"
	default:
		return reason
	}
}
