package model_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights/gguf"
	"specula/engine/weights/safetensors"
)

// guessed is what heads.py computed with PyTorch.
type guessed struct {
	IDs     []int32         `json:"ids"`
	Hidden  [][]float32     `json:"hidden"`
	Logits  [][]float64     `json:"logits"`
	Config  json.RawMessage `json:"config"`
	Targets []int32         `json:"targets"`
}

// loadHead loads a head made by heads.py, for a tiny target of the same sizes.
func loadHead(t *testing.T, backend compute.Backend, name string) (*model.Head, guessed) {
	t.Helper()
	var all map[string]guessed
	text, err := os.ReadFile("testdata/heads.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/" + name + ".safetensors")
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	want := all[name]
	head, err := model.LoadHead(t.Context(), tinyTarget(t, backend), file.WithConfig(want.Config))
	if err != nil {
		t.Fatal(err)
	}
	return head, want
}

// spread is row i of the logits, over the target's vocabulary.
func (g *guessed) spread(i int) []float64 {
	if g.Targets == nil {
		return g.Logits[i]
	}
	row := make([]float64, tinyVocab)
	for id := range row {
		row[id] = math.Inf(-1)
	}
	for j, id := range g.Targets {
		row[id] = g.Logits[i][j]
	}
	return row
}

func tinyTarget(t *testing.T, backend compute.Backend) *model.Model {
	t.Helper()
	shape := &tiny{name: "llama", arch: "llama", heads: 4, kvHeads: 4, headDim: 16}
	m, err := model.Load(context.Background(), backend, shape.build(t), model.Options{MaxRows: 5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fill writes hidden states where a pass of the target would leave them.
func fill(t *testing.T, backend compute.Backend, tap *compute.Tap, hidden [][]float32) {
	t.Helper()
	w := compute.Weight{Name: "hidden", Type: compute.F32, Rows: len(hidden), Cols: len(hidden[0]), Data: gguf.Encode(compute.F32, slices.Concat(hidden...))}
	table, err := backend.Matrix(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int32, len(hidden))
	for i := range ids {
		ids[i] = int32(i)
	}
	if err := backend.Embed(tap.Rows, table, ids); err != nil {
		t.Fatal(err)
	}
}

func compare(t *testing.T, what string, logits compute.Logits, err error, want []float64) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	row := make([]float32, logits.Vocab())
	if err := logits.Row(0, row); err != nil {
		t.Fatal(err)
	}
	if len(row) != len(want) {
		t.Fatalf("%s: %d scores, want %d", what, len(row), len(want))
	}
	for i, x := range row {
		if float64(x) != want[i] && !(math.Abs(float64(x)-want[i]) <= 2e-5) {
			t.Fatalf("%s: score %d is %v, want %v", what, i, x, want[i])
		}
	}
}

// The logits after every pair, and after every step from the head's own state, equal PyTorch's, in
// whatever pieces the pairs are read.
func TestEagleAgainstPyTorch(t *testing.T) {
	backend := newBackend(t, 1)
	for _, name := range []string{"eagle", "eagle3"} {
		for _, pieces := range [][]int{{5}, {1, 1, 1, 1, 1}, {2, 3}} {
			t.Run(name, func(t *testing.T) {
				head, want := loadHead(t, backend, name)
				s, err := head.Layer.NewState()
				if err != nil {
					t.Fatal(err)
				}
				cache, err := s.NewCache()
				if err != nil {
					t.Fatal(err)
				}
				fill(t, backend, s.Tap(), want.Hidden)
				if err := s.Keep(0, len(want.Hidden), true); err != nil {
					t.Fatal(err)
				}
				text := append([]int32{0}, want.IDs...) // the first token has no hidden state before it
				for _, n := range pieces {
					from := cache.Len()
					if from == 0 {
						n++
					}
					logits, err := s.Prefill(t.Context(), cache, text[from:from+n], nil)
					compare(t, "after reading", logits, err, want.spread(cache.Len()-2))
				}
				for i, id := range []int32{7, 11} {
					logits, err := s.Prefill(t.Context(), cache, []int32{id}, nil)
					compare(t, "after a step", logits, err, want.spread(len(want.IDs)+i))
				}
				if cache.Len() != len(text)+2 {
					t.Errorf("%d tokens in the cache, want %d", cache.Len(), len(text)+2)
				}
			})
		}
	}
}

func TestMedusaAgainstPyTorch(t *testing.T) {
	backend := newBackend(t, 1)
	head, want := loadHead(t, backend, "medusa")
	s, err := head.Medusa.NewState()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := s.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prefill(t.Context(), cache, []int32{1}, nil); err == nil {
		t.Error("a guess from no hidden state")
	}
	fill(t, backend, s.Tap(), slices.Insert(want.Hidden, 0, make([]float32, tinyDim)))
	if err := s.Keep(0, 2, true); err != nil {
		t.Fatal(err)
	}
	for i, ids := range [][]int32{{4, 5, 6}, {7}, {8}} { // the kept state is the one after token 5
		logits, err := s.Prefill(t.Context(), cache, ids, nil)
		compare(t, "head", logits, err, want.spread(i))
	}
	if _, err := s.Prefill(t.Context(), cache, []int32{9}, nil); err == nil || cache.Len() != 5 {
		t.Errorf("a fourth head guessed: %v, %d tokens", err, cache.Len())
	}
}

// A head that does not fit is refused; the error says what it is and what would fit.
func TestHeadsThatDoNotFitAreRefusedInWords(t *testing.T) {
	backend := newBackend(t, 1)
	target := tinyTarget(t, backend)
	noise := func(n int) []float32 { return make([]float32, n) }
	add := func(b *safetensors.Builder, name string, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		b.Floats(name, compute.F32, noise(n), shape...)
	}
	eagle := func(b *safetensors.Builder, dim int, but string) {
		for _, tensor := range []struct {
			name  string
			shape []int
		}{
			{"fc.weight", []int{dim, 2 * dim}}, {"layers.0.self_attn.q_proj.weight", []int{dim, dim}}, {"layers.0.self_attn.k_proj.weight", []int{dim, dim}},
			{"layers.0.self_attn.v_proj.weight", []int{dim, dim}}, {"layers.0.self_attn.o_proj.weight", []int{dim, dim}},
			{"layers.0.post_attention_layernorm.weight", []int{dim}}, {"layers.0.mlp.gate_proj.weight", []int{8, dim}},
			{"layers.0.mlp.up_proj.weight", []int{8, dim}}, {"layers.0.mlp.down_proj.weight", []int{dim, 8}},
		} {
			if tensor.name != but {
				add(b, tensor.name, tensor.shape...)
			}
		}
	}
	for _, c := range []struct {
		name   string
		config string
		build  func(b *safetensors.Builder)
		want   string // part of the error; empty for none
	}{
		{"fits", "", func(b *safetensors.Builder) { eagle(b, 64, "") }, ""},
		{"under model.", "", func(b *safetensors.Builder) {
			add(b, "model.0.0.linear.weight", 64, 64)
			add(b, "model.0.1.weight", 50, 64)
		}, ""},
		{"vLLM's names of Medusa, one output for all", "", func(b *safetensors.Builder) {
			add(b, "blocks.0.layers.0.weight", 64, 64)
			add(b, "blocks.1.layers.0.weight", 64, 64)
			add(b, "lm_head.weight", 50, 64)
		}, ""},
		{"Medusa with the target's output", "", func(b *safetensors.Builder) { add(b, "0.0.linear.weight", 64, 64) }, ""},
		{"a second Medusa head without the output that the first has", "", func(b *safetensors.Builder) {
			add(b, "0.0.linear.weight", 64, 64)
			add(b, "0.1.weight", 50, 64)
			add(b, "1.0.linear.weight", 64, 64)
		}, `"1.1.weight" is missing`},
		{"nothing known", "", func(b *safetensors.Builder) { add(b, "lm_head.weight", 50, 64) }, "no head of a known kind"},
		{"another width", "", func(b *safetensors.Builder) { eagle(b, 32, "") }, "hidden states of 32 numbers, and the target's have 64"},
		{"a tensor is missing", "", func(b *safetensors.Builder) { eagle(b, 64, "layers.0.mlp.up_proj.weight") }, `"midlayer.mlp.up_proj.weight" is missing`},
		{"a layer is missing", "", func(b *safetensors.Builder) { add(b, "fc.weight", 64, 128) }, "lacks a layer"},
		{"a tensor too many", "", func(b *safetensors.Builder) { eagle(b, 64, ""); add(b, "layers.1.mlp.gate_proj.weight", 8, 64) }, "not supported"},
		{"another vocabulary", "", func(b *safetensors.Builder) {
			add(b, "0.0.linear.weight", 64, 64)
			add(b, "0.1.weight", 2000, 64)
		}, "guesses among 2000 tokens, and the target has 50"},
		{"ids beyond the target's", "", func(b *safetensors.Builder) {
			eagle(b, 64, "")
			add(b, "lm_head.weight", 3, 64)
			b.Integers("d2t", []int64{0, 0, 48})
		}, "maps token 2 by d2t to 50"},
		{"offsets that wrap", "", func(b *safetensors.Builder) {
			eagle(b, 64, "")
			add(b, "lm_head.weight", 2, 64)
			b.Integers("d2t", []int64{0, math.MaxInt64})
		}, "maps token 1 by d2t"},
		{"a map of another length", "", func(b *safetensors.Builder) {
			eagle(b, 64, "")
			add(b, "lm_head.weight", 3, 64)
			b.Integers("d2t", []int64{0})
		}, "maps 1 tokens by d2t and guesses among 3"},
		{"heads that do not divide", `{"num_attention_heads":7}`, func(b *safetensors.Builder) { eagle(b, 64, "") }, "heads of 9, the size that"},
		{"another activation", `{"hidden_act":"gelu"}`, func(b *safetensors.Builder) { eagle(b, 64, "") }, "hidden_act"},
		{"unknown scaling", `{"num_attention_heads":4,"rope_scaling":{"rope_type":"yarn"}}`, func(b *safetensors.Builder) { eagle(b, 64, "") }, "rope_scaling"},
		{"scaling by nothing", `{"num_attention_heads":4,"rope_scaling":{"type":"linear"}}`, func(b *safetensors.Builder) { eagle(b, 64, "") }, "by 0"},
		{"broken config", `{`, func(b *safetensors.Builder) { eagle(b, 64, "") }, "config.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b safetensors.Builder
			c.build(&b)
			file, err := safetensors.Parse("head.safetensors", b.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if c.config != "" {
				file = file.WithConfig([]byte(c.config))
			}
			_, err = model.LoadHead(t.Context(), target, file)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
