package pane

import (
	"fmt"

	"specula/engine/event"
	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// head is what the head line says: how much faster speculation is, and both rates.
type head struct {
	words  string // how much faster, or why that is not known
	style  theme.Style
	reason string // why it loses; "" if it does not
	note   string // in place of the speculative rate when there is none
	// Tokens a second of engine time, without the proposer's reading; 0 if unknown. The plain rate is
	// what the speed-up makes of the speculative one. Plain rounds are few, and another load of the
	// machine at their time would contradict the speed-up.
	speculative, plain float64
	about              string // marks estimates; "" once measured
}

func headOf(s *state.State, th *theme.Theme) head {
	asked, plain := s.Rate(true), s.Rate(false)
	h := head{style: th.Label, plain: plain.PerSecond()}
	switch times := s.Reply.Speedup; {
	case speculationOff(s):
		h.words, h.note = "speculation is off", "off"
	case times <= 0 || asked.PerSecond() <= 0:
		h.words, h.note = "speed-up known after the first draft", "not yet"
	case lengthNow(s).off != "" && lengthNow(s).gamma == 0:
		h.words, h.note, h.style = "no draft now: it would not pay", "not now", th.Warning
	default:
		h.words, h.style = th.Glyph.Times+fmt.Sprintf("%.2f", times), th.Strong
		h.speculative, h.plain = asked.PerSecond(), asked.PerSecond()/times
		if s.Reply.Estimated {
			h.about = th.Glyph.About
		}
		h.words = h.about + h.words
		switch {
		case event.Loses(times):
			h.words, h.style, h.reason = h.words+" slower", th.Error, lossWords(asked, times)
		case times < 1.005:
			h.words += ", as fast as plain"
		default:
			h.words += " faster"
		}
	}
	return h
}

// lossWords says why rounds with a draft lose, in at most five words. They would lose even with a free
// draft if the target keeps too little of it.
func lossWords(asked state.Rate, times float64) string {
	plainMS := asked.MS * times // for the tokens of these rounds
	if asked.MS-asked.DraftMS > plainMS {
		return "too few tokens are kept"
	}
	return "drafting takes too long"
}

// all returns the words with the reason.
func (h *head) all() string { return joinNonEmpty(": ", h.words, h.reason) }

// bar draws a rate as a bar of at most w cells; the higher rate fills it.
func (h *head) bar(th *theme.Theme, rate float64, w int) string {
	bar, _ := graph.Bar(rate/max(h.speculative, h.plain), w, !th.Glyph.Unicode)
	return bar
}

// rate formats tokens a second.
func rate(v float64) string {
	if v < 99.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

const rateWidth = 6

// headBar is the widest bar of a rate, in cells.
const headBar = 32

// head draws the head line of the side column: how much faster, and a bar for each rate.
func (c *column) head(int) []string {
	h := headOf(c.s, c.th)
	first := c.line().Put(h.style, h.all())
	if h.about != "" && first.Left() > len("estimated")+2 {
		first.Right(c.th.Label, "estimated ")
	}
	return []string{
		first.String(),
		c.rate(&h, "speculative", h.speculative, "", c.th.Graph),
		c.rate(&h, "plain", h.plain, h.about, c.th.Label),
	}
}

// rate draws a rate: its name, its figure, its bar.
func (c *column) rate(h *head, name string, v float64, about string, style theme.Style) string {
	out := c.line().Put(c.th.Label, name).Pad(13)
	if !(v > 0) {
		note := "not yet"
		if name == "speculative" {
			note = h.note
		}
		return out.Put(c.th.Label, fmt.Sprintf("%*s", rateWidth+1, note)).String()
	}
	out.Put(c.th.Strong, fmt.Sprintf("%*s", rateWidth+1, about+rate(v))).Put(c.th.Label, " tok/s ")
	return out.Put(style, h.bar(c.th, v, min(out.Left()-1, headBar))).String()
}

// Head draws the head line on one line, for windows without a side column. What does not fit is left
// out, the bars first.
func Head(s *state.State, th *theme.Theme, w int) string {
	h := headOf(s, th)
	out := paint.NewLine(th, w).Put("", " ").Put(h.style, h.all())
	if !(h.speculative > 0) || !(h.plain > 0) {
		if words := fmt.Sprintf("  plain %s tok/s", rate(h.plain)); h.plain > 0 && paint.Width(words) < out.Left() {
			out.Put(th.Label, words)
		}
		return out.String()
	}
	speculative, plain := rate(h.speculative), h.about+rate(h.plain)
	const names = len("   speculative ") + len("   plain ") + len("  tok/s ") + 2*(rateWidth+1) + 2
	if bar := min((out.Left()-names)/2, headBar); bar >= 3 {
		out.Put(th.Label, "   speculative ").Put(th.Strong, fmt.Sprintf("%*s ", rateWidth, speculative))
		at := w - out.Left()
		out.Put(th.Graph, h.bar(th, h.speculative, bar)).Pad(at + bar)
		out.Put(th.Label, "   plain ").Put(th.Strong, fmt.Sprintf("%*s ", rateWidth+1, plain))
		at = w - out.Left()
		return out.Put(th.Label, h.bar(th, h.plain, bar)).Pad(at+bar).Put(th.Label, "  tok/s").String()
	}
	if words := "  " + speculative + " vs " + plain + " tok/s"; paint.Width(words) < out.Left() {
		out.Put(th.Label, words)
	}
	return out.String()
}
