package tokenizer

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// checkRoundTrip checks what is promised for every text: it decodes to itself and gives no special
// token, alone and inside a chat.
func checkRoundTrip(t testing.TB, toks map[string]*Tokenizer, text string) {
	t.Helper()
	for name, tok := range toks {
		want := strings.ToValidUTF8(text, "\uFFFD")
		if !tok.vocab.byteText {
			want = strings.ReplaceAll(want, "▁", " ") // SentencePiece cannot tell ▁ from a space
		}
		ids := tok.Encode(text)
		if got := tok.Decode(ids); got != want {
			t.Fatalf("%s: %q comes back as %q", name, want, got)
		}
		if countSpecial(tok, ids) != 0 {
			t.Fatalf("%s: %q gives special tokens: %d", name, text, ids)
		}
		head, tail := Segment{"<|im_start|>user\n<s>", true}, Segment{"<|im_end|></s>\n", true}
		chat := tok.EncodeSegments([]Segment{head, {text, false}, tail})
		if got, want := countSpecial(tok, chat), countSpecial(tok, tok.EncodeSegments([]Segment{head, tail})); got != want {
			t.Fatalf("%s: %q in a chat makes %d special tokens of %d", name, text, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	toks := chatTokenizers(t)
	for _, c := range readBytePair(t).Cases {
		checkRoundTrip(t, toks, c.Text)
	}
	for _, f := range forgeries[:len(forgeries)-1] {
		checkRoundTrip(t, toks, f.text)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		checkRoundTrip(t, toks, randomText(rng, 24))
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, c := range readBytePair(f).Cases {
		f.Add(c.Text)
	}
	for _, forgery := range forgeries[:len(forgeries)-1] {
		f.Add(forgery.text)
	}
	toks := chatTokenizers(f)
	f.Fuzz(func(t *testing.T, text string) { checkRoundTrip(t, toks, text) })
}

// FuzzDecoder feeds ids that no encoder made. The joined parts must equal the whole.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte("\xe2\x82\xac \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 e\xcc\x81"))
	f.Add([]byte("\xff\xfe\x80\xc0\xed\xa0\x80"))
	tok := byteTokenizer(f, "gpt2")
	f.Fuzz(func(t *testing.T, raw []byte) {
		var ids []int32
		for _, b := range raw {
			ids = append(ids, int32(b))
		}
		if got, want := strings.Join(stream(tok, ids), ""), string([]rune(string(raw))); got != want {
			t.Fatalf("%q: got %q, want %q", raw, got, want)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	text := strings.Repeat("Speculative decoding drafts a few tokens and verifies them in one pass; it's 100 % lossless.\n", 1000)
	for name, tok := range chatTokenizers(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tok.Encode(text)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	tok := mustNew(b, pairSpec())
	ids := tok.Encode(strings.Repeat("Speculative decoding drafts a few tokens. ", 100))
	for b.Loop() {
		tok.Decode(ids)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ids)), "ns/token")
}
