package pane

import (
	"fmt"
	"slices"
	"strings"

	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/state"
)

// draftLength draws the current γ, the rule that chose it, and why.
func (c *column) draftLength(rows int) []string {
	now := lengthNow(c.s)
	out := c.line().Put(c.th.Title, "draft length ").Put(c.th.Strong, fmt.Sprintf("%s %d", c.th.Glyph.Gamma, now.gamma))
	if c.s.Settings.GammaMax > 0 {
		out.Put(c.th.Label, fmt.Sprintf(" of %d", c.s.Settings.GammaMax))
	}
	if now.probe {
		out.Put(c.th.Warning, "  "+c.th.Glyph.Probe)
	}
	rule := now.rule
	if speculationOff(c.s) {
		rule = "off"
	}
	out.Right(c.th.Label, rule+" ")
	why := now.why
	if now.off != "" {
		why = "not drafting: " + now.off
	}
	lines := []string{out.String()}
	for _, text := range paint.Wrap(why, c.w-2, rows-1) {
		lines = append(lines, c.line().Put(c.th.Label, text).String())
	}
	return lines
}

// figures draws means over the newest rounds of this reply: tokens, bytes from the device, times.
func (c *column) figures(int) []string {
	th := c.th
	recent := c.s.Recent(recentRounds)
	perPass, any := recent.TokensPerPass()
	rounds := float64(max(recent.Rounds, 1))
	ms := func(total float64) string {
		if !any {
			return th.Glyph.None
		}
		return milliseconds(total / rounds)
	}
	moved, from := th.Glyph.None, "from the device"
	if onServer(c.s) {
		from = "by network"
	}
	if any {
		moved = bytes(float64(recent.Bytes) / rounds)
	}
	return []string{
		c.pair("tokens a round", figure(th, perPass, any, 2), from, moved),
		c.pair("drafting", ms(recent.DraftMS), "checking", ms(recent.VerifyMS)),
	}
}

// settings draws the current settings.
func (c *column) settings(int) []string {
	v := c.s.Settings
	name, who := "proposer", v.Proposer
	if drafter := c.s.Drafter(); v.Proposer == "auto" && drafter != "" {
		name, who = "auto takes", drafter
	}
	return []string{
		c.pair("temperature", fmt.Sprintf("%.2f", v.Temperature), "seed", seedWords(v.Seed)),
		c.pair("top-p", fmt.Sprintf("%.2f", v.TopP), "top-k", offOr(v.TopK)),
		c.pair("min-p", fmt.Sprintf("%.2f", v.MinP), name, orNone(who, c.th.Glyph.None)),
	}
}

// models draws the models and the device. Spare rows are used for long names, the device's first.
func (c *column) models(rows int) []string {
	r := c.s.Ready
	if r == nil {
		return nil
	}
	draft := "none" + prefixed(": ", r.DraftRefused)
	if r.Draft != nil {
		draft = modelWords(r.Draft)
	}
	const indent = 9
	named := [][2]string{{"target", modelWords(&r.Target)}, {"draft", draft}, {"heads", r.Heads}, {"device", r.Device}}
	if r.Heads == "" {
		named = slices.Delete(named, 2, 3)
	}
	room := max(1, c.w-indent-1)
	most := make([]int, len(named)) // rows of each name
	left := rows
	for i := range named {
		most[i] = 1
		left--
	}
	for i := len(named) - 1; i >= 0 && left > 0; i-- {
		more := min(left, len(paint.Wrap(named[i][1], room, rows))-1)
		most[i] += max(0, more)
		left -= max(0, more)
	}
	var lines []string
	for i, row := range named {
		name := row[0]
		for _, text := range paint.Wrap(row[1], room, most[i]) {
			lines = append(lines, c.line().Put(c.th.Label, name).Pad(indent).Put("", text).String())
			name = ""
		}
	}
	return lines
}

func modelWords(m *event.Model) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", m.Name, m.WeightType, count(m.Parameters))), " ")
}

func offOr(n int) string {
	if n == 0 {
		return "off"
	}
	return fmt.Sprint(n)
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// writesPlainly reports whether the target now writes without drafts: speculation is off, or the last
// round of this reply had no draft.
func writesPlainly(s *state.State) bool {
	return speculationOff(s) || s.Last != nil && lastReply(s) == s.Reply.Number && len(s.Last.Draft) == 0
}

// phaseWord names the state of the program in one word.
func phaseWord(s *state.State) string {
	if s.Phase == state.Drafting && writesPlainly(s) {
		return "writing"
	}
	switch s.Phase {
	case state.Loading:
		return "loading"
	case state.Idle:
		return "ready"
	case state.Prefilling:
		return "reading"
	case state.Drafting:
		return "drafting"
	case state.Verifying:
		return "checking"
	default:
		return "starting"
	}
}
