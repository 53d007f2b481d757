package weights

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"specula/engine/weights/gguf"
	"specula/tokenizer"
)

// vocabulary builds a file from a valid vocabulary with some keys changed; nil removes a key.
func vocabulary(model string, changes map[string]any) *gguf.Builder {
	values := map[string]any{"model": model, "tokens": []string{"a", "b", "<eos>"}, "token_type": []int32{1, 1, 3}}
	if model == "llama" {
		values["scores"] = []float32{0, -1, -2}
	} else {
		values["merges"] = []string{"a b"}
	}
	for name, v := range changes {
		values[name] = v
	}
	b := &gguf.Builder{}
	for name, v := range values {
		if v != nil {
			b.Set("tokenizer.ggml."+name, v)
		}
	}
	return b
}

func TestTokenizerSpec(t *testing.T) {
	tokens, types := []string{"a", "b", "<eos>"}, []int32{1, 1, 3}
	for _, c := range []struct {
		name    string
		model   string
		changes map[string]any
		want    tokenizer.Spec
	}{
		{"gpt2 with defaults", "gpt2", nil,
			tokenizer.Spec{Model: "gpt2", Tokens: tokens, Types: types, Merges: []string{"a b"}, BOS: -1, EOS: -1, EOT: -1, UNK: -1, PAD: -1}},
		{"llama with defaults", "llama", nil,
			tokenizer.Spec{Model: "llama", Tokens: tokens, Types: types, Scores: []float32{0, -1, -2}, BOS: 1, EOS: 2, EOT: -1, UNK: 0, PAD: -1, AddBOS: true, AddSpacePrefix: true}},
		{"all said", "gpt2", map[string]any{"pre": "qwen2", "bos_token_id": uint32(0), "eos_token_id": uint64(1), "eot_token_id": int32(2), "unknown_token_id": uint8(0), "padding_token_id": int64(2), "add_bos_token": true, "add_eos_token": true, "add_space_prefix": true},
			tokenizer.Spec{Model: "gpt2", Pre: "qwen2", Tokens: tokens, Types: types, Merges: []string{"a b"}, BOS: 0, EOS: 1, EOT: 2, UNK: 0, PAD: 2, AddBOS: true, AddEOS: true, AddSpacePrefix: true}},
		{"llama-bpe begins with BOS", "gpt2", map[string]any{"pre": "llama-bpe"},
			tokenizer.Spec{Model: "gpt2", Pre: "llama-bpe", Tokens: tokens, Types: types, Merges: []string{"a b"}, BOS: -1, EOS: -1, EOT: -1, UNK: -1, PAD: -1, AddBOS: true}},
		{"llama-v3 does, too", "gpt2", map[string]any{"pre": "llama-v3"},
			tokenizer.Spec{Model: "gpt2", Pre: "llama-v3", Tokens: tokens, Types: types, Merges: []string{"a b"}, BOS: -1, EOS: -1, EOT: -1, UNK: -1, PAD: -1, AddBOS: true}},
		{"unless the file says otherwise", "gpt2", map[string]any{"pre": "llama-v3", "add_bos_token": false},
			tokenizer.Spec{Model: "gpt2", Pre: "llama-v3", Tokens: tokens, Types: types, Merges: []string{"a b"}, BOS: -1, EOS: -1, EOT: -1, UNK: -1, PAD: -1}},
		{"ids that say none", "llama", map[string]any{"unknown_token_id": int32(-1), "padding_token_id": uint32(math.MaxUint32), "token_type": nil},
			tokenizer.Spec{Model: "llama", Tokens: tokens, Scores: []float32{0, -1, -2}, BOS: 1, EOS: 2, EOT: -1, UNK: -1, PAD: -1, AddBOS: true, AddSpacePrefix: true}},
		{"default ids beyond a small vocabulary", "llama", map[string]any{"tokens": []string{"a"}, "token_type": []uint8{1}, "scores": []float64{-0.5}},
			tokenizer.Spec{Model: "llama", Tokens: []string{"a"}, Types: []int32{1}, Scores: []float32{-0.5}, BOS: -1, EOS: -1, EOT: -1, UNK: 0, PAD: -1, AddBOS: true, AddSpacePrefix: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mustParse(t, vocabulary(c.model, c.changes)).TokenizerSpec()
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestTokenizerSpecRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		model   string
		changes map[string]any
		message string
	}{
		{"no model", "gpt2", map[string]any{"model": nil}, `metadata "tokenizer.ggml.model" at byte 24: got nothing, allowed one of gpt2, gemma4, llama`},
		{"unknown model", "gpt2", map[string]any{"model": "rwkv\x1b"}, `tokenizer.ggml.model is "rwkv\x1b", supported are`},
		{"model that is a number", "gpt2", map[string]any{"model": uint8(1)}, "got u8 1, allowed a string"},
		{"no tokens", "gpt2", map[string]any{"tokens": nil}, `"tokenizer.ggml.tokens" at byte 24: got nothing`},
		{"empty tokens", "gpt2", map[string]any{"tokens": []string{}, "token_type": []int32{}}, "one string or more"},
		{"tokens that are numbers", "gpt2", map[string]any{"tokens": []uint32{1, 2, 3}}, "got an array of 3 u32, allowed an array of string"},
		{"tokens that are one string", "gpt2", map[string]any{"tokens": "abc"}, "got a string of 3 bytes, allowed an array of string"},
		{"scores of u8", "llama", map[string]any{"scores": []uint8{1, 2, 3}}, "got an array of 3 u8, allowed an array of f32 or f64"},
		{"scores too short", "llama", map[string]any{"scores": []float32{1, 2}}, "got an array of 2 f32, allowed 3 elements"},
		{"scores too long", "gpt2", map[string]any{"scores": []float32{1, 2, 3, 4}}, "got an array of 4 f32, allowed 3 elements"},
		{"scores empty", "llama", map[string]any{"scores": []float32{}}, "got an array of 0 f32, allowed 3 elements"},
		{"no scores", "llama", map[string]any{"scores": nil}, "got nothing, allowed an array of 3 f32"},
		{"score that is no number", "llama", map[string]any{"scores": []float32{1, float32(math.NaN()), 3}}, "scores\" element 1"},
		{"types too short", "gpt2", map[string]any{"token_type": []int32{1}}, "got an array of 1 i32, allowed 3 elements"},
		{"types of f32", "gpt2", map[string]any{"token_type": []float32{1, 1, 1}}, "got an array of 3 f32, allowed an array of integers"},
		{"type 0", "gpt2", map[string]any{"token_type": []int32{1, 0, 1}}, `token_type" element 1`},
		{"type 7", "gpt2", map[string]any{"token_type": []int32{1, 1, 7}}, "got 7, allowed 1 to 6"},
		{"type 2³²+1", "gpt2", map[string]any{"token_type": []int64{1, 1, 1<<32 + 1}}, "got 4294967297, allowed 1 to 6"},
		{"no merges", "gpt2", map[string]any{"merges": nil}, `"tokenizer.ggml.merges" at byte 24: got nothing`},
		{"merges that are numbers", "gpt2", map[string]any{"merges": []int32{1}}, "allowed an array of string"},
		{"bos beyond the vocabulary", "gpt2", map[string]any{"bos_token_id": uint32(3)}, "got u32 3, allowed ids from 0 to 2"},
		{"eos negative", "gpt2", map[string]any{"eos_token_id": int32(-2)}, "got i32 -2, allowed ids from 0 to 2"},
		{"eot huge", "gpt2", map[string]any{"eot_token_id": uint64(1 << 62)}, "allowed ids from 0 to 2"},
		{"pad beyond int32", "gpt2", map[string]any{"padding_token_id": uint64(1 << 32)}, "got u64 4294967296"},
		{"unknown id that is a string", "llama", map[string]any{"unknown_token_id": "0"}, "got a string of 1 bytes"},
		{"add_bos that is a number", "gpt2", map[string]any{"add_bos_token": uint32(1)}, "got u32 1, allowed a bool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := mustParse(t, vocabulary(c.model, c.changes)).TokenizerSpec()
			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Fatalf("got %v, want %q", err, c.message)
			}
			if !errors.Is(err, ErrMalformed) && c.name != "unknown model" {
				t.Errorf("%v is not ErrMalformed", err)
			}
			checkMessage(t, err)
		})
	}
}
