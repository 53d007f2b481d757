package chat

import "specula/tokenizer"

// prompt collects segments. It joins neighbours of the same origin, so that a control token which a
// template writes in two steps is recognised.
type prompt struct{ segments []tokenizer.Segment }

func (p *prompt) template(text string) { p.add(text, true) }

func (p *prompt) data(text string) { p.add(text, false) }

func (p *prompt) role(role string) { p.add(role, isKnownRole(role)) }

func (p *prompt) add(text string, special bool) {
	if text == "" {
		return
	}
	if last := len(p.segments) - 1; last >= 0 && p.segments[last].Special == special {
		p.segments[last].Text += text
		return
	}
	p.segments = append(p.segments, tokenizer.Segment{Text: text, Special: special})
}
