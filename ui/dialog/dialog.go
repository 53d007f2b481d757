// Package dialog holds the dialogs that cover the screen: the help, made from the tables of keys and
// commands, and the list of saved chats.
package dialog

import (
	"strings"

	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"specula/ui/command"
	"specula/ui/keys"
	"specula/ui/paint"
	"specula/ui/theme"
)

// Help shows the keys, the commands, and what the colours mean.
type Help struct {
	view  viewport.Model
	drawn drawnFor
}

// drawnFor is the theme and the width that the content was made for.
type drawnFor struct {
	th *theme.Theme
	w  int
}

// NewHelp returns the help, scrolled to its first line.
func NewHelp() *Help { return &Help{view: viewport.New()} }

// Update scrolls. It never closes the dialog.
func (h *Help) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "home", "g":
			h.view.GotoTop()
			return nil
		case "end", "G":
			h.view.GotoBottom()
			return nil
		}
	}
	var cmd tea.Cmd
	h.view, cmd = h.view.Update(msg)
	return cmd
}

// Draw returns height lines of width cells.
func (h *Help) Draw(th *theme.Theme, width, height int) []string {
	if want := (drawnFor{th, width}); h.drawn != want {
		h.drawn = want
		h.view.SetContentLines(helpLines(th, width))
	}
	h.view.SetWidth(width)
	h.view.SetHeight(max(height-2, 1))
	title := paint.NewLine(th, width).Put(th.Title, " Help")
	title.Right(th.Label, "↑↓ pgup pgdn scroll · esc closes ")
	lines := []string{title.String(), th.Rule.On(strings.Repeat(th.Glyph.HRule, width))}
	return paint.Block(append(lines, fitAll(th, h.view.View(), width)...), width, height)
}

// fitAll cuts or fills every line of a widget's drawing to w cells.
func fitAll(th *theme.Theme, drawing string, w int) []string {
	lines := strings.Split(drawing, "\n")
	for i := range lines {
		lines[i] = paint.Fit(th, "", lines[i], w)
	}
	return lines
}

func helpLines(th *theme.Theme, w int) []string {
	out := append([]string{paint.Spaces(w)}, legend(th, w)...)
	for _, l := range keys.Overlay() {
		if l.Keys == "" {
			out = append(out, paint.Spaces(w), paint.Fit(th, th.Title, " "+l.Does, w))
			continue
		}
		out = append(out, entry(th, w, keyColumn(w), th.Strong, l.Keys, l.Does)...)
	}
	out = append(out, paint.Spaces(w), paint.Fit(th, th.Title, " Commands, typed into the prompt (tab completes)", w))
	for _, c := range command.Table() {
		name := "/" + c.Name
		does := c.Doc
		if c.Args != "" {
			does += " (" + c.Args + ")"
		}
		out = append(out, entry(th, w, keyColumn(w), th.Strong, name, does)...)
	}
	return append(out, paint.Spaces(w))
}

// legend explains the fates, each in its style, and the signs for a measuring round and for q, p, u.
func legend(th *theme.Theme, w int) []string {
	rows := []struct {
		style theme.Style
		name  string
		does  string
	}{
		{th.Accepted, "kept", "drafted, and accepted by the target"},
		{th.Rejected, "refused", "drafted, and rejected: the first refusal of its round"},
		{th.Discarded, "discarded", "drafted after a refusal: never tested, it counts for nothing"},
		{th.Resampled, "instead", "drawn by the target in place of the refused token (resampled)"},
		{th.Bonus, "free", "drawn by the target after the whole draft was kept (the bonus token)"},
		{th.Plain, "no draft", "drawn by the target in a round without a draft"},
		{th.Pending, "unchecked", "drafted, and not checked yet"},
		{th.Warning, "measuring " + th.Glyph.Probe, "a round whose draft length was chosen to measure what it costs; often it has no draft"},
		{th.Strong, "q, p, u", "in the lane: the draft's probability of its token, the target's, and a random number from 0 to 1 that decides (kept if u times q is below p)"},
	}
	out := []string{paint.Fit(th, th.Title, " How to read the tokens", w)}
	for _, r := range rows {
		out = append(out, entry(th, w, min(fateColumn, keyColumn(w)), r.style, r.name, r.does)...)
	}
	return out
}

// fateColumn is the column where the explanations of the fates begin.
const fateColumn = 14

// keyColumn is the column where the explanations of keys and commands begin.
func keyColumn(w int) int { return min(34, w*2/5) }

// entry draws a name in its style, and its explanation, which is wrapped and begins in the column at.
func entry(th *theme.Theme, w, at int, style theme.Style, name, does string) []string {
	var out []string
	line := paint.NewLine(th, w).Put("", "  ").Put(style, name)
	if paint.Width(name)+3 > at {
		out = append(out, line.String())
		line = paint.NewLine(th, w)
	}
	for _, part := range paint.Wrap(does, w-at-1, len(does)) {
		out = append(out, line.Pad(at).Put("", part).String())
		line = paint.NewLine(th, w)
	}
	return out
}
