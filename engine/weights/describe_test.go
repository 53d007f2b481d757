package weights

import (
	"reflect"
	"strings"
	"testing"

	"specula/engine/weights/gguf"
)

func TestDescribe(t *testing.T) {
	b := baseBuilder().Tensor("later", 15, make([]byte, 584), 512)
	r := Describe(mustParse(t, b))
	r.Metadata, r.Tensors = r.Metadata[4:9], r.Tensors[2:5]
	want := Report{
		Name: "f", Format: "GGUF v3", Architecture: "llama", ModelName: "a base",
		Parts: 1, FileBytes: int64(len(b.Bytes())), SpareBytes: 24, Parameters: 128 + 5 + 24 + 6 + 512,
		ByType: []TypeTotal{
			{"Q8_0", 1, 128, 136}, {"F32", 1, 5, 20}, {"F16", 1, 24, 48}, {"BF16", 1, 6, 12}, {"Q8_K", 1, 512, 584},
		},
		Unsupported: []string{"Q8_K"}, ContextLength: 512, VocabSize: 3, Tokenizer: "llama",
		TemplateHash: "f24189f08c85a1eb19a737306c3a13e85462ee33d964f28108d64a2485fa2171",
		Metadata: []MetadataLine{
			{`"tokenizer.ggml.model"`, "string", `"llama"`},
			{`"tokenizer.ggml.tokens"`, "array of string", `3: ["a\x00b", "x", "x"]`},
			{`"tokenizer.ggml.scores"`, "array of f32", "3: [-1, -2, -3]"},
			{`"tokenizer.ggml.token_type"`, "array of i32", "3: [1, 1, 6]"},
			{`"tokenizer.ggml.add_bos_token"`, "bool", "true"},
		},
		Tensors: []TensorLine{
			{`"cube"`, "F16", []int64{2, 3, 4}, 48}, {`"brain"`, "BF16", []int64{3, 2}, 12}, {`"later"`, "Q8_K", []int64{512}, 584},
		},
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

// TestDescribeHostile: whatever the file says, nothing in a report is long or moves the cursor.
func TestDescribeHostile(t *testing.T) {
	evil := "\x1b[2J\x1b]52;c;AAAA\a\r\b\u202e\u0085" + strings.Repeat("x", 1<<20)
	b := &gguf.Builder{}
	for _, key := range []string{"general.architecture", "general.name", "tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.chat_template", evil[:60000]} {
		b.Set(key, evil)
	}
	b.Set("list", []string{evil, evil, evil, evil, evil, evil, evil}).Set("numbers", make([]uint64, 1000))
	b.Vector(evil[:200], []float32{1})
	r := Describe(mustParse(t, b))
	texts := []string{r.Architecture, r.ModelName, r.Tokenizer, r.TemplateHash, r.Tensors[0].Name}
	for _, m := range r.Metadata {
		texts = append(texts, m.Key, m.Value)
	}
	for _, text := range texts {
		if strings.ContainsAny(text, "\x1b\a\r\b\u202e\u0085\n") || len(text) > 1000 {
			t.Errorf("%d bytes: %.100q", len(text), text)
		}
	}
}
