package tokenizer

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestNewRefuses(t *testing.T) {
	llama := byteTokenizer(t, "llama").vocab
	llamaSpec := Spec{
		Model: "llama", Tokens: llama.tokens, Types: llama.types, Scores: make([]float32, len(llama.tokens)),
		BOS: -1, EOS: -1, EOT: -1, UNK: -1, PAD: -1,
	}
	tiny := tinySpec([]string{"ab"}, []int32{TypeNormal}, "a b")
	tests := []struct {
		name   string
		base   Spec
		change func(*Spec)
		want   []string // parts of the error
	}{
		{"model", tiny, func(s *Spec) { s.Model = "bert\x1b[2J" }, []string{"tokenizer.ggml.model", `"bert\x1b[2J"`, "gpt2", "llama"}},
		{"pre-tokenizer", tiny, func(s *Spec) { s.Pre = "mmbert" }, []string{"tokenizer.ggml.pre", `"mmbert"`, "docs/models.md"}},
		{"no tokens", tiny, func(s *Spec) { s.Tokens = nil }, []string{"tokenizer.ggml.tokens", "0 entries"}},
		{"short types", tiny, func(s *Spec) { s.Types = s.Types[:3] }, []string{"tokenizer.ggml.token_type", "3 entries", "257"}},
		{"type 0", tiny, func(s *Spec) { s.Types = slices.Clone(s.Types); s.Types[7] = 0 }, []string{"token_type", "entry 7 is 0", "1 to 6"}},
		{"type 7", tiny, func(s *Spec) { s.Types = slices.Clone(s.Types); s.Types[7] = 7 }, []string{"entry 7 is 7"}},
		{"no scores", llamaSpec, func(s *Spec) { s.Scores = nil }, []string{"tokenizer.ggml.scores", "0 entries", "257"}},
		{"score that is no number", llamaSpec, func(s *Spec) { s.Scores = slices.Clone(s.Scores); s.Scores[9] = float32(math.NaN()) }, []string{"scores entry 9"}},
		{"BOS beyond the vocabulary", tiny, func(s *Spec) { s.BOS = 257 }, []string{"tokenizer.ggml.bos_token_id", "257", "0 to 256"}},
		{"EOS below -1", tiny, func(s *Spec) { s.EOS = -2 }, []string{"eos_token_id", "-2"}},
		{"EOT", tiny, func(s *Spec) { s.EOT = 1 << 30 }, []string{"eot_token_id"}},
		{"UNK", tiny, func(s *Spec) { s.UNK = 1 << 30 }, []string{"unknown_token_id"}},
		{"PAD", tiny, func(s *Spec) { s.PAD = 1 << 30 }, []string{"padding_token_id"}},
		{"merge without a space", tiny, func(s *Spec) { s.Merges = []string{"a b", "ab"} }, []string{"tokenizer.ggml.merges", "entry 1", `"ab"`}},
		{"merge of nothing", tiny, func(s *Spec) { s.Merges = []string{""} }, []string{"merges entry 0"}},
		{"merge without a left side", tiny, func(s *Spec) { s.Merges = []string{" b"} }, []string{"merges entry 0"}},
		{"merge without a right side", tiny, func(s *Spec) { s.Merges = []string{"a "} }, []string{"merges entry 0"}},
		{"byte token with a sign", llamaSpec, func(s *Spec) { s.Tokens = slices.Clone(s.Tokens); s.Tokens[3] = "<0x-1>" }, []string{"tokens entry 3", `"<0x-1>"`, "<0x00>"}},
		{"byte token of three digits", llamaSpec, func(s *Spec) { s.Tokens = slices.Clone(s.Tokens); s.Tokens[3] = "<0x003>" }, []string{"tokens entry 3"}},
		{"no token for a byte", llamaSpec, func(s *Spec) { s.Tokens = slices.Clone(s.Tokens); s.Tokens[10] = "<0x0B>" }, []string{"0x0A", "unknown"}},
		{"byte that is the EOS", tiny, func(s *Spec) { s.EOS = 'a' }, []string{`entry 97 is "a"`, "0x61", "control token"}},
		{"long text is cut", tiny, func(s *Spec) { s.Pre = strings.Repeat("x", 1<<20) }, []string{"xxx"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := test.base
			test.change(&spec)
			_, err := New(spec)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if len(err.Error()) > 300 {
				t.Errorf("an error of %d bytes, want at most 300", len(err.Error()))
			}
		})
	}
}

// What real files contain must load, even if it looks wrong.
func TestNewAccepts(t *testing.T) {
	base := tinySpec([]string{"ab", "ab", "", "\x00", "a\x00", "\xff\xfe", strings.Repeat("z", 200_000)}, slices.Repeat([]int32{TypeNormal}, 7), "a b", "a b", "a missing")
	tests := []struct {
		name   string
		change func(*Spec)
	}{
		{"duplicate, empty, NUL, broken and long tokens, unknown merges", func(*Spec) {}},
		{"no types", func(s *Spec) { s.Types = nil }},
		{"no merges", func(s *Spec) { s.Merges = nil }},
		{"no pre-tokenizer", func(s *Spec) { s.Pre = "" }},
		{"BOS wanted but missing", func(s *Spec) { s.AddBOS = true }},
		{"padding with an ordinary token", func(s *Spec) { s.PAD = 0 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := base
			test.change(&spec)
			tok := mustNew(t, spec)
			want := []int32{256, '!'}
			if len(spec.Merges) == 0 {
				want = []int32{'a', 'b', '!'}
			}
			checkIDs(t, tok, "ab!", tok.EncodeSegments([]Segment{{"ab!", false}}), want)
		})
	}
	for _, name := range PreTokenizers() {
		if _, err := choosePreTokenizer(Spec{Model: "gpt2", Pre: name}); err != nil {
			t.Error(err)
		}
	}
}

func TestKindsAreGuessedWithoutTypes(t *testing.T) {
	spec := readSentencePiece(t).spec()
	want := mustNew(t, spec)
	spec.Types = nil
	got := mustNew(t, spec)
	for id, kind := range want.vocab.types {
		if kind == TypeUserDefined {
			kind = TypeNormal // cannot be told apart
		}
		if got.vocab.types[id] != kind {
			t.Errorf("token %d (%s): type %d, want %d", id, spec.Tokens[id], got.vocab.types[id], kind)
		}
	}
}

func TestTextWithoutATokenIsTheUnknownToken(t *testing.T) {
	spec := Spec{
		Model: "llama", Tokens: []string{"<unk>", "a", "b", "ab"}, Types: []int32{TypeUnknown, TypeNormal, TypeNormal, TypeNormal},
		Scores: []float32{0, -1, -2, -3}, BOS: -1, EOS: -1, EOT: -1, UNK: 0, PAD: -1,
	}
	tok := mustNew(t, spec)
	checkIDs(t, tok, "ab日b", tok.Encode("ab日b"), []int32{3, 0, 2})
	spec.Tokens, spec.Scores = append(slices.Clone(spec.Tokens), "<0xE6>"), append(slices.Clone(spec.Scores), 0)
	spec.Types = append(slices.Clone(spec.Types), TypeByte)
	checkIDs(t, tok, "日 with one byte of three", mustNew(t, spec).Encode("日"), []int32{0})
	if got := tok.Decode([]int32{3, 0, 2}); got != "ab\uFFFDb" {
		t.Errorf("decoded %q, want U+FFFD for the unknown token", got)
	}
	spec.Types = []int32{TypeControl, TypeNormal, TypeNormal, TypeNormal, TypeByte}
	if _, err := New(spec); err == nil {
		t.Error("accepted a control token as the one for unknown text")
	}
}

// No invalid id reads beyond the vocabulary.
func TestIDsOutsideTheVocabularyAreNoTokens(t *testing.T) {
	tok := mustNew(t, pairSpec())
	for _, id := range []int32{-1, math.MinInt32, int32(tok.VocabSize()), math.MaxInt32} {
		if tok.Bytes(id) != nil || tok.IsControl(id) || tok.Token(id) != "" || tok.Decode([]int32{id}) != "" || tok.Readable(id) == "" {
			t.Errorf("id %d is treated as a token", id)
		}
	}
}

// A byte-level vocabulary without a token for a byte leaves that byte out, and can say which bytes
// of a text it left out.
func TestBytesWithoutToken(t *testing.T) {
	base := tinySpec([]string{"ab", "<think>"}, []int32{TypeNormal, TypeUserDefined}, "a b")
	base.Tokens = slices.Clone(base.Tokens)
	for _, b := range []byte{0x04, 0xEF, 0xF1} {
		base.Tokens[b] = "-"
	}
	unknown := base
	unknown.Types = slices.Clone(base.Types)
	unknown.UNK, unknown.Types['?'] = '?', TypeUnknown
	for _, spec := range []Spec{base, unknown} {
		tok := mustNew(t, spec)
		want := "\x04\xEF\xF1"
		if spec.UNK >= 0 { // the unknown token, which spells no text itself
			want = "\x04?\xEF\xF1"
		}
		if got := tok.Unspelled(); string(got) != want {
			t.Errorf("without a token are %x, want %x", got, want)
		}
		for _, test := range []struct{ text, lost string }{
			{"ab", ""}, {"", ""}, {"a\x04b", "\x04"}, {"\x04\x04", "\x04\x04"}, {"ab\U00040000", "\xF1"}, {"a\xFFb", "\xEF"}, // FF is read as U+FFFD
		} {
			if got := tok.Lost(test.text); string(got) != test.lost {
				t.Errorf("%q loses %x, want %x", test.text, got, test.lost)
			}
		}
		checkIDs(t, tok, "a\x04b", tok.Encode("a\x04b"), []int32{'a', 'b'}) // left out after merging, so a and b do not meet
		checkIDs(t, tok, "\x04ab", tok.Encode("\x04ab"), []int32{256})
	}
}

func TestWithoutANameGPT2IsAssumed(t *testing.T) {
	for _, test := range []struct{ model, pre, want string }{
		{"gpt2", "", "gpt-2"}, {"gpt2", "default", "gpt-2"}, {"gpt2", "qwen2", ""}, {"gpt2", "gpt-2", ""}, {"llama", "default", ""}, {"llama", "", ""},
	} {
		if got := (Spec{Model: test.model, Pre: test.pre}).AssumedPre(); got != test.want {
			t.Errorf("%s, %q: assumed is %q, want %q", test.model, test.pre, got, test.want)
		}
	}
}
