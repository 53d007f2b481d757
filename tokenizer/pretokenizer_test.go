package tokenizer

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/dlclark/regexp2"
)

// translated writes an expression in regexp2's syntax.
func translated(expression string) string {
	expression = regexp.MustCompile(`\\x\{([0-9a-f]+)\}`).ReplaceAllStringFunc(expression, func(escape string) string {
		r, _ := strconv.ParseInt(escape[3:len(escape)-1], 16, 32)
		return string(rune(r))
	})
	expression = regexp.MustCompile(`\[([^\]]*)&&\[\^([^\]]*)\]\]([*+]?)`).ReplaceAllString(expression, `(?:(?![$2])[$1])$3`)
	var han strings.Builder
	for r := range rune(unicode.MaxRune) {
		if in := unicode.Is(unicode.Han, r); in && !unicode.Is(unicode.Han, r-1) {
			han.WriteString(string(r) + "-") // a range begins
		} else if !in && unicode.Is(unicode.Han, r-1) {
			han.WriteRune(r - 1)
		}
	}
	const word = `[\p{L}\p{M}\p{N}\p{Pc}]`
	return strings.NewReplacer(`[\p{Han}]`, "["+han.String()+"]", `\p{Han}`, "["+han.String()+"]",
		`\b`, "(?:(?<="+word+")(?!"+word+")|(?<!"+word+")(?="+word+"))").Replace(expression)
}

// wordsByPattern returns the matches of a pattern, and what lies between them, in the order of the
// text.
func wordsByPattern(t testing.TB, re *regexp2.Regexp, text string) (words []string) {
	t.Helper()
	runes, end := []rune(text), 0
	m, err := re.FindRunesMatch(runes)
	for ; m != nil && err == nil; m, err = re.FindNextMatch(m) {
		if end < m.Index {
			words = append(words, string(runes[end:m.Index]))
		}
		words = append(words, m.String())
		end = m.Index + m.Length
	}
	if err != nil {
		t.Fatal(err)
	}
	if end < len(runes) {
		words = append(words, string(runes[end:]))
	}
	return words
}

func wordsBySplitter(t testing.TB, name, text string) (words []string) {
	t.Helper()
	pre, err := choosePreTokenizer(Spec{Model: "gpt2", Pre: name})
	if err != nil {
		t.Fatal(err)
	}
	return wordsOf(pre.compile(), text)
}

func wordsOf(c cutter, text string) (words []string) {
	c.words(text, func(word string) { words = append(words, word) })
	return words
}

// splitterComparison returns a check that each of some pre-tokenizers cuts a text as regexp2 does.
func splitterComparison(names ...string) func(t testing.TB, text string) {
	compiled, ours := make(map[string][]*regexp2.Regexp), make(map[string]cutter)
	for _, name := range names {
		pre, err := choosePreTokenizer(Spec{Model: "gpt2", Pre: name})
		if err != nil {
			panic(err)
		}
		ours[name] = pre.compile()
		for _, expression := range pre.expressions {
			compiled[name] = append(compiled[name], regexp2.MustCompile(translated(expression), regexp2.None))
		}
	}
	return func(t testing.TB, text string) {
		t.Helper()
		for name, steps := range compiled {
			want := []string{text}
			for _, re := range steps {
				var cut []string
				for _, part := range want {
					cut = append(cut, wordsByPattern(t, re, part)...)
				}
				want = cut
			}
			if got := wordsOf(ours[name], text); !slices.Equal(got, want) {
				t.Fatalf("%s: %q\n got %q\nwant %q", name, text, got, want)
			}
		}
	}
}

// everySplitter has the first name of each.
func everySplitter() (names []string) {
	for _, p := range preTokenizers() {
		first, _, _ := strings.Cut(p.names, " ")
		names = append(names, first)
	}
	return names
}

// alphabet has what the patterns tell apart: contractions, every kind of space, letters, marks,
// digits and signs.
var alphabet = strings.Split("' s S t re RE ve M ll d ſ K   \n \r \t \v \f \u0085 \u00a0 \u2003 \u2028 \u3000 \u200b \u180e "+
	"a Z é ß я 日 한 क ि ้ \u0301 1 9 ٣ ½ Ⅻ ² . , - _ € $ 😀 \u200d \U0001D54F \x00 \x1c \u0600 \ufeff", " ")

func randomText(rng *rand.Rand, parts int) string {
	var text strings.Builder
	for range 1 + rng.IntN(parts) {
		part := alphabet[rng.IntN(len(alphabet))]
		if part == "" || rng.IntN(6) == 0 {
			part = " "
		}
		text.WriteString(strings.Repeat(part, 1+rng.IntN(2)*rng.IntN(4)))
	}
	return text.String()
}

func TestSplittersEqualRegexp2(t *testing.T) {
	check := splitterComparison(everySplitter()...)
	for _, c := range readBytePair(t).Cases {
		check(t, c.Text)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		check(t, randomText(rng, 16))
	}
	check = splitterComparison("gpt-2", "smollm", "qwen2", "llama-bpe")
	// Characters, alone and next to others that change what word they belong to.
	for r := rune(0); r < 0x20000; r++ {
		if r > 0x3200 {
			r += 12 // large blocks of one class
		}
		if r < 0xD800 || r > 0xDFFF {
			check(t, string(r)+"a "+string(r)+"1'"+string(r)+"\n"+string(r))
		}
	}
}

func TestSplittersByHand(t *testing.T) {
	tests := []struct {
		name, pre, text string
		want            []string
	}{
		{"contraction", "gpt2", "it's", []string{"it", "'s"}},
		{"contraction in capitals is none", "gpt2", "IT'S", []string{"IT", "'", "S"}},
		{"contraction in capitals", "qwen2", "IT'Ll", []string{"IT", "'Ll"}},
		{"last space goes with the word", "gpt2", "a   b", []string{"a", "  ", " b"}},
		{"trailing spaces stay together", "qwen2", "a   ", []string{"a", "   "}},
		{"spaces before a line end", "qwen2", "a \n \n  b", []string{"a", " \n \n", " ", " b"}},
		{"signs take line ends", "qwen2", "x = {\r\n\r\n y", []string{"x", " =", " {\r\n\r\n", " y"}},
		{"single digits", "qwen2", " 2024", []string{" ", "2", "0", "2", "4"}},
		{"digits by three", "llama-bpe", " 20245", []string{" ", "202", "45"}},
		{"any sign may lead a word", "llama-bpe", "(a\tb", []string{"(a", "\tb"}},
		{"digits lead with a space", "gpt2", "a 2024", []string{"a", " 2024"}},
		{"single digits without the space before them", "smollm", "a 20 b", []string{"a", " ", "2", "0", " b"}},
		{"spaces before a digit stay together", "smollm", "a   2", []string{"a", "   ", "2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := wordsBySplitter(t, test.pre, test.text); !slices.Equal(got, test.want) {
				t.Errorf("%s: %q gives %q, want %q", test.pre, test.text, got, test.want)
			}
		})
	}
}

func FuzzSplitters(f *testing.F) {
	for _, c := range readBytePair(f).Cases {
		f.Add(c.Text)
	}
	f.Add("A〆々") // the first sign looks like Han and is not
	check := splitterComparison(everySplitter()...)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			return // the backtracking patterns take too long
		}
		check(t, strings.ToValidUTF8(text, "\uFFFD"))
	})
}
