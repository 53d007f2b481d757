package model_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/safetensors"
)

// replace changes a file of a folder by a regular expression that must match.
func replace(t testing.TB, folder, file, expression, with string) {
	t.Helper()
	path := filepath.Join(folder, file)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(expression).ReplaceAllString(string(old), with)
	if changed == string(old) {
		t.Fatalf("%s has no %s", file, expression)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unpack unpacks the folder of a fixture.
func unpack(t testing.TB, name string) string {
	f := fixture{name: name}
	path := f.folder(t)
	if path == "" {
		t.Fatalf("there is no folder of %s", name)
	}
	return path
}

// A folder with a mistake is refused in words that name the file, the field, what was found and what
// is allowed.
func TestBadFoldersAreRefused(t *testing.T) {
	config := func(expression, with string) func(testing.TB, string) {
		return func(t testing.TB, folder string) { replace(t, folder, "config.json", expression, with) }
	}
	vocabulary := func(expression, with string) func(testing.TB, string) {
		return func(t testing.TB, folder string) { replace(t, folder, "tokenizer.json", expression, with) }
	}
	remove := func(file string) func(testing.TB, string) {
		return func(t testing.TB, folder string) {
			if err := os.Remove(filepath.Join(folder, file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name, fixture string
		spoil         func(testing.TB, string)
		want          []string
	}{
		{"no shard", "llama-linear", remove("model-00003-of-00006.safetensors"), []string{"file 3 of 6", "model-00003-of-00006.safetensors", "is missing"}},
		{"shard of another", "llama-linear", func(t testing.TB, folder string) {
			os.Rename(filepath.Join(folder, "model-00001-of-00006.safetensors"), filepath.Join(folder, "model-00002-of-00006.safetensors"))
		}, []string{"model-00001-of-00006.safetensors", "is missing"}},
		{"shard outside", "llama-linear", func(t testing.TB, folder string) {
			replace(t, folder, "model.safetensors.index.json", "model-00001-of", "../model-00001-of")
		}, []string{"weight_map.", "../model-00001", "in this folder"}},
		{"no index", "llama-linear", remove("model.safetensors.index.json"), []string{"model.safetensors.index.json is missing"}},
		{"cut shard", "llama", func(t testing.TB, folder string) {
			os.Truncate(filepath.Join(folder, "model.safetensors"), 90_000)
		}, []string{"model.safetensors", "allowed"}},
		{"no config", "llama", remove("config.json"), []string{"config.json is missing"}},
		{"no vocabulary", "llama", remove("tokenizer.json"), []string{"tokenizer.json is missing"}},
		{"no weights", "llama", remove("model.safetensors"), []string{"no file with weights"}},
		{"model type", "llama", config(`"model_type": "llama"`, `"model_type": "mamba"`), []string{"config.json", `"model_type"`, "mamba", "llama, ministral3"}},
		{"no model type", "llama", config(`"model_type"`, `"model_kind"`), []string{`"model_type"`, "allowed one of"}},
		{"layers", "llama", config(`"num_hidden_layers": 4`, `"num_hidden_layers": 0`), []string{`"num_hidden_layers" is 0`, "1 to 4096"}},
		{"half a head", "llama", config(`"num_attention_heads": 4`, `"num_attention_heads": 4.5`), []string{"config.json", `"num_attention_heads"`, "4.5", "a whole number"}},
		{"heads as text", "llama", config(`"num_attention_heads": 4`, `"num_attention_heads": "4"`), []string{`"num_attention_heads"`, "a whole number"}},
		{"epsilon", "llama", config(`"rms_norm_eps": 1e-06`, `"rms_norm_eps": 7`), []string{`"rms_norm_eps" is 7`, "1e-12 to 0.1"}},
		{"width", "llama", config(`"hidden_size": 32`, `"hidden_size": 40`), []string{`"model.embed_tokens.weight" has shape 64 × 32`, "needs 64 × 40"}},
		{"feed-forward", "phi3", config(`"intermediate_size": 48`, `"intermediate_size": 50`), []string{`"model.layers.0.mlp`, "50 × 32"}},
		{"layers of the file", "llama", config(`"num_hidden_layers": 4`, `"num_hidden_layers": 3`), []string{`"model.layers.3.`, "no place"}},
		{"layers missing", "llama", config(`"num_hidden_layers": 4`, `"num_hidden_layers": 5`), []string{`"model.layers.4.input_layernorm.weight" is missing`}},
		{"scaling", "llama-yarn", config(`"yarn"`, `"proportional"`), []string{`"rope_parameters.rope_type"`, "proportional", "longrope and llama3"}},
		{"activation", "llama", config(`"silu"`, `"relu"`), []string{`"hidden_act"`, "relu", "allowed silu"}},
		{"quantised", "llama", config(`^{`, `{"quantization_config": {"quant_method": "gptq"},`), []string{`"quantization_config.quant_method"`, "gptq", "GGUF"}},
		{"half a JSON", "llama", config(`}\s*$`, ``), []string{"config.json", "JSON"}},
		{"layer types", "gemma3", config(`"sliding_attention",`, `"linear_attention",`), []string{`"layer_types"`, "linear_attention", "full_attention and sliding_attention"}},
		{"scores", "gemma2", config(`"query_pre_attn_scalar": 16`, `"query_pre_attn_scalar": 17`), []string{`"query_pre_attn_scalar"`, "17", "allowed 16"}},
		{"positions", "smollm3", config(`"no_rope_layers": \[\s*1`, `"no_rope_layers": [0`), []string{`"no_rope_layers"`, "every fourth layer"}},
		{"untied", "gemma", config(`"tie_word_embeddings": true`, `"tie_word_embeddings": false`), []string{`"lm_head.weight" is missing`}},
		{"unigram", "llama", vocabulary(`"type": "BPE"`, `"type": "Unigram"`), []string{"tokenizer.json", "model.type", "Unigram", "BPE"}},
		{"cutting", "llama", vocabulary(`"use_regex": true`, `"use_regex": false`), []string{"tokenizer.json", "pre_tokenizer", "no known model"}},
		{"one number twice", "llama", vocabulary(`"A": 4`, `"A": 5`), []string{"tokenizer.json", `"A"`, "number 5", "of its own"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := unpack(t, c.fixture)
			c.spoil(t, folder)
			file, err := model.Open(context.Background(), folder, nil)
			if err == nil {
				_, err = model.Load(context.Background(), newBackend(t, 1), file, model.Options{}, nil)
			}
			if err == nil {
				t.Fatalf("the folder was loaded, want an error with %q", c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

// A weight in FP8 is multiplied by the factor of its block and rounded to BF16.
func TestFoldersInFP8(t *testing.T) {
	folder := unpack(t, "llama")
	plain := openFolder(t, folder)
	replace(t, folder, "config.json", `^{`, `{"quantization_config": {"quant_method": "fp8", "weight_block_size": [24, 20]},`)
	path := filepath.Join(folder, "model.safetensors")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := safetensors.Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	var b safetensors.Builder
	for _, tensor := range old.Tensors() {
		w, _, err := old.Tensor(tensor.Name)
		if err != nil {
			t.Fatal(err)
		}
		shape := []int{w.Rows, w.Cols}[2-len(tensor.Shape):]
		if !strings.HasSuffix(tensor.Name, "_proj.weight") {
			b.Add(tensor.Name, "F32", w.Data, shape...)
			continue
		}
		// A weight is one of ±0.125 and ±0.375. Its byte stands for 1 or 3 times 2^-3 in blocks with the
		// factor 1, and for 1 or 3 times 2^-1 in blocks with the factor 1/4.
		numbers, _ := gguf.Decode(w.Type, w.Data)
		blockRows, blockCols := (w.Rows+23)/24, (w.Cols+19)/20
		octets, factors := make([]byte, len(numbers)), make([]float32, blockRows*blockCols)
		for i, x := range numbers {
			block := i/w.Cols/24*blockCols + i%w.Cols/20
			octets[i] = map[float32]byte{0.125: 0x20, 0.375: 0x2c, -0.125: 0xa0, -0.375: 0xac}[x]
			if factors[block] = 1; block%2 == 1 {
				factors[block] = 0.25
				octets[i] += 0x10
			}
		}
		b.Add(tensor.Name, "F8_E4M3", octets, shape...)
		b.Floats(tensor.Name+"_scale_inv", compute.F32, factors, blockRows, blockCols)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	sameTensors(t, openFolder(t, folder), plain)

	replace(t, folder, "config.json", `\[24, 20\]`, "[24, 24]")
	if _, err := model.Open(context.Background(), folder, nil); !errors.Is(err, weights.ErrMalformed) || !strings.Contains(err.Error(), "one factor for each block") {
		t.Errorf("blocks of another size: %v", err)
	}
}

// A folder says in generation_config.json which tokens end a reply, by the post-processor in tokenizer.json whether a
// text begins with BOS, and in tokenizer_config.json or chat_template.jinja the chat template; the latter wins.
func TestVocabularyOfAFolder(t *testing.T) {
	folder := unpack(t, "llama")
	write := func(file, text string) {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("generation_config.json", `{"eos_token_id": [2, 0, 77]}`)
	write("tokenizer_config.json", `{"bos_token": {"content": "<begin>"}, "eos_token": "<end>", "pad_token": null,
		"chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": "yes"}]}`)
	replace(t, folder, "tokenizer.json", `"post_processor": null`,
		`"post_processor": {"type": "Sequence", "processors": [{"type": "ByteLevel"}, {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<begin>"}}, {"Sequence": {"id": "A"}}]}]}`)
	file := openFolder(t, folder)
	spec, err := file.TokenizerSpec()
	if got := fmt.Sprint(spec.BOS, spec.EOS, spec.Ends, spec.AddBOS); err != nil || got != "1 2 [2 0 2] true" {
		t.Errorf("begin, end, all ends, begins with BOS: %s (%v), want 1 2 [2 0 2] true", got, err)
	}
	if got := file.ChatTemplate(); got != "yes" {
		t.Errorf("the template is %q, want yes", got)
	}
	write("chat_template.jinja", "newer")
	if got := openFolder(t, folder).ChatTemplate(); got != "newer" {
		t.Errorf("the template is %q, want newer", got)
	}
}

// Whatever is in the files of a folder, opening it gives a model or an error, and never panics.
func FuzzFolder(f *testing.F) {
	folder := unpack(f, "llama-llama3")
	read := func(file string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	weightFile := read("model.safetensors")
	f.Add(read("config.json"), read("tokenizer.json"), []byte("{}"), []byte(nil))
	for _, name := range []string{"gemma3", "phi3-longrope", "qwen3vl", "mistral3", "exaone4-window", "hunyuan-dense"} {
		folder = unpack(f, name)
		f.Add(read("config.json"), read("tokenizer.json"), []byte(`{"eos_token_id": [1, 2]}`), []byte(`{"weight_map": {"lm_head.weight": "model.safetensors"}}`))
		f.Add(read("config.json"), read("tokenizer.json"), []byte(nil), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, config, tokenizer, generation, index []byte) {
		folder := t.TempDir()
		for name, data := range map[string][]byte{"config.json": config, "tokenizer.json": tokenizer, "generation_config.json": generation,
			"tokenizer_config.json": generation, "model.safetensors.index.json": index, "model.safetensors": weightFile} {
			if len(data) == 0 { // no such file
				continue
			}
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file, err := model.Open(context.Background(), folder, nil)
		if err != nil {
			return
		}
		weights.Describe(file)
		_, _ = file.TokenizerSpec()
	})
}
