package pane

import (
	"specula/engine/event"
	"specula/ui/paint"
	"specula/ui/theme"
)

// legendEntry is a word for what became of a token. The chat, the picture of rounds and their legends
// use the same words.
type legendEntry struct {
	name  string
	fate  event.Verdict // the fate that has this word; it decides the look in the chat
	shade theme.Shade   // the look of its part of a column; Empty if it has none
}

var legend = []legendEntry{
	{"kept", event.Accepted, theme.Kept}, {"refused", event.Rejected, theme.Refused}, {"discarded", event.Discarded, theme.Unused},
	{"instead", event.Resampled, theme.Instead}, {"free", event.Bonus, theme.Free}, {"no draft", event.Plain, theme.Own},
	unchecked,
}

// unchecked is the word for a draft that the target has not judged yet.
var unchecked = legendEntry{"unchecked", "", theme.Empty}

// textLegend returns the words for the looks of the chat. It leaves out discarded, because the chat shows
// such tokens only on request, and unchecked, if w cells have no room for this word.
func textLegend(w int) []legendEntry {
	var list []legendEntry
	for _, e := range legend {
		if e.shade == theme.Unused {
			continue
		}
		if e == unchecked && textLegendWidth(append(list, e)) > w {
			break
		}
		list = append(list, e)
	}
	return list
}

func textLegendWidth(list []legendEntry) int {
	w := 0
	for _, e := range list {
		w += len(e.name) + 2
	}
	return max(0, w-2)
}

// putTextLegend writes the names of the looks that tokens have in the chat, each name in its look.
func putTextLegend(th *theme.Theme, out *paint.Line, list []legendEntry) {
	for i, e := range list {
		if i > 0 {
			out.Put("", "  ")
		}
		out.Put(th.Fate(e.fate), e.name)
	}
}

// roundsHeading draws the name of the picture and the names of a column's parts, in at most rows rows. With
// c.looks, these names have the looks of tokens in the chat. signs explains the signs above the columns; it
// is "" if the heading had room for this explanation.
func (c *column) roundsHeading(rows int) (lines []string, signs string) {
	out := c.line().Put(c.th.Title, "rounds").Put("", " ")
	for _, e := range legend {
		if e.shade == theme.Empty {
			continue
		}
		if out.Left() < len(e.name)+4 {
			if len(lines)+1 >= rows {
				break
			}
			lines, out = append(lines, out.String()), c.line()
		}
		sign, style := c.th.Shade(e.shade)
		look := c.th.Label
		if c.looks {
			look = c.th.Fate(e.fate)
		}
		out.Put("", " ").Put(style, sign).Put("", " ").Put(look, e.name)
	}
	if c.looks && len(unchecked.name)+3 <= out.Left() {
		out.Put("", "  ").Put(c.th.Fate(unchecked.fate), unchecked.name)
	}
	signs = c.th.Glyph.Probe + " measuring  " + c.th.Glyph.Dash + " " + c.th.Glyph.Gamma + " allowed"
	if paint.Width(signs)+3 <= out.Left() {
		out.Put(c.th.Label, "  "+signs)
		signs = ""
	}
	return append(lines, out.String()), signs
}

// fateName is the word of the legends for what became of a token.
func fateName(fate event.Verdict) string {
	for _, e := range legend {
		if e.fate == fate {
			return e.name
		}
	}
	return string(fate)
}
