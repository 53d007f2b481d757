package model_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
)

func TestConfigOfThePair(t *testing.T) {
	m := openModel(t, newBackend(t, 1), "../../assets/pair/target.gguf", model.Options{MaxTokens: 128})
	want := model.Config{
		Architecture: "qwen3", Layers: 8, Dim: 256, FFN: 1024, Heads: 4, KVHeads: 2, HeadDim: 64, Vocab: 4096, ContextLength: 2048,
		RopeBase: 10_000, RopeDim: 64, AttentionScale: 0.125, NormEps: float64(float32(1e-6)), TiedOutput: true,
		MaxTokens: 128, MaxRows: 32, PrefillRows: 32, FeedForwardMatrices: 3, Parameters: 8_918_272, WeightBytes: 9_491_456, WeightType: "Q8_0",
		CacheBytes: 2 * 8 * 128 * 2 * 64 * 4,
	}
	if got := m.Config(); !reflect.DeepEqual(got, want) {
		t.Errorf("config %+v\nwant   %+v", got, want)
	}
	cache := newCache(t, m)
	if cache.Bytes() != want.CacheBytes || cache.Cap() != 128 {
		t.Errorf("a cache of %d tokens and %d bytes", cache.Cap(), cache.Bytes())
	}
}

func TestLoadReportsProgress(t *testing.T) {
	file, err := weights.Open(context.Background(), "../../assets/pair/draft.gguf", nil)
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	m, err := model.Load(context.Background(), newBackend(t, 1), file, model.Options{}, func(done, total int64) {
		if done <= last || done > total {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	})
	if err != nil {
		t.Fatal(err)
	}
	if last != m.Config().WeightBytes {
		t.Errorf("progress ended at %d of %d bytes", last, m.Config().WeightBytes)
	}

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if file, err = weights.Open(context.Background(), "../../assets/pair/draft.gguf", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Load(cancelled, newBackend(t, 1), file, model.Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled loading gave %v", err)
	}
}

// qwen2 builds a model that loads, and then changes it.
func qwen2(change func(b *gguf.Builder, m *tiny)) func() *gguf.Builder {
	return func() *gguf.Builder {
		m := &tiny{name: "qwen2", arch: "qwen2", heads: 4, kvHeads: 2, headDim: 16, biases: true, tied: true}
		b := m.builder()
		change(b, m)
		return b
	}
}

// set builds a llama model with one more metadata key.
func set(key string, value any) func() *gguf.Builder {
	return func() *gguf.Builder {
		m := &tiny{name: "llama", arch: "llama", heads: 4, kvHeads: 2, headDim: 16, tied: true}
		return m.builder().Set("llama."+key, value)
	}
}

// header builds a file from the given metadata and a single tensor.
func header(keys map[string]any) func() *gguf.Builder {
	return func() *gguf.Builder {
		b := (&gguf.Builder{}).Set("general.architecture", "llama")
		all := map[string]any{
			"block_count": uint32(1), "embedding_length": uint32(64), "feed_forward_length": uint32(96), "context_length": uint32(100),
			"attention.head_count": uint32(4), "attention.layer_norm_rms_epsilon": float32(1e-5),
		}
		for key, value := range keys {
			all[key] = value
		}
		for key, value := range all {
			if value != nil {
				b.Set("llama."+key, value)
			}
		}
		return b.Vector("output_norm.weight", make([]float32, 64))
	}
}

// An error about what a file is comes before errors about what it lacks.
func TestRecogniseSaysWhatAFileIs(t *testing.T) {
	file := func(keys ...any) *gguf.Builder {
		b := (&gguf.Builder{}).Vector("a.tensor", []float32{1})
		for i := 0; i < len(keys); i += 2 {
			b.Set(keys[i].(string), keys[i+1])
		}
		return b
	}
	const arch, kind = "general.architecture", "general.type"
	all := strings.Join(model.Architectures(), ", ")
	for _, c := range []struct {
		name  string
		file  *gguf.Builder
		parts []string // parts of the error; none if the file may be loaded
	}{
		{"a model", file(arch, "qwen2", kind, "model"), nil},
		{"a model in one part", file(arch, "llama", "split.count", uint16(1), "split.no", uint16(0)), nil},
		{"another architecture", file(arch, "mamba"), []string{`architecture "mamba"`, "specula runs " + all, "choose"}},
		{"a name that is close to an encoder's", file(arch, "pangu-embedded"), []string{`architecture "pangu-embedded"`}},
		{"hostile architecture", file(arch, "\x1b[2J"), []string{`"\x1b[2J"`}},
		{"no architecture", file(), []string{"general.architecture is missing", all}},
		{"architecture that is a number", file(kind, uint32(1)), []string{"general.architecture is missing"}},
		{"projector", file(arch, "clip", kind, "mmproj", "clip.has_vision_encoder", true), []string{"projector (mmproj)", "file of the model itself"}},
		{"projector of an old converter", file(arch, "clip"), []string{"projector (mmproj)"}},
		{"adapter", file(arch, "llama", kind, "adapter"), []string{"adapter (LoRA)", "llama-export-lora"}},
		{"importance matrix", file(kind, "imatrix"), []string{"importance matrix"}},
		{"draft head", file(arch, "eagle3"), []string{"draft head (eagle3)", "--heads"}},
		{"drafter of Gemma 4", file(arch, "gemma4-assistant"), []string{"reads the keys of a Gemma 4 model", "--draft"}},
		{"encoder", file(arch, "nomic-bert-moe"), []string{"writes none", `"nomic-bert-moe"`}},
		{"embedding model", file(arch, "gemma-embedding"), []string{"writes none"}},
		{"first part", file(arch, "llama", "split.no", uint16(0), "split.count", uint16(2), "split.tensors.count", int32(30)),
			[]string{"part 1 of 2", "NAME-00001-of-00002.gguf"}},
		{"another part, which names no architecture", file("split.no", uint16(2), "split.count", uint16(3)), []string{"part 3 of 3", "-00003-of-00003.gguf"}},
		{"part of a model that would not run", file(arch, "mamba", "split.count", uint16(2)), []string{`architecture "mamba"`}},
		{"vocabulary alone", (&gguf.Builder{}).Set(arch, "llama"), []string{"no weights"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := weights.Parse("model.gguf", c.file.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			err = model.Recognise(f)
			if c.parts == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			_, errLoad := model.Load(t.Context(), newBackend(t, 1), f, model.Options{}, nil)
			for _, part := range c.parts {
				if err == nil || errLoad == nil || !strings.Contains(err.Error(), part) || !strings.Contains(errLoad.Error(), part) {
					t.Errorf("errors %v and %v, want %q in both", err, errLoad, part)
				}
			}
		})
	}
}

// experts is header with so many experts, of which a row uses some; used may be nil.
func experts(count uint32, used any) func() *gguf.Builder {
	if n, ok := used.(int); ok {
		used = uint32(n)
	}
	return header(map[string]any{"expert_count": count, "expert_used_count": used})
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func() *gguf.Builder
		o     model.Options
		parts []string // parts of the error
	}{
		{"no layers given", header(map[string]any{"block_count": nil}), model.Options{}, []string{`"llama.block_count" is missing`, "1 to 4096"}},
		{"no layers", header(map[string]any{"block_count": uint32(0)}), model.Options{}, []string{`"llama.block_count" is 0`}},
		{"as many layers as fit a word", header(map[string]any{"block_count": ^uint64(0)}), model.Options{}, []string{`"llama.block_count" is 18446744073709551615`}},
		{"layers as text", header(map[string]any{"block_count": "six"}), model.Options{}, []string{"llama.block_count", "integer"}},
		{"no epsilon", header(map[string]any{"attention.layer_norm_rms_epsilon": nil}), model.Options{}, []string{"layer_norm_rms_epsilon", "missing"}},
		{"negative epsilon", header(map[string]any{"attention.layer_norm_rms_epsilon": float32(-1)}), model.Options{}, []string{"layer_norm_rms_epsilon", "-1"}},
		{"uneven groups", header(map[string]any{"attention.head_count_kv": uint32(3)}), model.Options{}, []string{"head_count_kv", "divisor of the 4"}},
		{"wide heads", header(map[string]any{"embedding_length": uint32(1 << 20), "attention.head_count": uint32(1)}), model.Options{}, []string{"at most 576"}},
		{"odd rotation", header(map[string]any{"rope.dimension_count": uint32(7)}), model.Options{}, []string{"rope.dimension_count", "even"}},
		{"rotation beyond the head", header(map[string]any{"rope.dimension_count": uint32(18)}), model.Options{}, []string{"rope.dimension_count", "1 to 16"}},
		{"wide values", header(map[string]any{"attention.value_length": uint32(513)}), model.Options{}, []string{"value_length", "1 to 512"}},
		{"sizes of too few layers", header(map[string]any{"block_count": uint32(3), "feed_forward_length": []int32{96, 96}}), model.Options{}, []string{"feed_forward_length", "a list of 2", "3 layers"}},
		{"a layer without heads", header(map[string]any{"block_count": uint32(2), "attention.head_count_kv": []int32{2, 0}}), model.Options{}, []string{"head_count_kv", "0 in layer 1", "1 to"}},
		{"unknown scaling", header(map[string]any{"rope.scaling.type": "su"}), model.Options{}, []string{`"llama.rope.scaling.type" is "su"`, "none, linear, yarn, longrope and dynamic"}},
		{"yarn by nothing", header(map[string]any{"rope.scaling.type": "yarn"}), model.Options{}, []string{`"llama.rope.scaling.factor" is missing`, "1 to 1e+06"}},
		{"yarn by less than 1", header(map[string]any{"rope.scaling.type": "yarn", "rope.scaling.factor": float32(0.5)}), model.Options{}, []string{`rope.scaling.factor" is 0.5`}},
		{"longrope without its factors", header(map[string]any{"rope.scaling.type": "longrope"}), model.Options{}, []string{"longrope", `"rope_factors_long.weight" is missing`}},
		{"experts where a family has none", qwen2(func(b *gguf.Builder, _ *tiny) { b.Set("qwen2.expert_count", uint32(8)) }), model.Options{},
			[]string{`"qwen2.expert_count" is 8`, "mixture"}},
		{"experts of which nobody says how many are used", experts(8, nil), model.Options{}, []string{"expert_used_count", "missing"}},
		{"more experts in use than there are", experts(8, 9), model.Options{}, []string{"expert_used_count", "1 to 8"}},
		{"more experts in use than a kernel takes", experts(100, 65), model.Options{}, []string{"expert_used_count", "1 to 64"}},
		{"too many experts", experts(1<<20, 2), model.Options{}, []string{"expert_count", "1 to 4096"}},
		{"experts without a router", func() *gguf.Builder {
			return set("expert_count", uint32(8))().Set("llama.expert_used_count", uint32(2))
		}, model.Options{}, []string{`"blk.0.ffn_gate_inp.weight" is missing`, "8 × "}},
		{"experts in groups", header(map[string]any{"expert_count": uint32(8), "expert_used_count": uint32(2), "expert_group_count": uint32(4)}),
			model.Options{}, []string{"expert_group_count", "groups"}},
		{"an unknown router", header(map[string]any{"expert_count": uint32(8), "expert_used_count": uint32(2), "expert_gating_func": uint32(4)}),
			model.Options{}, []string{"expert_gating_func", "1 to 3"}},
		{"an encoder", header(map[string]any{"attention.causal": false}), model.Options{}, []string{"causal"}},
		{"missing tensors", header(nil), model.Options{}, []string{`"token_embd.weight" is missing`, "llama model"}},
		{"a longer context than trained", set("general", uint32(1)), model.Options{MaxTokens: 601}, []string{"601 tokens", "1 to 600"}},
		{"a longer context than the window", set("attention.sliding_window", uint32(256)), model.Options{MaxTokens: 257}, []string{"257 tokens", "1 to 256"}},
		{"too many rows", set("general", uint32(1)), model.Options{MaxRows: 1 << 20}, []string{"1048576 rows"}},
		{"a tensor too many", qwen2(func(b *gguf.Builder, m *tiny) { b.Vector("blk.1.attn_q_norm.weight", make([]float32, 16)) }), model.Options{},
			[]string{`"blk.1.attn_q_norm.weight" has no place in a qwen2 model`}},
		{"an output of another shape", qwen2(func(b *gguf.Builder, m *tiny) {
			b.Matrix("output.weight", compute.F32, 2, 64, make([]float32, 128))
		}), model.Options{}, []string{`"output.weight" has shape 2 × 64`, "needs 50 × 64"}},
		{"a bias that qwen2 needs", func() *gguf.Builder {
			return (&tiny{name: "x", arch: "qwen2", heads: 4, kvHeads: 2, headDim: 16, tied: true}).builder()
		}, model.Options{}, []string{`"blk.0.attn_q.bias" is missing`, "shape 64"}},
		{"a fused tensor of another size", func() *gguf.Builder {
			b := (&tiny{name: "x", arch: "phi3", heads: 4, kvHeads: 2, headDim: 16, tied: true}).metadata()
			return b.Matrix("token_embd.weight", compute.F32, 50, 64, make([]float32, 50*64)).Vector("output_norm.weight", make([]float32, 64)).
				Vector("blk.0.attn_norm.weight", make([]float32, 64)).Matrix("blk.0.attn_qkv.weight", compute.F32, 100, 64, make([]float32, 6400))
		}, model.Options{}, []string{`"blk.0.attn_qkv.weight" has shape 100 × 64`, "needs 128 rows"}},
		{"a pattern of windows for too few layers", func() *gguf.Builder {
			b := (&tiny{name: "x", arch: "gemma3", heads: 4, kvHeads: 2, headDim: 16, tied: true}).metadata()
			b.Set("gemma3.attention.sliding_window", uint32(8)).Set("gemma3.attention.sliding_window_pattern", []bool{true})
			return b.Vector("output_norm.weight", make([]float32, 64))
		}, model.Options{}, []string{"gemma3.attention.sliding_window_pattern", "a list of 1", "2 layers"}},
		{"a window as text", func() *gguf.Builder {
			b := (&tiny{name: "x", arch: "gemma2", heads: 4, kvHeads: 2, headDim: 16, tied: true}).metadata()
			return b.Set("gemma2.attention.sliding_window", "wide").Vector("output_norm.weight", make([]float32, 64))
		}, model.Options{}, []string{"gemma2.attention.sliding_window", "integer"}},
		{"a cap of nothing", func() *gguf.Builder {
			b := (&tiny{name: "x", arch: "gemma2", heads: 4, kvHeads: 2, headDim: 16, tied: true}).metadata()
			return b.Set("gemma2.attn_logit_softcapping", float32(0)).Vector("output_norm.weight", make([]float32, 64))
		}, model.Options{}, []string{`"gemma2.attn_logit_softcapping" is 0`, "0.001 to 1e+06"}},
		{"a factor of zero", func() *gguf.Builder {
			m := &tiny{name: "x", arch: "llama", heads: 4, kvHeads: 2, headDim: 16, tied: true}
			return m.builder().Vector("rope_freqs.weight", make([]float32, 8))
		}, model.Options{}, []string{"rope_freqs.weight", "is 0 at 0", "positive"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := weights.Parse("a file", c.build().Bytes())
			if err != nil {
				t.Fatal(err)
			}
			_, err = model.Load(context.Background(), newBackend(t, 1), file, c.o, nil)
			if err == nil {
				t.Fatal("loaded")
			}
			for _, part := range append(c.parts, `loading "a file": `) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

// small is a backend on a machine with little memory. It fails the test if it is asked to load a
// weight.
type small struct {
	*host.Backend
	t     *testing.T
	bytes int64
}

func (s small) Info() compute.Info { return compute.Info{MemoryBytes: s.bytes} }

func (s small) Matrix(context.Context, compute.Weight) (compute.Matrix, error) {
	s.t.Error("a weight was taken in although the memory does not suffice")
	return nil, errors.New("no")
}

func TestMemoryIsRefusedBeforeItIsTaken(t *testing.T) {
	file, err := weights.Open(context.Background(), "../../assets/pair/target.gguf", nil)
	if err != nil {
		t.Fatal(err)
	}
	// The backend repacks quantised weights one at a time, and their bytes in the file are
	// released. It borrows F16 weights from the file. So cache and activations decide.
	backend := small{newBackend(t, 1), t, 6 << 20}
	_, err = model.Load(context.Background(), backend, file, model.Options{MaxTokens: 1024}, nil)
	want := "weights need 1 MiB, a context of 1024 tokens 8 MiB and activations 1 MiB, together 10 MiB; 6 MiB are available"
	if !errors.Is(err, compute.ErrOutOfMemory) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want %q", err, want)
	}
	data, err := wideTarget()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "target-f16.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f16, err := weights.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = model.Load(context.Background(), backend, f16, model.Options{MaxTokens: 1024}, nil); err == nil || !strings.Contains(err.Error(), "weights need 0 MiB, a context of 1024 tokens 8 MiB") {
		t.Errorf("error %v, want weights that take nothing", err)
	}
}

// All experts of a mixture are counted, though a pass uses only some.
func TestMemoryOfExpertsIsCounted(t *testing.T) {
	shape, err := random.ShapeNamed("tiny-moe")
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := random.Write(context.Background(), &data, shape, compute.Q8_0); err != nil {
		t.Fatal(err)
	}
	file, err := weights.Parse("experts", data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	// 2 layers of 8 experts, each with 3 matrices of 256 × 256 numbers in 8.5 bits, are 3.2 MiB; all
	// the rest is 0.7 MiB.
	_, err = model.Load(context.Background(), small{newBackend(t, 1), t, 2 << 20}, file, model.Options{MaxTokens: 32}, nil)
	if want := "weights need 4 MiB, "; !errors.Is(err, compute.ErrOutOfMemory) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
