package tokenizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// byteTokenizer has a token for each byte and a few more, so that a text can be split anywhere.
// Ids 0 to 255 are the bytes; the last id is a control token.
func byteTokenizer(t testing.TB, model string, extra ...string) *Tokenizer {
	t.Helper()
	spec := Spec{Model: model, BOS: -1, EOS: -1, EOT: -1, UNK: -1, PAD: -1, AddSpacePrefix: true}
	for b := range 256 {
		if model == "gpt2" {
			spec.Tokens = append(spec.Tokens, string(byteRune(byte(b))))
			spec.Types = append(spec.Types, TypeNormal)
		} else {
			const digits = "0123456789ABCDEF"
			spec.Tokens = append(spec.Tokens, "<0x"+string(digits[b>>4])+string(digits[b&15])+">")
			spec.Types = append(spec.Types, TypeByte)
		}
	}
	for _, text := range extra {
		spec.Tokens = append(spec.Tokens, text)
		spec.Types = append(spec.Types, TypeNormal)
	}
	spec.Tokens = append(spec.Tokens, "<|stop|>")
	spec.Types = append(spec.Types, TypeControl)
	if model == "llama" {
		spec.Scores = make([]float32, len(spec.Tokens))
	}
	return mustNew(t, spec)
}

// stream decodes ids one by one. It returns a text for each id, and then the text of Flush.
func stream(tok *Tokenizer, ids []int32) (texts []string) {
	d := tok.NewDecoder()
	for _, id := range ids {
		texts = append(texts, d.Next(id))
	}
	return append(texts, d.Flush())
}

func TestDecoderHoldsBack(t *testing.T) {
	extra := []string{"Hello", "日本", "👩\u200d", "👧", "🇩", "🇪", "🇫", "🇷", "👍", "🏽", "न", "म", "स्", "ते", "ก", "้", "e", "\u0301", "!", "❤", "\ufe0f"}
	spelled := slices.Clone(extra)
	for i, text := range spelled {
		spelled[i] = string(appendByteText(nil, text))
	}
	tok := byteTokenizer(t, "gpt2", spelled...)
	const stop = "<|stop|>"
	tests := []struct {
		name   string
		tokens []string
		want   []string // one per token, then the flush
	}{
		{"words go at once", []string{"Hello", "!"}, []string{"Hello", "!", ""}},
		{"Han goes at once", []string{"日本", "!"}, []string{"日本", "!", ""}},
		{"bytes of a character", []string{"\xE2", "\x82", "\xAC"}, []string{"", "", "€", ""}},
		{"letters before a part of a character go", []string{"Hello", "\xE2", "\x82", "\xAC"}, []string{"Hello", "", "", "€", ""}},
		{"part at the end", []string{"\xE2", "\x82"}, []string{"", "", "\uFFFD\uFFFD"}},
		{"part that is not continued", []string{"\xE2", "Hello"}, []string{"", "\uFFFDHello", ""}},
		{"bytes that begin nothing", []string{"\xFF", "\x80", "e"}, []string{"\uFFFD", "\uFFFD", "e", ""}},
		{"joined emoji", []string{"👩\u200d", "👧", "!"}, []string{"", "", "👩\u200d👧!", ""}},
		{"joiner at the end", []string{"👩\u200d"}, []string{"", "👩\u200d"}},
		{"skin tone", []string{"👍", "🏽", "👍"}, []string{"", "", "👍🏽", "👍"}},
		{"heart becomes an emoji", []string{"❤", "\ufe0f", "e"}, []string{"", "", "❤\ufe0fe", ""}},
		{"flags", []string{"🇩", "🇪", "🇫", "🇷"}, []string{"", "🇩🇪", "", "🇫🇷", ""}},
		{"Devanagari", []string{"न", "म", "स्", "ते", "!"}, []string{"", "न", "म", "", "स्ते!", ""}},
		{"Thai", []string{"ก", "้", "ก"}, []string{"", "", "ก้", "ก"}},
		{"a mark after a letter is its own text", []string{"e", "\u0301"}, []string{"e", "", "\u0301"}},
		{"control token completes", []string{"👍", stop, "Hello", "\xE2", stop}, []string{"", "👍", "Hello", "", "\uFFFD", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var ids []int32
			for _, text := range test.tokens {
				if text == stop {
					ids = append(ids, int32(tok.VocabSize()-1))
				} else if len(text) == 1 {
					ids = append(ids, int32(text[0]))
				} else if i := slices.Index(extra, text); i >= 0 {
					ids = append(ids, int32(256+i))
				} else {
					t.Fatalf("no token %q", text)
				}
			}
			if got := stream(tok, ids); !slices.Equal(got, test.want) {
				t.Errorf("%q gives\n     %q\nwant %q", test.tokens, got, test.want)
			}
		})
	}
}

func TestDecoderSpaceBeforeText(t *testing.T) {
	f := readSentencePiece(t)
	tok := mustNew(t, f.spec())
	hello := tok.Encode("hello world")
	if got := stream(tok, hello)[0]; strings.HasPrefix(got, " ") {
		t.Errorf("the first token gives %q: the space put before the text is still there", got)
	}
	for _, text := range []string{"", "x", " x", "  x", " ", "\n x", "héllo", "日本"} {
		if got := tok.Decode(tok.Encode(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
	twice := append(append(slices.Clone(hello), tok.vocab.plain["▁"], 2), hello...)
	if got := tok.Decode(twice); got != "hello world hello world" {
		t.Errorf("around a control token: %q, want the text twice with one space between", got)
	}
}

// Whatever ids arrive, the joined texts are the bytes of all ids, with invalid bytes replaced.
func TestDecoderPartsJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	toks := []*Tokenizer{
		mustNew(t, pairSpec()), mustNew(t, readBytePair(t).spec("qwen2")), byteTokenizer(t, "gpt2"), byteTokenizer(t, "llama", "▁", "▁a"),
	}
	for _, tok := range toks {
		for range 500 {
			ids := make([]int32, rng.IntN(40))
			for i := range ids {
				ids[i] = rng.Int32N(int32(tok.VocabSize())+4) - 2 // some outside the vocabulary
			}
			var want strings.Builder
			for run := range runsBetweenControls(tok, ids) {
				var raw []byte
				for _, id := range run {
					raw = append(raw, tok.Bytes(id)...)
				}
				if tok.addSpace && len(raw) > 0 && raw[0] == ' ' {
					raw = raw[1:]
				}
				want.WriteString(string([]rune(string(raw)))) // one U+FFFD for each invalid byte
			}
			if got := strings.Join(stream(tok, ids), ""); got != want.String() {
				t.Fatalf("%d: got %q, want %q", ids, got, want.String())
			}
		}
	}
}

func runsBetweenControls(tok *Tokenizer, ids []int32) func(yield func([]int32) bool) {
	return func(yield func([]int32) bool) {
		start := 0
		for i, id := range ids {
			if tok.IsControl(id) {
				if !yield(ids[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(ids[start:])
	}
}

// No text ends inside a visible character of the scripts and emoji that the decoder holds back, although
// every byte is a token of its own. Package uniseg says where a visible character ends.
func TestDecoderKeepsGraphemesWhole(t *testing.T) {
	tok := byteTokenizer(t, "gpt2")
	texts := []string{
		"👩‍👩‍👧‍👦👍🏽 ok 🇩🇪🇫🇷🇬🇧❤️‍🔥🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F!",
		"क्षत्रिय नमस्ते दुनिया।", "สวัสดีชาวโลก ก้ก๋", "ကောင်းပါတယ်", "각\u1100\u1161\u11A8나",
		"日本語テキスト 你好，世界！", "Hello, Größe naïve мир!",
	}
	for _, text := range texts {
		var ends []int
		for g := uniseg.NewGraphemes(text); g.Next(); {
			_, to := g.Positions()
			ends = append(ends, to)
		}
		d, at := tok.NewDecoder(), 0
		for i := range len(text) {
			at += len(d.Next(int32(text[i])))
			if at > 0 && !slices.Contains(ends, at) {
				t.Errorf("%q: text ends inside a character, after %q", text, text[:at])
			}
		}
		if at += len(d.Flush()); at != len(text) {
			t.Errorf("%q: %d of %d bytes arrived", text, at, len(text))
		}
	}
}

func TestDecoderHoldsLittle(t *testing.T) {
	tok := byteTokenizer(t, "gpt2")
	for _, endless := range []string{"\u0301", "👩\u200d", "\xE2", "\x80", "\U000E0067", "क्", "\u1100"} {
		d := tok.NewDecoder()
		var got strings.Builder
		for _, b := range []byte("e" + strings.Repeat(endless, 1000)) {
			got.WriteString(d.Next(int32(b)))
			if len(d.held) > maxHeldBytes+utf8.UTFMax {
				t.Fatalf("%q: %d bytes held, want at most %d", endless, len(d.held), maxHeldBytes+utf8.UTFMax)
			}
		}
		if got.Len() < 1000 {
			t.Errorf("%q: only %d bytes arrived before the flush, want at least 1000", endless, got.Len())
		}
	}
}

func TestReadableShowsWhatCannotBePrinted(t *testing.T) {
	tok := byteTokenizer(t, "gpt2", "Ġthe", "ĊĊ", "âĤ", "ĉx", strings.Repeat("Ġ", 100), "Ã©")
	want := []string{" the", `\n\n`, `\xE2\x82`, `\tx`, strings.Repeat(" ", 32) + "…", "é", "<|stop|>", "token 263", "token 9999"}
	for i, want := range want {
		id := int32(256 + i)
		if want == "token 9999" {
			id = 9999
		}
		if got := tok.Readable(id); got != want {
			t.Errorf("token %d: got %q, want %q", id, got, want)
		}
	}
	if got := tok.Readable(0x1B); got != `\x1B` {
		t.Errorf("escape is shown as %q", got)
	}
}
