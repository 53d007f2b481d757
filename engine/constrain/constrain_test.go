package constrain

import (
	"math/rand/v2"
	"regexp"
	"testing"
	"unicode/utf8"
)

// matches runs the automaton of a vocabulary of all bytes over a text.
func matches(t testing.TB, c *Constraint, text string) bool {
	t.Helper()
	a := newAutomaton(t.Context(), c, everyByte(), false)
	ok := a.accepts(a.run(a.start, []byte(text)))
	if a.work.err != nil {
		t.Fatal(a.work.err)
	}
	return ok
}

var patterns = []string{
	`a*b+c?`, `(ab|a)(c|bcd)*`, `[a-c]{2,5}`, `(a|b|ab){0,6}c`, `((a*)*b)?`, `.*`, `a.c`, `[^a]b|é+`, `(?i)aBc`, `(a{2,3}){2}`,
	`(|a)+b`, `^ab$`, `^(a|b)*$`, `(?s).{3}`, `[b-dé-ü]+`, `a{3}`, `(a?){4}a{4}`, `()`, `[^\x00-\x{10FFFF}]|a`, `(?:(?:ab)*c)*`,
}

func TestRegexAgreesWithGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "b", "c", "d", "é", "A", "B", "\n", "日", "\xc3", "\xff", "ü"}
	for _, pattern := range patterns {
		c, err := Regex(t.Context(), pattern)
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		oracle := regexp.MustCompile(`\A(?:` + pattern + `)\z`)
		accepted := 0
		a := newAutomaton(t.Context(), c, everyByte(), false)
		for i := range 600 {
			text := ""
			if i%3 > 0 {
				text = randomText(t, a, rng, rng.IntN(12), "abcABC")
			}
			if i%3 > 1 && text != "" {
				at := rng.IntN(len(text))
				text = text[:at] + letters[rng.IntN(len(letters))] + text[at+rng.IntN(2):]
			}
			for range rng.IntN(9) * ((i%3 - 1) * (i%3 - 2) / 2) {
				text += letters[rng.IntN(min(len(letters), 2+rng.IntN(len(letters))))]
			}
			want := oracle.MatchString(text)
			if !isUTF8(text) {
				want = false // Go reads an invalid byte as U+FFFD
			}
			if got := a.accepts(a.run(a.start, []byte(text))); got != want {
				t.Errorf("%s on %q: %v, Go says %v", pattern, text, got, want)
			}
			if want {
				accepted++
			}
		}
		if a.work.err != nil {
			t.Error(a.work.err)
		}
		if accepted == 0 {
			t.Errorf("%s: no random text was accepted; the test shows nothing", pattern)
		}
	}
}

func isUTF8(s string) bool { return utf8.ValidString(s) }

func TestGrammar(t *testing.T) {
	c, err := Grammar(t.Context(), `
# sums of numbers in brackets
root ::= term (("+" | "-")
         term)*
term ::= [0-9]{1,3} | "(" root ")" | "\x41\u00e9" | [^\x00-\x7f]{2}
`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"1": true, "1+22": true, "(1+(2-333))": true, "Aé": true, "é日": true, "é": false, "1234": false, "(1": false, "1)": false, "": false,
		"1+": false, "((((((1))))))-5": true,
	} {
		if got := matches(t, c, text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
