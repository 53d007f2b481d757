package page

import (
	"regexp"
	"strings"
	"testing"
)

// The page has the words and, for each part of a column, the colour that the screen has. A legend and the
// columns that it explains have the same colours.
func TestLegendsAreThoseOfTheScreen(t *testing.T) {
	parts := map[string]string{
		"k": "kept", "r": "refused", "d": "discarded", "in": "instead", "f": "free", "o": "no draft",
		"tc": "check", "td": "draft", "to": "rest",
	}
	seen := map[string]string{}
	for class, word := range parts {
		if key := `<span class="key ` + class + `">` + word + `</span>`; !strings.Contains(document, key) {
			t.Errorf("no legend has %s", key)
		}
		column, key := colourOf(t, ".col ."+class), colourOf(t, ".key."+class+"::before")
		if column != key {
			t.Errorf("%s is %s in the columns, and %s in the legend", word, column, key)
		}
		if other, taken := seen[column]; taken {
			t.Errorf("%s and %s have the colour %s", word, other, column)
		}
		seen[column] = word
	}
}

// colourOf is the name of the first colour in the rule of a selector.
func colourOf(t *testing.T, selector string) string {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(selector) + ` \{[^}]*?var\((--[a-z]+)\)`).FindStringSubmatch(style)
	if found == nil {
		t.Fatalf("the style has no colour for %s", selector)
	}
	return found[1]
}
