package tokenizer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// bytePairFixture and sentencePieceFixture have small vocabularies, and the ids that the reference
// implementations give for plain, multilingual and nasty texts. The field Made says how they were
// made.
type bytePairFixture struct {
	Made         string
	Tokens       []string
	FirstSpecial int32
	Merges       []string
	Cases        []struct {
		Text string
		IDs  map[string][]int32
	}
	Chats []struct {
		Segments []fixtureSegment
		IDs      map[string][]int32
	}
}

type fixtureSegment struct{ Segment }

func (s *fixtureSegment) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&s.Text, &s.Special})
}

type sentencePieceFixture struct {
	Made   string
	Tokens []string
	Scores []float32
	Types  []int32
	Cases  []struct {
		Text string
		IDs  []int32 // with a space put before the text
		Bare []int32 // without
	}
}

func readFixture[T any](t testing.TB, name string) T {
	t.Helper()
	var fixture T
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, &fixture)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fixture
}

func (f bytePairFixture) spec(pre string) Spec {
	types := slices.Repeat([]int32{TypeNormal}, len(f.Tokens))
	for i := range types[f.FirstSpecial:] {
		types[int(f.FirstSpecial)+i] = TypeControl
		if i >= 3 { // <think> and </think>
			types[int(f.FirstSpecial)+i] = TypeUserDefined
		}
	}
	return Spec{
		Model: "gpt2", Pre: pre, Tokens: f.Tokens, Types: types, Merges: f.Merges,
		BOS: -1, EOS: f.FirstSpecial + 2, EOT: -1, UNK: -1, PAD: -1,
	}
}

func (f sentencePieceFixture) spec() Spec {
	return Spec{
		Model: "llama", Tokens: f.Tokens, Types: f.Types, Scores: f.Scores,
		BOS: 1, EOS: 2, EOT: -1, UNK: 0, PAD: -1, AddBOS: true, AddSpacePrefix: true,
	}
}

func readBytePair(t testing.TB) bytePairFixture {
	return readFixture[bytePairFixture](t, "testdata/bytepair.json")
}

func readSentencePiece(t testing.TB) sentencePieceFixture {
	return readFixture[sentencePieceFixture](t, "testdata/sentencepiece.json")
}

func checkIDs(t *testing.T, tok *Tokenizer, what string, got, want []int32) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	spell := func(ids []int32) (texts []string) {
		for _, id := range ids {
			texts = append(texts, tok.Readable(id))
		}
		return texts
	}
	t.Errorf("%q:\n got %d %q\nwant %d %q", what, got, spell(got), want, spell(want))
}

func TestBytePairEqualsReference(t *testing.T) {
	f := readBytePair(t)
	for _, pre := range []string{"gpt2", "qwen2", "llama-bpe"} {
		t.Run(pre, func(t *testing.T) {
			tok := mustNew(t, f.spec(pre))
			for _, c := range f.Cases {
				checkIDs(t, tok, c.Text, tok.Encode(c.Text), c.IDs[pre])
			}
		})
	}
}

// preTokenizerFixture groups the names in tokenizer.ggml.pre by how they cut texts. The vocabulary
// has a token for each symbol and one for each pair of symbols that the texts have. So two symbols
// are joined only inside a word, and the lengths of the tokens show where words end. Symbols are
// the bytes but the missing ones; for names that are not byte-level, characters below U+0250.
type preTokenizerFixture struct {
	Made     string
	Missing  []int
	Texts    []string
	Families []struct {
		Names   []string
		AddBOS  bool
		Lengths []string // for each text, a letter for each token: 1 or 2 symbols, b for a byte token
	}
}

// symbols returns those that the vocabulary has, and those that the texts have, in order.
func (f preTokenizerFixture) symbols(byteLevel bool) (all, used []string) {
	seen := map[string]bool{}
	for _, text := range f.Texts {
		for _, r := range strings.ReplaceAll(text, " ", "▁") {
			seen[string(r)] = (r >= '\t' && r < 0x250) || r == '▁'
		}
		for i := range len(text) {
			seen[fmt.Sprintf("byte %d", text[i])] = true
		}
	}
	if !byteLevel {
		for r := range '▁' + 1 {
			if seen[string(r)] {
				used = append(used, string(r))
			}
		}
		return used, used
	}
	for value := range 256 {
		if slices.Contains(f.Missing, value) {
			continue
		}
		text := string(byteRune(byte(value)))
		all = append(all, text)
		if seen[fmt.Sprintf("byte %d", value)] {
			used = append(used, text)
		}
	}
	return all, used
}

func (f preTokenizerFixture) spec(pre string) Spec {
	spec := Spec{Model: "gpt2", Pre: pre, UNK: -1, PAD: -1, EOT: -1}
	all, used := f.symbols(spec.byteLevel())
	spec.Tokens = all
	for _, left := range used {
		for _, right := range used {
			spec.Tokens = append(spec.Tokens, left+right)
			spec.Merges = append(spec.Merges, left+" "+right)
		}
	}
	spec.Types = slices.Repeat([]int32{TypeNormal}, len(spec.Tokens))
	for value := range 256 {
		if !spec.byteLevel() {
			spec.Tokens = append(spec.Tokens, fmt.Sprintf("<0x%02X>", value))
			spec.Types = append(spec.Types, TypeByte)
		}
	}
	spec.BOS, spec.EOS = int32(len(spec.Tokens)), int32(len(spec.Tokens)+1)
	spec.Tokens = append(spec.Tokens, "<|begin|>", "<|end|>")
	spec.Types = append(spec.Types, TypeControl, TypeControl)
	return spec
}

// lengths writes ids as the fixture does.
func lengths(t *Tokenizer, ids []int32) string {
	var text []byte
	for _, id := range ids {
		switch n := utf8.RuneCountInString(t.Token(id)); {
		case t.vocab.types[id] == TypeByte:
			text = append(text, 'b')
		default:
			text = append(text, '0'+byte(n))
		}
	}
	return string(text)
}

// PRETOKENIZERS may name a larger file, with random texts.
func TestPreTokenizersEqualReference(t *testing.T) {
	f := readFixture[preTokenizerFixture](t, cmp.Or(os.Getenv("PRETOKENIZERS"), "testdata/pretokenizers.json"))
	known := map[string]bool{"gpt2": true} // our own name
	for _, family := range f.Families {
		for _, name := range family.Names {
			known[name] = true
			spec := f.spec(name)
			if got := spec.PrependsBOS(); got != family.AddBOS {
				t.Errorf("%s: BOS in front %v, want %v", name, got, family.AddBOS)
			}
			tok := mustNew(t, spec)
			for i, text := range f.Texts {
				if got := lengths(tok, tok.Encode(text)); got != family.Lengths[i] {
					t.Errorf("%s: %q\n got %s\nwant %s", name, text, got, family.Lengths[i])
				}
			}
		}
	}
	for _, name := range PreTokenizers() {
		if !known[name] {
			t.Errorf("%s is accepted, but no reference was asked about it: add it to testdata/pretokenizers.py", name)
		}
	}
}

// A chat without forged markers gives the same ids as its rendered string, although its parts come
// as segments.
func TestSegmentsEqualRenderedString(t *testing.T) {
	f := readBytePair(t)
	for _, pre := range []string{"gpt2", "qwen2", "llama-bpe"} {
		t.Run(pre, func(t *testing.T) {
			tok := mustNew(t, f.spec(pre))
			for _, c := range f.Chats {
				var segments []Segment
				rendered := Segment{Special: true}
				for _, s := range c.Segments {
					segments = append(segments, s.Segment)
					rendered.Text += s.Text
				}
				checkIDs(t, tok, rendered.Text, tok.EncodeSegments(segments), c.IDs[pre])
				checkIDs(t, tok, rendered.Text, tok.EncodeSegments([]Segment{rendered}), c.IDs[pre])
			}
		})
	}
}

func TestSentencePieceEqualsReference(t *testing.T) {
	f := readSentencePiece(t)
	prefixed := mustNew(t, f.spec())
	spec := f.spec()
	spec.AddSpacePrefix = false
	bare := mustNew(t, spec)
	for _, c := range f.Cases {
		checkIDs(t, prefixed, c.Text, prefixed.Encode(c.Text), c.IDs)
		checkIDs(t, bare, c.Text, bare.Encode(c.Text), c.Bare)
	}
}

// The embedded pair was trained with another implementation; reference.json has its ids.
func TestPairEqualsReference(t *testing.T) {
	type reference struct {
		Cases []struct {
			Prompt  string
			IDs     []int32 `json:"ids"`
			TextIDs []int32 `json:"text_ids"`
		}
	}
	cases := readFixture[reference](t, "../assets/reference/reference.json").Cases
	if len(cases) < 20 {
		t.Fatalf("%d cases; there should be at least 20", len(cases))
	}
	tok := mustNew(t, pairSpec())
	for _, c := range cases {
		checkIDs(t, tok, c.Prompt, tok.Encode(c.Prompt), c.TextIDs)
		chat := []Segment{
			{"<|im_start|>user\n", true}, {c.Prompt, false}, {"<|im_end|>\n", true}, {"<|im_start|>assistant\n", true},
		}
		checkIDs(t, tok, c.Prompt, tok.EncodeSegments(chat), c.IDs)
	}
}
