package model_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// tiny describes a random model small enough to be computed naively.
type tiny struct {
	name     string
	arch     string
	heads    int
	kvHeads  int
	headDim  int
	valueDim int         // 0: headDim
	each     []tinyLayer // sizes of the layers, if they differ; heads and kvHeads are unused then
	ropeDim  int         // 0: the file does not say it, and the whole head is rotated
	linear   float64
	factors  bool // the file has rope_freqs.weight
	biases   bool // biases of query, key and value
	mixBias  bool // a bias of attention's output
	qkNorm   bool
	tied     bool
	twins    bool  // output rows come in pairs that differ by one rounding step
	without  []int // layers that forward skips
	typ      compute.DType
	matrices map[string][]float64 // as the file stores them; filled by build
	shapes   map[string][2]int
	streams  [][][]float64 // of the last forward: each token's residual stream, before each layer and after the last
}

// tinyLayer is the size of one layer.
type tinyLayer struct{ heads, kvHeads, ffn int }

// layer returns the size of layer l.
func (m *tiny) layer(l int) tinyLayer {
	if m.each != nil {
		return m.each[l]
	}
	return tinyLayer{m.heads, m.kvHeads, tinyFFN}
}

// values is the width of a value's head.
func (m *tiny) values() int {
	if m.valueDim == 0 {
		return m.headDim
	}
	return m.valueDim
}

const (
	tinyLayers, tinyDim, tinyFFN, tinyVocab, tinyContext = 2, 64, 96, 50, 600
	tinyEps, tinyBase                                    = 1e-5, 5000.0
)

// build writes the model as a file and remembers its weights.
func (m *tiny) build(t testing.TB) *weights.File {
	t.Helper()
	file, err := weights.Parse(m.name, m.builder().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func (m *tiny) builder() *gguf.Builder {
	m.matrices, m.shapes = map[string][]float64{}, map[string][2]int{}
	r := rand.New(rand.NewPCG(7, uint64(len(m.name))))
	b := m.metadata()
	m.matrix(b, r, "token_embd.weight", tinyVocab, tinyDim)
	m.vector(b, r, "output_norm.weight", tinyDim, 1)
	if !m.tied {
		m.matrix(b, r, "output.weight", tinyVocab, tinyDim)
	}
	if m.factors {
		m.vector(b, r, "rope_freqs.weight", m.headDim/2, 2)
	}
	for i := range tinyLayers {
		at := func(name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }
		size := m.layer(i)
		queries, keys, values := size.heads*m.headDim, size.kvHeads*m.headDim, size.kvHeads*m.values()
		m.vector(b, r, at("attn_norm.weight"), tinyDim, 1)
		m.vector(b, r, at("ffn_norm.weight"), tinyDim, 1)
		m.matrix(b, r, at("attn_q.weight"), queries, tinyDim)
		m.matrix(b, r, at("attn_k.weight"), keys, tinyDim)
		m.matrix(b, r, at("attn_v.weight"), values, tinyDim)
		m.matrix(b, r, at("attn_output.weight"), tinyDim, size.heads*m.values())
		m.matrix(b, r, at("ffn_gate.weight"), size.ffn, tinyDim)
		m.matrix(b, r, at("ffn_up.weight"), size.ffn, tinyDim)
		m.matrix(b, r, at("ffn_down.weight"), tinyDim, size.ffn)
		if m.biases {
			m.vector(b, r, at("attn_q.bias"), queries, 0)
			m.vector(b, r, at("attn_k.bias"), keys, 0)
			m.vector(b, r, at("attn_v.bias"), values, 0)
		}
		if m.mixBias {
			m.vector(b, r, at("attn_output.bias"), tinyDim, 0)
		}
		if m.qkNorm {
			m.vector(b, r, at("attn_q_norm.weight"), m.headDim, 1)
			m.vector(b, r, at("attn_k_norm.weight"), m.headDim, 1)
		}
	}
	return b
}

func (m *tiny) metadata() *gguf.Builder {
	b := &gguf.Builder{}
	b.Set("general.architecture", m.arch)
	set := func(key string, value any) { b.Set(m.arch+"."+key, value) }
	set("block_count", uint32(tinyLayers))
	set("embedding_length", uint32(tinyDim))
	set("context_length", uint32(tinyContext))
	if m.each == nil {
		set("feed_forward_length", uint32(tinyFFN))
		set("attention.head_count", uint32(m.heads))
		if m.kvHeads != m.heads {
			set("attention.head_count_kv", uint32(m.kvHeads))
		}
	} else {
		var heads, kvHeads, ffn []int32
		for _, l := range m.each {
			heads, kvHeads, ffn = append(heads, int32(l.heads)), append(kvHeads, int32(l.kvHeads)), append(ffn, int32(l.ffn))
		}
		set("feed_forward_length", ffn)
		set("attention.head_count", heads)
		set("attention.head_count_kv", kvHeads)
	}
	set("attention.layer_norm_rms_epsilon", float32(tinyEps))
	set("rope.freq_base", float32(tinyBase))
	if m.headDim != tinyDim/m.layer(0).heads || m.valueDim != 0 {
		set("attention.key_length", uint32(m.headDim))
		set("attention.value_length", uint32(m.values()))
	}
	if m.ropeDim != 0 {
		set("rope.dimension_count", uint32(m.ropeDim))
	}
	if m.linear != 0 {
		set("rope.scaling.type", "linear")
		set("rope.scaling.factor", float32(m.linear))
	}
	return b
}

func (m *tiny) matrix(b *gguf.Builder, r *rand.Rand, name string, rows, cols int) {
	values := make([]float32, rows*cols)
	for i := range values {
		values[i] = float32(r.NormFloat64() / math.Sqrt(float64(cols)))
		if m.twins && strings.HasPrefix(name, "output.") && i/cols%2 == 1 {
			values[i] = values[i-cols]
			if i%cols == 0 {
				values[i] = math.Nextafter32(values[i], 0)
			}
		}
	}
	b.Matrix(name, m.typ, rows, cols, values)
	stored, err := gguf.Decode(m.typ, gguf.Encode(m.typ, values))
	if err != nil {
		panic(err)
	}
	m.remember(name, stored, rows, cols)
}

// vector draws numbers around center.
func (m *tiny) vector(b *gguf.Builder, r *rand.Rand, name string, n int, center float64) {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(center + 0.3*r.NormFloat64())
		if center > 0 {
			values[i] = float32(math.Abs(float64(values[i])) + 0.1)
		}
	}
	b.Vector(name, values)
	m.remember(name, values, 1, n)
}

func (m *tiny) remember(name string, values []float32, rows, cols int) {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	m.matrices[name], m.shapes[name] = wide, [2]int{rows, cols}
}

func tinyModels() []*tiny {
	return []*tiny{
		{name: "llama", arch: "llama", heads: 4, kvHeads: 4, headDim: 16},
		{name: "llama 3.1", arch: "llama", heads: 4, kvHeads: 2, headDim: 16, factors: true, tied: true},
		{name: "llama with biases", arch: "llama", heads: 2, kvHeads: 1, headDim: 32, biases: true, mixBias: true},
		{name: "llama, linear scaling, half the head", arch: "llama", heads: 4, kvHeads: 2, headDim: 16, ropeDim: 8, linear: 4},
		{name: "qwen2", arch: "qwen2", heads: 4, kvHeads: 2, headDim: 16, biases: true},
		{name: "qwen2 tied", arch: "qwen2", heads: 4, kvHeads: 1, headDim: 16, biases: true, tied: true, ropeDim: 16},
		{name: "qwen3, wide heads", arch: "qwen3", heads: 4, kvHeads: 2, headDim: 32, qkNorm: true, tied: true},
		{name: "llama, narrow values", arch: "llama", heads: 4, kvHeads: 2, headDim: 32, valueDim: 16, biases: true},
		{name: "qwen3, wide values, unlike layers", arch: "qwen3", headDim: 16, valueDim: 48, qkNorm: true,
			each: []tinyLayer{{4, 2, 64}, {6, 3, 96}}},
	}
}

func TestAgainstNaiveForward(t *testing.T) {
	backend := newBackend(t, 1)
	for _, typ := range []struct {
		name string
		typ  compute.DType
		// Absolute; logits have a magnitude of 1. Q8_0 rounds activations to 1/254 of the largest
		// number in a block.
		bound float64
	}{
		{"F32", compute.F32, 2e-5},
		{"F16", compute.F16, 2e-5},
		{"BF16", compute.BF16, 2e-5},
		{"Q8_0", compute.Q8_0, 0.1},
	} {
		for _, shape := range tinyModels() {
			shape.typ = typ.typ
			t.Run(shape.name+" "+typ.name, func(t *testing.T) {
				m, err := model.Load(context.Background(), backend, shape.build(t), model.Options{MaxRows: 5}, nil)
				if err != nil {
					t.Fatal(err)
				}
				ids := randomIDs(5, tinyVocab, 3)
				logits, err := m.Forward(context.Background(), newCache(t, m), ids)
				if err != nil {
					t.Fatal(err)
				}
				want := shape.forward(ids)
				row := make([]float32, tinyVocab)
				for i := range ids {
					if err := logits.Row(i, row); err != nil {
						t.Fatal(err)
					}
					for v := range row {
						if diff := math.Abs(float64(row[v]) - want[i][v]); !(diff <= typ.bound) {
							t.Fatalf("row %d: logit %d is %v, want %v within %g", i, v, row[v], want[i][v], typ.bound)
						}
					}
				}
			})
		}
	}
}
