package theme_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"specula/ui/theme"
)

// backgrounds are those of common terminals: black, and the defaults of VS Code and Ubuntu; white,
// and the paper of Solarized.
var backgrounds = map[string][]colour{
	"dark":  {{0, 0, 0}, {0x1e, 0x1e, 0x1e}, {0x30, 0x0a, 0x24}},
	"light": {{255, 255, 255}, {0xfd, 0xf6, 0xe3}},
}

// foregrounds are the text colours of such terminals.
var foregrounds = map[string]colour{"dark": {0xd0, 0xd0, 0xd0}, "light": {0x20, 0x20, 0x20}}

// The least contrasts, after WCAG 2.2: 4.5 for text (1.4.3), 3 for graphics (1.4.11) and for faint text,
// which is less important. Rules between panes only decorate. Parts of a bar that touch have different hues
// and an order that is always the same; they must differ in brightness, too.
const (
	textLeast, graphicLeast, faintLeast, ruleLeast, touchLeast = 4.5, 3, 3, 1.7, 1.25
)

func TestContrast(t *testing.T) {
	for name, behind := range backgrounds {
		th, _ := theme.Named(name, true)
		for _, bg := range behind {
			check := func(what string, s theme.Style, least float64) {
				t.Helper()
				fg, faint := shown(s, foregrounds[name])
				if faint { // terminals show about the mean of both
					fg, least = mean(fg, bg), faintLeast
				}
				if got := contrast(fg, bg); got < least {
					t.Errorf("%s: %s on %v has a contrast of %.2f, want %.1f", name, what, bg, got, least)
				}
			}
			of := func(s theme.Style) float64 { return contrast(coloursOf(s)[0], bg) }
			for i, s := range []theme.Style{th.Strong, th.Label, th.Title, th.User, th.Warning, th.Error, th.Mark,
				th.Accepted, th.Rejected, th.Resampled, th.Bonus, th.Pending, th.Plain} {
				check(fmt.Sprintf("text style %d", i), s, textLeast)
			}
			check("a discarded token", th.Discarded, faintLeast)
			if of(th.Discarded) > of(th.Accepted) {
				t.Errorf("%s: a discarded token on %v stands out more than a kept one", name, bg)
			}
			check("the line of a graph", th.Graph, graphicLeast)
			check("a bar of the draft", th.Draft, graphicLeast)
			check("a rule", th.Rule, ruleLeast)
			for s := theme.Kept; s <= theme.Other; s++ {
				_, in := th.Shade(s)
				check(fmt.Sprintf("shade %d", s), in, graphicLeast)
			}
		}
		for _, pair := range [][2]theme.Shade{
			{theme.Kept, theme.Refused}, {theme.Kept, theme.Unused}, {theme.Kept, theme.Free}, {theme.Refused, theme.Instead}, {theme.Unused, theme.Instead},
			{theme.Refused, theme.Unused},
			{theme.Checking, theme.Drafting}, {theme.Drafting, theme.Other}, {theme.Checking, theme.Other},
		} {
			both, ok := th.Between(pair[0], pair[1])
			colours := coloursOf(both)
			if !ok || len(colours) != 2 {
				t.Fatalf("%s: shades %v are drawn as %q", name, pair, both)
			}
			if got := contrast(colours[0], colours[1]); got < touchLeast {
				t.Errorf("%s: shades %v touch with a contrast of %.2f, want %.2f", name, pair, got, touchLeast)
			}
		}
	}
}

type colour [3]float64

var inSequence = regexp.MustCompile(`[34]8;2;(\d+);(\d+);(\d+)`)

// coloursOf returns the colours in a style, in their order.
func coloursOf(s theme.Style) []colour {
	var found []colour
	for _, m := range inSequence.FindAllStringSubmatch(string(s), -1) {
		var c colour
		for i := range c {
			c[i], _ = strconv.ParseFloat(m[i+1], 64)
		}
		found = append(found, c)
	}
	return found
}

// shown returns the text colour of a style, and whether it is faint.
func shown(s theme.Style, own colour) (fg colour, faint bool) {
	faint = strings.HasPrefix(string(s), "\x1b[2;") || strings.HasPrefix(string(s), "\x1b[2m")
	if found := coloursOf(s); len(found) > 0 {
		return found[0], faint
	}
	return own, faint
}

func mean(a, b colour) colour {
	return colour{(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2}
}

// contrast is the ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b colour) float64 {
	la, lb := luminance(a), luminance(b)
	return (math.Max(la, lb) + 0.05) / (math.Min(la, lb) + 0.05)
}

func luminance(c colour) float64 {
	linear := func(v float64) float64 {
		if v /= 255; v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}
