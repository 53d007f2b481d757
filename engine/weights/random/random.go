// Package random writes model files that have the shape of a published model and random weights.
//
// The speed of decoding depends on the shape of a model and the type of its weights, not on what it
// learned. So such a file can replace a download of gigabytes where speed is measured. WriteFile
// writes one for a Shape; Scramble (scramble.go) shuffles the weights of a real file.
//
// One invariant: a reader of GGUF files accepts the file as a model. The tokenizer has a vocabulary of
// the right size, and the numbers are scaled so that activations keep an ordinary size through all
// layers.
package random

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/kernels/format"
)

// Shape is the size of a transformer. With experts it belongs to the Qwen3-MoE family, with states to the
// Qwen3.5 family, with compressed keys and values to the DeepSeek-V2 family, and otherwise to Qwen3.
type Shape struct {
	Name    string
	Layers  int
	Dim     int
	FFN     int
	Heads   int
	KVHeads int
	HeadDim int
	Vocab   int
	Untied  bool // has an output matrix in addition to the embedding table
	Experts int  // 0: none
	Used    int  // experts that a row uses; FFN is then the width of one expert
	// States is the size of the state that three layers in four have in place of attention. If it has 0
	// heads, all layers have attention.
	States compute.CacheState
	// Latent are the sizes of compressed keys and values. Without Dim they are not compressed. With them, KVHeads is
	// 1, HeadDim is Latent.Dim + Latent.Turned, and there are no experts.
	Latent Latent
}

// Shapes lists the shapes by name. Qwen3-0.6B, Qwen3-1.7B and Qwen3-8B have the sizes in their
// config.json. The others are made up. qwen3-moe-1b has a third of the layers of Qwen3-30B-A3B and half
// of its experts, so a row reads 1.2 billion parameters. qwen3.5-0.8b has gated delta nets in three
// layers in four. The tiny ones are for tests; tiny-latent has the compressed keys of GLM-4.7-Flash.
func Shapes() []Shape {
	return []Shape{
		{Name: "qwen3-0.6b", Layers: 28, Dim: 1024, FFN: 3072, Heads: 16, KVHeads: 8, HeadDim: 128, Vocab: 151936},
		{Name: "qwen3-1.7b", Layers: 28, Dim: 2048, FFN: 6144, Heads: 16, KVHeads: 8, HeadDim: 128, Vocab: 151936},
		{Name: "qwen3-8b", Layers: 36, Dim: 4096, FFN: 12288, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 151936, Untied: true},
		{Name: "qwen3-moe-1b", Layers: 16, Dim: 2048, FFN: 768, Heads: 32, KVHeads: 4, HeadDim: 128, Vocab: 151936, Experts: 64, Used: 8},
		{
			Name: "qwen3.5-0.8b", Layers: 24, Dim: 1024, FFN: 3584, Heads: 8, KVHeads: 2, HeadDim: 256, Vocab: 248320,
			States: compute.CacheState{KeyHeads: 16, Heads: 16, KeyDim: 128, ValueDim: 128, Kernel: 4},
		},
		{Name: "tiny-moe", Layers: 2, Dim: 256, FFN: 256, Heads: 4, KVHeads: 2, HeadDim: 64, Vocab: 1024, Experts: 8, Used: 3},
		{
			Name: "tiny-latent", Layers: 2, Dim: 256, FFN: 512, Heads: 20, KVHeads: 1, HeadDim: 512 + 64, Vocab: 1024,
			Latent: Latent{Dim: 512, Turned: 64, Plain: 64, Value: 64, QueryDim: 128},
		},
		{Name: "tiny", Layers: 2, Dim: 256, FFN: 512, Heads: 4, KVHeads: 2, HeadDim: 64, Vocab: 1024},
	}
}

// ShapeNamed looks up a shape. The error lists the names.
func ShapeNamed(name string) (Shape, error) {
	var known []string
	for _, s := range Shapes() {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return Shape{}, &NameError{fmt.Sprintf("there is no shape %.64q; allowed is one of %s", name, strings.Join(known, ", "))}
}

// Types lists the names of the weight types.
func Types() string { return format.Names(" and ") }

// TypeNamed looks up a weight type. The error lists the names.
func TypeNamed(name string) (compute.DType, error) {
	for _, f := range format.Loadable() {
		if f.Name == name {
			return compute.DType(f.Type), nil
		}
	}
	return 0, &NameError{fmt.Sprintf("there are no random weights of type %.64q; allowed is one of %s", name, format.Names(", "))}
}

// NameError says that no shape or type has this name, and lists those that exist.
type NameError struct{ text string }

func (e *NameError) Error() string { return e.text }

// WriteFile writes a model file of the shape at path, which must not exist. It writes matrices row by
// row and never holds a whole one. Equal arguments give equal bytes. If the file cannot be completed,
// it is removed.
func WriteFile(ctx context.Context, path string, s Shape, t compute.DType) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("making a model file: %w", err)
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(fmt.Errorf("writing %q: %w", path, err), os.Remove(path))
		}
	}()
	return Write(ctx, f, s, t)
}

// Write is WriteFile for any writer.
func Write(ctx context.Context, w io.Writer, s Shape, t compute.DType) error {
	b, err := build(ctx, s, t)
	if err != nil {
		return err
	}
	return b.Write(w)
}

// Hollow returns a file of the shape in which every weight is zero. It is for callers that make a
// matrix's random numbers, with Rows, only when they multiply by the matrix.
func Hollow(s Shape, t compute.DType) ([]byte, error) {
	b, err := build(context.Background(), s, t)
	if err != nil {
		return nil, err
	}
	return b.Hollow(), nil
}

// Rows returns a matrix of rows·cols random numbers, packed as type t, like one in a file of
// WriteFile. Equal arguments give equal bytes.
func Rows(t compute.DType, rows, cols int) ([]byte, error) {
	fill, err := fillerOf(t)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = fill.matrix(context.Background(), &b, rand.NewChaCha8([32]byte{1}), rows, cols)
	return b.Bytes(), err
}

// build describes the file. Matrices are drawn when the file is written.
func build(ctx context.Context, s Shape, t compute.DType) (*gguf.Builder, error) {
	fill, err := fillerOf(t)
	if err != nil {
		return nil, err
	}
	b := &gguf.Builder{}
	setHyperparameters(b, s)
	SetVocabulary(b, s.Vocab)
	r := rand.NewChaCha8([32]byte{1})
	matrix := func(name string, rows, cols int) {
		b.Stream(name, t, func(w io.Writer) error { return fill.matrix(ctx, w, r, rows, cols) }, uint64(cols), uint64(rows))
	}
	several := func(count int) func(name string, rows, cols int) {
		return func(name string, rows, cols int) {
			b.Stream(name, t, func(w io.Writer) error { return fill.matrix(ctx, w, r, count*rows, cols) }, uint64(cols), uint64(rows), uint64(count))
		}
	}
	perExpert, perHead := several(s.Experts), several(s.Heads)
	vector := func(name string, size int) { b.Vector(name, slices.Repeat([]float32{1}, size)) }
	matrix("token_embd.weight", s.Vocab, s.Dim)
	vector("output_norm.weight", s.Dim)
	for i := range s.Layers {
		layer := func(name string) string { return fmt.Sprintf("blk.%d.%s.weight", i, name) }
		vector(layer("attn_norm"), s.Dim)
		switch {
		case s.recurs(i):
			s.deltaNet(b, layer, matrix)
		case s.Latent.Dim > 0:
			s.latentAttention(layer, matrix, perHead, vector)
		default:
			s.attention(layer, matrix, vector)
		}
		vector(layer(s.feedForwardNorm()), s.Dim)
		if s.Experts > 0 {
			b.Stream(layer("ffn_gate_inp"), compute.F32, func(w io.Writer) error {
				return filler{compute.F32, setF32}.matrix(ctx, w, r, s.Experts, s.Dim)
			}, uint64(s.Dim), uint64(s.Experts))
			perExpert(layer("ffn_gate_exps"), s.FFN, s.Dim)
			perExpert(layer("ffn_up_exps"), s.FFN, s.Dim)
			perExpert(layer("ffn_down_exps"), s.Dim, s.FFN)
			continue
		}
		matrix(layer("ffn_gate"), s.FFN, s.Dim)
		matrix(layer("ffn_up"), s.FFN, s.Dim)
		matrix(layer("ffn_down"), s.Dim, s.FFN)
	}
	if s.Untied {
		matrix("output.weight", s.Vocab, s.Dim)
	}
	return b, nil
}

// recurs reports whether a layer has a state in place of attention.
func (s *Shape) recurs(layer int) bool { return s.States.Heads > 0 && layer%4 != 3 }

// attention adds the tensors of a layer's attention. In the Qwen3.5 family, the tensor of the query also
// has the rows of a gate.
func (s *Shape) attention(layer func(string) string, matrix func(string, int, int), vector func(string, int)) {
	queries, keys := s.Heads*s.HeadDim, s.KVHeads*s.HeadDim
	gates := 0
	if s.States.Heads > 0 {
		gates = queries
	}
	matrix(layer("attn_q"), queries+gates, s.Dim)
	matrix(layer("attn_k"), keys, s.Dim)
	matrix(layer("attn_v"), keys, s.Dim)
	vector(layer("attn_q_norm"), s.HeadDim)
	vector(layer("attn_k_norm"), s.HeadDim)
	matrix(layer("attn_output"), s.Dim, queries)
}

// deltaNet adds the tensors of a layer with a state.
func (s *Shape) deltaNet(b *gguf.Builder, layer func(string) string, matrix func(string, int, int)) {
	t := s.States
	bare := func(name string) string { return strings.TrimSuffix(layer(name), ".weight") }
	matrix(layer("attn_qkv"), t.Width(), s.Dim)
	matrix(layer("attn_gate"), t.Heads*t.ValueDim, s.Dim)
	matrix(layer("ssm_alpha"), t.Heads, s.Dim)
	matrix(layer("ssm_beta"), t.Heads, s.Dim)
	matrix(layer("ssm_out"), s.Dim, t.Heads*t.ValueDim)
	b.Vector(layer("ssm_norm"), slices.Repeat([]float32{1}, t.ValueDim))
	b.Vector(bare("ssm_dt")+".bias", make([]float32, t.Heads))
	b.Vector(bare("ssm_a"), slices.Repeat([]float32{-1}, t.Heads)) // with these numbers each token about halves a state
	b.Matrix(layer("ssm_conv1d"), compute.F32, t.Width(), t.Kernel, slices.Repeat([]float32{0.25}, t.Width()*t.Kernel))
}

// feedForwardNorm is the name of the norm before the feed-forward network.
func (s *Shape) feedForwardNorm() string {
	if s.States.Heads > 0 {
		return "post_attention_norm"
	}
	return "ffn_norm"
}

func setHyperparameters(b *gguf.Builder, s Shape) {
	arch := "qwen3"
	if s.Experts > 0 {
		arch = "qwen3moe"
		b.Set(arch+".expert_count", uint32(s.Experts)).Set(arch+".expert_used_count", uint32(s.Used))
		b.Set(arch+".expert_feed_forward_length", uint32(s.FFN))
	}
	if t := s.States; t.Heads > 0 {
		arch = "qwen35"
		b.Set(arch+".ssm.conv_kernel", uint32(t.Kernel)).Set(arch+".ssm.state_size", uint32(t.KeyDim)).Set(arch+".ssm.group_count", uint32(t.KeyHeads))
		b.Set(arch+".ssm.time_step_rank", uint32(t.Heads)).Set(arch+".ssm.inner_size", uint32(t.Heads*t.ValueDim)).Set(arch+".full_attention_interval", uint32(4))
		b.Set(arch+".rope.dimension_count", uint32(s.HeadDim/4)).Set(arch+".rope.dimension_sections", []int32{11, 11, 10, 0})
	}
	values := s.HeadDim
	if l := s.Latent; l.Dim > 0 {
		arch, values = "deepseek2", l.Dim
		l.setHyperparameters(b, arch, s.Layers)
	}
	b.Set("general.architecture", arch).Set("general.name", "random weights in the shape of "+s.Name)
	for _, h := range []struct {
		key   string
		value int
	}{
		{"block_count", s.Layers}, {"context_length", 40960}, {"embedding_length", s.Dim}, {"feed_forward_length", s.FFN},
		{"attention.head_count", s.Heads}, {"attention.head_count_kv", s.KVHeads},
		{"attention.key_length", s.HeadDim}, {"attention.value_length", values},
	} {
		b.Set(arch+"."+h.key, uint32(h.value))
	}
	b.Set(arch+".rope.freq_base", float32(1e6)).Set(arch+".attention.layer_norm_rms_epsilon", float32(1e-6))
}
