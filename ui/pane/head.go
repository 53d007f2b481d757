package pane

import (
	"cmp"
	"fmt"

	"specula/engine/event"
	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// head holds what the head line says: how much faster speculation is, and both rates.
type head struct {
	figure string // how much faster, without the sign for an estimate; "" if that is not known
	words  string // faster or slower, or why figure is not known
	style  theme.Style
	reason string // why speculation loses or does not draft, or with which settings figure was measured; or ""
	note   string // words in place of the speculative rate, if there is none
	// Tokens per second of engine time, without the proposer's reading; 0 if unknown. If there is a
	// speed-up, the plain rate is the speculative one divided by it. Plain rounds are few: if the machine
	// was loaded during them, a rate measured from them would contradict the speed-up.
	speculative, plain float64
	about              string // marks estimates; "" once measured
	noPlain            string // words in place of the plain rate; "" for "not yet"
	basis              string // how figure is known: "measured", what it is estimated from, or how many rounds ago settings changed
}

// fewRounds is the least number of rounds with a draft before the head says, from an estimate, that
// speculation loses. With fewer, a single round that another program has slowed down could decide.
const fewRounds = 16

func headOf(s *state.State, th *theme.Theme) head {
	asked, plain := s.Rate(true), s.Rate(false)
	h := head{style: th.Label, plain: plain.PerSecond()}
	switch times := s.Reply.Speedup; {
	case s.Settings.Watch:
		h.words, h.basis, h.note = "the server's own rounds", "specula audit measures its gain", "not yet"
		h.speculative, h.plain, h.noPlain = asked.PerSecond(), 0, "not known"
	case speculationOff(s):
		h.words, h.note = "speculation is off", "off"
	case times <= 0 || asked.PerSecond() <= 0:
		h.words, h.note = "speed-up: after the first draft", "not yet"
	case lengthNow(s).off != "" && lengthNow(s).gamma == 0:
		h.words, h.note, h.style, h.reason = "no draft now", "not now", th.Warning, lengthNow(s).off
	default:
		h.style = th.Strong
		h.speculative, h.plain = asked.PerSecond(), asked.PerSecond()/times
		h.basis = "measured"
		if s.Reply.Estimated {
			h.about, h.basis = th.Glyph.About, "estimated"
		}
		few := s.Reply.Estimated && asked.Rounds < fewRounds
		if few {
			h.basis = "estimated from " + roundsWords(asked.Rounds)
		}
		h.figure = th.Glyph.Times + fmt.Sprintf("%.2f", times)
		switch change, changed := s.Changed(); {
		case changed:
			h.style, h.words = th.Label, changedSpeed(times)
			if change.Rounds > 0 { // not important enough to take the place of the rates
				h.basis = changeWords(th, change)
			} else {
				h.reason = changeWords(th, change)
			}
		case event.Loses(times) && few:
			h.words, h.style, h.reason = "slower so far", th.Label, "only "+roundsWords(asked.Rounds)+" yet"
		case event.Loses(times):
			h.words, h.style, h.reason = "slower", th.Error, lossWords(s, asked, times)
		case times < 1.005:
			h.words = "as fast as without"
		default:
			h.words = "faster"
		}
	}
	return h
}

func roundsWords(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

func changedSpeed(times float64) string {
	if event.Loses(times) {
		return "slower"
	}
	return "faster"
}

// changeWords says with which settings the rates were measured, after a change of settings.
func changeWords(th *theme.Theme, c state.Change) string {
	switch {
	case c.Rounds > 0:
		return roundsWords(c.Rounds) + " since the change"
	case c.Proposer != "":
		return "before the change, with " + c.Proposer
	case c.Gamma > 0:
		return fmt.Sprintf("before the change, with %s %d", th.Glyph.Gamma, c.Gamma)
	case c.Temperature >= 0:
		return fmt.Sprintf("before the change, at %.2f", c.Temperature)
	}
	return "before the change"
}

// nearlyAll is the acceptance from which on lossWords does not blame a loss on acceptance.
const nearlyAll = 0.9

// lossWords says in at most five words why rounds with a draft lose. If they would win without the
// time for drafting, drafting takes too long. Otherwise the target keeps too few tokens or, if it
// keeps nearly all, checking them takes too long, as on a server far away.
func lossWords(s *state.State, asked state.Rate, times float64) string {
	plainMS := asked.MS * times // what plain rounds would take for the same tokens
	if asked.MS-asked.DraftMS <= plainMS {
		return "drafting takes too long"
	}
	recent := s.Recent(recentRounds)
	if kept, tested := recent.Acceptance(); tested && kept >= nearlyAll {
		return "checking takes too long"
	}
	return "too few tokens are kept"
}

// all returns figure, words and reason.
func (h *head) all() string {
	return joinNonEmpty(": ", joinNonEmpty(" ", h.about+h.figure, h.words), h.reason)
}

// bar draws a rate as a bar of at most w cells; the higher rate fills it.
func (h *head) bar(th *theme.Theme, rate float64, w int) string {
	bar, _ := graph.Bar(rate/max(h.speculative, h.plain), w, !th.Glyph.Unicode)
	return bar
}

// rate formats tokens a second.
func rate(v float64) string {
	switch {
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	case v < 999.5:
		return fmt.Sprintf("%.0f", v)
	}
	thousands := int64(v + 0.5)
	return fmt.Sprintf("%d,%03d", thousands/1000, thousands%1000)
}

// rateWidth is the width of a rate such as "12,345", in cells.
const rateWidth = 6

// headBar is the widest bar of a rate, in cells.
const headBar = 48

// The names of both rates.
const (
	withDrafts = "with drafts"
	without    = "without"
)

// Head draws the head of the window: how much faster speculation is, both rates and, with two rows or
// more, who drafts and who verifies. With three rows or more, the speed-up is in large characters (not in
// ASCII), and a legend shows the looks of the fates.
func Head(s *state.State, th *theme.Theme, w, rows int) []string {
	h := headOf(s, th)
	switch {
	case rows <= 0:
		return nil
	case rows < paint.LargeRows:
		lines := []string{h.line(th, w), roles(s, th, w)}
		return lines[:rows]
	}
	return h.wide(s, th, w, rows)
}

// wide draws the head in three rows or more. The words stand beside the large speed-up; the last row says who
// drafts and who verifies.
func (h *head) wide(s *state.State, th *theme.Theme, w, rows int) []string {
	const usual, least = 33, 23 // the columns at which the rates begin usually, and at the earliest
	figure, begin := make([]string, rows), 1
	first, second := joinNonEmpty(" ", h.about+h.figure, h.words), h.reason
	drawn, top := paint.Large(h.figure), 0
	from := 0 // the figure's first row
	if rows > paint.LargerRows {
		drawn, from = paint.Larger(h.figure), rows-1-paint.LargerRows
		top = from + paint.LargerRows/2 - 1
	}
	if drawn != nil && h.figure != "" && th.Glyph.Unicode {
		for i := range drawn {
			about := ""
			if i == len(drawn)/2 {
				about = h.about
			}
			figure[from+i] = fmt.Sprintf("%-2s", about) + drawn[i]
		}
		begin, first = max(2+paint.Width(figure[from]), least), h.words
	}
	if second == "" {
		second = h.basis
	}
	rates := [2]string{first, second}
	words := max(usual, paint.Width(first)+2, paint.Width(second)+2)
	lines := make([]string, 0, rows)
	for y := range rows - 1 {
		out := paint.NewLine(th, w).Put("", " ").Put(h.style, figure[y])
		i := y - top
		if i < 0 || i >= len(rates) {
			lines = append(lines, out.String())
			continue
		}
		out.Pad(begin)
		style := th.Label
		if i == 0 {
			style = h.style
		}
		out.Put(style, rates[i]).Pad(begin + words)
		if i == 0 {
			h.rate(th, out, withDrafts, h.speculative, "", th.Graph)
		} else {
			h.rate(th, out, without, h.plain, h.about, th.Label)
		}
		lines = append(lines, out.String())
	}
	out := paint.NewLine(th, w).Put("", " ").Put(h.style, figure[rows-1])
	if figure[rows-1] != "" || rows == paint.LargeRows {
		out.Pad(begin)
	}
	who := rolesWords(s, out.Left()-textLegendWidth(textLegend(out.Left()))-3)
	list := textLegend(out.Left() - paint.Width(who) - 3)
	room := max(0, out.Left()-textLegendWidth(list)-3) // the legend is never left out for a long name
	out.Put(th.Title, paint.Fit(th, "", who, min(paint.Width(who), room)))
	putTextLegend(th, out.Pad(w-textLegendWidth(list)-1), list)
	return append(lines, out.String())
}

// rate draws a rate: its name, its number, its bar.
func (h *head) rate(th *theme.Theme, out *paint.Line, name string, v float64, about string, style theme.Style) {
	out.Put(th.Label, fmt.Sprintf("%-*s", len(withDrafts)+1, name))
	if !(v > 0) {
		note := cmp.Or(h.noPlain, "not yet")
		if name == withDrafts {
			note = h.note
		}
		out.Put(th.Label, fmt.Sprintf("%*s", rateWidth+1, note))
		return
	}
	out.Put(th.Strong, fmt.Sprintf("%*s", rateWidth+1, about+rate(v))).Put(th.Label, " tok/s ")
	out.Put(style, h.bar(th, v, min(out.Left()-1, headBar)))
}

// line draws the head on one line. It leaves out what does not fit, the bars first.
func (h *head) line(th *theme.Theme, w int) string {
	out := paint.NewLine(th, w).Put("", " ").Put(h.style, h.all())
	if !(h.speculative > 0) || !(h.plain > 0) {
		words := ""
		switch {
		case h.plain > 0:
			words = fmt.Sprintf("  without %s tok/s", rate(h.plain))
		case h.speculative > 0:
			words = fmt.Sprintf("  with drafts %s tok/s", rate(h.speculative))
		}
		if paint.Width(words) < out.Left() {
			out.Put(th.Label, words)
		}
		return out.String()
	}
	speculative, plain := rate(h.speculative), h.about+rate(h.plain)
	const names = len("   ") + len(withDrafts) + len("   ") + len(without) + len("  tok/s ") + 2*(rateWidth+1) + 3
	if bar := min((out.Left()-names)/2, headBar); bar >= 3 {
		out.Put(th.Label, "   "+withDrafts+" ").Put(th.Strong, fmt.Sprintf("%*s ", rateWidth, speculative))
		at := w - out.Left()
		out.Put(th.Graph, h.bar(th, h.speculative, bar)).Pad(at + bar)
		out.Put(th.Label, "   "+without+" ").Put(th.Strong, fmt.Sprintf("%*s ", rateWidth+1, plain))
		at = w - out.Left()
		return out.Put(th.Label, h.bar(th, h.plain, bar)).Pad(at+bar).Put(th.Label, "  tok/s").String()
	}
	words := longestThatFits(out.Left()-1, "  "+speculative+" tok/s with drafts, "+plain+" without",
		"  "+speculative+" tok/s with, "+plain+" without", "  "+speculative+" vs "+plain+" tok/s", "")
	return out.Put(th.Label, words).String()
}

// roles draws who drafts and who verifies and, at the right, what came of the newest rounds.
func roles(s *state.State, th *theme.Theme, w int) string {
	out := paint.NewLine(th, w).Put("", " ")
	out.Put(th.Title, rolesWords(s, out.Left()))
	out.Right(th.Label, recentWords(s, th, out.Left()-3)+" ")
	return out.String()
}

// rolesWords says who drafts and who verifies. If the target is on a server, it names the server, provided
// that its name fits into w cells.
func rolesWords(s *state.State, w int) string {
	if s.Ready == nil {
		return "a small model guesses, a large one checks"
	}
	guesses, does := "", " writes alone"
	if s.Settings.Watch {
		does = " guesses and checks"
	} else if who := drafterName(s); who != "" {
		guesses, does = who+" guesses, ", " checks"
	}
	target := s.Ready.Target.Name
	if server := s.Ready.Target.Server; server != "" {
		return cmp.Or(longestThatFits(w, guesses+target+" on "+server+does), guesses+target+" on a server"+does)
	}
	return guesses + target + does
}

// recentWords gives tokens per round and acceptance in the newest rounds, if they fit into w cells;
// "" before the first round. In a longer reply it also names the number of these rounds: the line
// under a complete reply has other figures, which are over all rounds.
func recentWords(s *state.State, th *theme.Theme, w int) string {
	recent := s.Recent(recentRounds)
	perPass, any := recent.TokensPerPass()
	if !any {
		return ""
	}
	words := fmt.Sprintf("%.1f tokens a round", perPass)
	share, tested := recent.Acceptance()
	if !tested {
		return words
	}
	kept := percent(th, share, true)
	if s.Recent(recentRounds+1).Rounds > recentRounds {
		last := fmt.Sprintf("last %d rounds: ", recentRounds)
		each := fmt.Sprintf("%.1f tokens each", perPass)
		return longestThatFits(w, last+kept+" of tested kept, "+each, last+kept+" kept, "+each,
			fmt.Sprintf("last %d: %s kept, %.1f tokens a round", recentRounds, kept, perPass),
			fmt.Sprintf("last %d: %s kept, %.1f a round", recentRounds, kept, perPass), "")
	}
	tight := fmt.Sprintf("%.1f tokens/round", perPass)
	guesses, short := kept+" of tested guesses kept  ", kept+" of tested kept  "
	return longestThatFits(w, guesses+words, guesses+tight, short+words, short+tight, words, "")
}
