package lossless_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/tokenizer"
)

// table is a model that is only a table: the scores of the next token for each token before it. It
// is written as the file of a transformer. The layers add nothing, the embedding puts each token
// into its own dimension, and the output matrix is the table. So the whole engine runs on it, and
// all distributions are known exactly.
type table map[int32][]float32

const (
	tableDim   = 64
	impossible = -40 // the score of an unused token
)

// The used tokens: some letters, some groups of them, and the end.
var (
	letters    = []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	syllable   = []string{"ab", "ba", "cd", "abc"}
	vocabulary = tableVocabulary()
	end        = int32(len(vocabulary.Tokens) - 1)
	used       = append(tokensOf(slices.Concat(letters, syllable)...), end)
)

// tableVocabulary has the letters, some unused ones, the syllables, and a token that ends a reply.
func tableVocabulary() tokenizer.Spec {
	v := tokenizer.Spec{Model: "gpt2", Pre: "qwen2", BOS: -1, EOT: -1, UNK: -1, PAD: -1, Merges: []string{"a b", "b a", "c d", "ab c"}}
	v.Tokens = slices.Concat(letters, []string{"x", "y", "z"}, syllable, []string{"<|im_end|>"})
	v.Types = slices.Repeat([]int32{tokenizer.TypeNormal}, len(v.Tokens))
	v.EOS = int32(len(v.Tokens) - 1)
	v.Types[v.EOS] = tokenizer.TypeControl
	return v
}

// tokensOf returns the tokens with these texts.
func tokensOf(texts ...string) (ids []int32) {
	for _, text := range texts {
		ids = append(ids, int32(slices.Index(vocabulary.Tokens, text)))
	}
	return ids
}

// tables makes a target and a draft. The draft's scores are the target's, times shares, plus noise
// of the size unlike. stop is about the probability that a token ends the reply.
func tables(seed uint64, shares, unlike, stop float64) (target, draft table) {
	const wild = 1.5
	rng := rand.New(rand.NewPCG(seed, 11))
	target, draft = table{}, table{}
	for _, before := range append(slices.Clone(used), -1) { // −1 stands for all unused tokens
		p := slices.Repeat([]float32{impossible}, len(vocabulary.Tokens))
		q := slices.Clone(p)
		sum := 0.0
		for _, id := range used[:len(used)-1] {
			p[id] = float32(wild * rng.NormFloat64())
			q[id] = float32(shares*float64(p[id]) + unlike*rng.NormFloat64())
			sum += math.Exp(float64(p[id]))
		}
		p[end] = float32(math.Log(sum*stop/(1-stop)) + 0.5*rng.NormFloat64())
		q[end] = float32(shares*float64(p[end]) + unlike*rng.NormFloat64())
		target[before], draft[before] = p, q
	}
	return target, draft
}

// after returns the row after a token.
func (m table) after(id int32) []float32 {
	if row, ok := m[id]; ok {
		return row
	}
	return m[-1]
}

// file returns the model as a GGUF file.
func (m table) file() []byte {
	const arch, heads = "llama", 2
	vocab := len(vocabulary.Tokens)
	b := &gguf.Builder{}
	b.Set("general.architecture", arch).Set("general.name", "table")
	for key, value := range map[string]uint32{"block_count": 1, "embedding_length": tableDim, "feed_forward_length": tableDim,
		"context_length": 256, "attention.head_count": heads, "vocab_size": uint32(vocab)} {
		b.Set(arch+"."+key, value)
	}
	b.Set(arch+".attention.layer_norm_rms_epsilon", float32(1e-11)).Set(arch+".rope.freq_base", float32(10000))
	b.Set("tokenizer.ggml.model", vocabulary.Model).Set("tokenizer.ggml.pre", vocabulary.Pre).Set("tokenizer.ggml.tokens", vocabulary.Tokens).
		Set("tokenizer.ggml.token_type", vocabulary.Types).Set("tokenizer.ggml.merges", vocabulary.Merges).
		Set("tokenizer.ggml.eos_token_id", uint32(end)).Set("tokenizer.ggml.add_bos_token", false).
		Set("tokenizer.chat_template", "{% for m in messages %}{{ m.content }}{% endfor %}")
	// The norm turns the one number of an embedding that is not 0 into 8, which is √64. All
	// products are exact.
	const normed = 8
	embedding, output := make([]float32, vocab*tableDim), make([]float32, vocab*tableDim)
	for id := range vocab {
		at := slices.Index(used, int32(id))
		if at < 0 {
			at = len(used)
		}
		embedding[id*tableDim+at] = normed
		for i, before := range append(slices.Clone(used), -1) {
			output[id*tableDim+i] = min(m[before][id]/normed, math.MaxFloat32/2) // +Inf must become a number that overflows in the product
		}
	}
	b.Matrix("token_embd.weight", compute.F32, vocab, tableDim, embedding)
	b.Matrix("output.weight", compute.F32, vocab, tableDim, output)
	b.Vector("output_norm.weight", slices.Repeat([]float32{1}, tableDim))
	for _, name := range []string{"attn_norm", "ffn_norm"} {
		b.Vector(fmt.Sprintf("blk.0.%s.weight", name), slices.Repeat([]float32{1}, tableDim))
	}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"} {
		b.Matrix(fmt.Sprintf("blk.0.%s.weight", name), compute.F32, tableDim, tableDim, make([]float32, tableDim*tableDim))
	}
	return b.Bytes()
}

func TestTheVocabularyOfATableIsReadAsItStands(t *testing.T) {
	file, err := weights.Parse("table", must(tables(1, 1, 1, 0.1)).file())
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := file.TokenizerSpec()
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := tokenizer.New(vocab)
	if err != nil {
		t.Fatal(err)
	}
	if got := tokens.StopTokens(); !slices.Equal(got, []int32{end}) {
		t.Errorf("replies end with %v, want %d", got, end)
	}
	if got, want := tokens.Encode("abcde"), tokensOf("ab", "cd", "e"); !slices.Equal(got, want) {
		t.Errorf("abcde is %v, want %v", got, want)
	}
}

func must(target, _ table) table { return target }
