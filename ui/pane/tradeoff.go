package pane

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/event"
	"specula/ui/graph"
	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// tradeoff draws how fast each draft length is expected to be, from measurements of this session: a bar
// for each length, a line at the speed without a draft, and a sentence about the best length. The last
// row tells the best length at other temperatures, if it is known and there is room.
//
// Speeds are in percent of the best length's speed. The head line has another unit, the ratio to
// the speed without a draft, and only counts the newest rounds, which may keep more or fewer tokens
// than usual. With the same unit here, the two would seem to contradict each other.
func (c *column) tradeoff(rows int) []string {
	const title = "expected speed by draft length"
	words := c.tradeoffWords()
	if c.s.Settings.Watch {
		return append([]string{c.heading(title, "", "")},
			c.note("Not known: the server chooses its draft length, and does not tell what others would cost.", rows-1)...)
	}
	if len(c.s.Lengths) == 0 {
		return append([]string{c.heading(title, "", "")},
			c.note("After some rounds: how much faster each draft length would be, by what is kept and what drafting and checking cost.", rows-1)...)
	}
	below := c.tradeoffBelow(words, min(3, max(0, rows-6)))
	marks := c.th.Glyph.Best + " best " + c.th.Glyph.Running + " now"
	heading := c.heading(title, longestThatFits(c.w-len(title)-4, marks, c.th.Glyph.Best+" best", ""), "")
	if len(below) == 0 { // a low picture: the words take the place of the title
		heading = c.line().Put(c.th.Title, words[0]).String()
	}
	chart, speeds, lengths := c.lengthBars()
	lines := append([]string{heading}, chart.draw(c, max(1, rows-3-len(below)))...)
	name := ""
	if chart.pitch == leastPitch {
		name = "%"
	}
	lines = append(lines, chart.under(c, name, speeds), chart.under(c, c.th.Glyph.Gamma, lengths))
	return append(lines, below...)
}

// lengthBars makes the bar of each draft length, and the texts under it: its speed in percent of the
// best, and the length. Marks show which length is in use and which is the best. Pale bars were not timed yet.
func (c *column) lengthBars() (chart bars, speeds, lengths []label) {
	n := len(c.s.Lengths)
	pitch, fit := c.pitchFor(n, leastPitch)
	chart.pitch = pitch
	_, brighter := c.th.Shade(theme.Free)
	top := 1.0
	for _, l := range c.s.Lengths[:fit] {
		top = max(top, l.Speedup())
	}
	top = graph.NiceMax(top)
	chart.level = 1 / top
	best, now := bestLength(c.s), lengthNow(c.s).gamma
	timed := len(c.s.Lengths) - 1 // the longest length that was timed; shorter ones are estimated by it
	for timed > 0 && !c.s.Lengths[timed].Measured {
		timed--
	}
	unit := "%"
	if pitch == leastPitch {
		unit = "" // the % stands only once, at the left
	}
	for i, l := range c.s.Lengths[:fit] {
		bar, text, mark := c.th.Graph, c.th.Strong, ""
		if !l.Measured {
			bar, text = c.th.Label, c.th.Label
		}
		name := label{fmt.Sprint(i), c.th.Label}
		if i == now {
			mark, name.style = c.th.Glyph.Running, c.th.Strong
		}
		if i == best {
			mark, name.style, bar = mark+c.th.Glyph.Best, c.th.Strong, brighter
		}
		name.text = mark + name.text
		chart.shares, chart.styles = append(chart.shares, l.Speedup()/top), append(chart.styles, bar)
		speed := "?" // only a lower bound of its time is known
		if i <= timed {
			speed = fmt.Sprintf("%.0f%s", 100*min(l.Speedup()/c.s.Lengths[best].Speedup(), 1), unit)
		}
		speeds = append(speeds, label{speed, text})
		lengths = append(lengths, name)
	}
	return chart, speeds, lengths
}

// bestLength returns the draft length with the highest expected speed, of those that were timed. A shorter
// one is preferred if a longer one is hardly faster.
func bestLength(s *state.State) int {
	best, highest := 0, 0.0
	for i, l := range s.Lengths {
		if speed := l.Speedup(); (l.Measured || i == 0) && speed > highest*hardly {
			best, highest = i, speed
		}
	}
	return best
}

// hardly is the ratio of two speeds below which they count as equal.
const hardly = 1.01

// tradeoffWords says which draft length is the best, in this reply and at other temperatures. The first
// sentence is the most important.
func (c *column) tradeoffWords() []string {
	s, g := c.s, c.th.Glyph
	if len(s.Lengths) == 0 {
		return []string{""}
	}
	best, now := bestLength(s), lengthNow(s).gamma
	known := now >= 0 && now < len(s.Lengths) && (s.Lengths[now].Measured || now == 0)
	would := fmt.Sprintf("%s %d would be best", g.Gamma, best)
	if best == 0 {
		would = longestThatFits(c.w-2, g.Gamma+" 0, no drafting, would be best", would)
	}
	words := []string{would}
	switch {
	case !slices.ContainsFunc(s.Lengths[1:], func(l event.Length) bool { return l.Measured }):
		return []string{"no draft was timed yet"} // so nothing is known of what would have been better
	case known && s.Lengths[best].Speedup() <= hardly*s.Lengths[now].Speedup():
		words[0] = fmt.Sprintf("%s %d, in use, is as good as any", g.Gamma, now)
	case known:
		gain, than := gainWords(s.Lengths[best].Speedup() / s.Lengths[now].Speedup())
		words[0] = longestThatFits(c.w-2, fmt.Sprintf("%s: %s %s %s %d", would, gain, than, g.Gamma, now), would+": "+gain, would)
	}
	return slices.Concat(words, c.luck(now), c.hindsight(now), c.otherTemperatures())
}

// gainWords says how fast something is in comparison.
func gainWords(times float64) (gain, than string) {
	if times < 2 {
		return fmt.Sprintf("%.0f%% faster", 100*(times-1)), "than"
	}
	return fmt.Sprintf("%.1f times as fast", times), "as"
}

// luck says why the head line calls the length in use faster than no draft, and the bars do not, or the
// other way round.
func (c *column) luck(now int) []string {
	if change, changed := c.s.Changed(); changed && change.Rounds == 0 || c.s.Reply.Speedup <= 0 || now <= 0 || now >= len(c.s.Lengths) {
		return nil
	}
	switch usual, newest := event.Loses(c.s.Lengths[now].Speedup()), event.Loses(c.s.Reply.Speedup); {
	case usual && !newest:
		return []string{"The newest rounds kept more than is usual."}
	case newest && !usual:
		return []string{"The newest rounds kept less than is usual."}
	}
	return nil
}

// hindsight says which fixed γ would have been the fastest in this reply; nothing if that is unknown. now is
// the γ in use. The words compare with the reply as it ran, and the bars with what is expected of the next
// rounds, so both can name a different γ.
func (c *column) hindsight(now int) []string {
	l := c.s.Last
	if l == nil || !l.Round.Hindsight || !(l.Round.Regret < 1) {
		return nil
	}
	const begin = "this reply alone: "
	best := fmt.Sprintf("%s %d", c.th.Glyph.Gamma, l.Round.BestFixedGamma)
	switch {
	case l.Round.Regret < 0.005:
		return []string{begin + "no fixed " + c.th.Glyph.Gamma + " was faster"}
	case l.Round.BestFixedGamma == now && l.Round.GammaRule == "fixed": // a gain over rounds that only measured
		return []string{begin + best + ", in use, was best"}
	}
	gain, than := gainWords(1 / (1 - l.Round.Regret))
	return []string{begin + fmt.Sprintf("%s, %s %s it was", best, gain, than)}
}

// otherTemperatures says what the best length is at temperatures that were in use before, with the same
// proposer.
func (c *column) otherTemperatures() []string {
	now := fmt.Sprintf("%.2f", c.s.Settings.Temperature)
	var told []string
	for i := range c.s.Warmths {
		w := &c.s.Warmths[i]
		temperature := fmt.Sprintf("%.2f", w.Temperature)
		if w.Proposer != c.s.Settings.Proposer || temperature == now {
			continue
		}
		gamma, times, ok := w.Best(c.s.Lengths)
		if !ok {
			continue
		}
		gain := "no drafting"
		if gamma > 0 {
			gain = fmt.Sprintf("%s%.2f of no draft", c.th.Glyph.Times, times)
		}
		told = append(told, fmt.Sprintf("at temperature %s: %s %d, %s", temperature, c.th.Glyph.Gamma, gamma, gain))
	}
	if told == nil {
		return nil
	}
	return []string{strings.Join(told, "; ")}
}

// tradeoffBelow draws the sentences below the chart in at most rows rows, each on rows of its own.
func (c *column) tradeoffBelow(sentences []string, rows int) []string {
	var lines []string
	for i, sentence := range sentences {
		style := c.th.Label
		if i == 0 {
			style = theme.Style("")
		}
		for _, text := range paint.Wrap(sentence, c.w-2, rows-len(lines)) {
			if len(lines) < rows {
				lines = append(lines, c.line().Put(style, text).String())
			}
		}
	}
	return lines
}

// Tradeoff draws the trade-off for windows without a side column, in place of the picture of rounds.
func Tradeoff(s *state.State, th *theme.Theme, w, h int) []string {
	c := column{s: s, th: th, w: w}
	return paint.Block(c.tradeoff(h), w, h)
}
