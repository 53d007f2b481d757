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
	"specula/kernels/ref"
)

// blocksModel writes a model of random blocks, and one with the same weights in F32. Rows are as
// wide as one super-block.
func blocksModel(t *testing.T, format ref.Format) (blocks, floats *weights.File) {
	t.Helper()
	const dim, heads, vocab, layers = 256, 4, 70, 2
	r := rand.New(rand.NewPCG(uint64(format.Type), 0))
	builders := [2]*gguf.Builder{{}, {}}
	for _, b := range builders {
		b.Set("general.architecture", "llama")
		for key, value := range map[string]int{"block_count": layers, "embedding_length": dim, "feed_forward_length": dim, "context_length": 64, "attention.head_count": heads} {
			b.Set("llama."+key, uint32(value))
		}
		b.Set("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	}
	matrix := func(name string, rows int) {
		data := make([]byte, rows*dim/format.BlockElements*format.BlockBytes)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		for at := 0; at < len(data); at += format.BlockBytes {
			scale := ref.ToHalf(float32(1 / (format.Deviation * math.Sqrt(dim)))) // weights of about 1/√dim
			format.SetScales(data[at:], scale|uint16(data[at]&7), scale|uint16(data[at+1]&7))
		}
		wide := make([]float32, rows*dim)
		format.Dequantize(wide, data)
		builders[0].Tensor(name, compute.DType(format.Type), data, dim, uint64(rows))
		builders[1].Matrix(name, compute.F32, rows, dim, wide)
	}
	vector := func(name string) {
		ones := make([]float32, dim)
		for i := range ones {
			ones[i] = 1
		}
		builders[0].Vector(name, ones)
		builders[1].Vector(name, ones)
	}
	matrix("token_embd.weight", vocab)
	vector("output_norm.weight")
	for i := range layers {
		for _, name := range strings.Fields("attn_norm ffn_norm") {
			vector(fmt.Sprintf("blk.%d.%s.weight", i, name))
		}
		for _, name := range strings.Fields("attn_q attn_k attn_v attn_output ffn_gate ffn_up ffn_down") {
			matrix(fmt.Sprintf("blk.%d.%s.weight", i, name), dim)
		}
	}
	var files [2]*weights.File
	for i, b := range builders {
		var err error
		if files[i], err = weights.Parse(format.Name, b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	return files[0], files[1]
}

// Every quantised format gives the same bits for many rows as for one row at a time, and nearly the
// same logits as the same weights in F32. With activations that are not quantised, it gives the bits
// of these.
func TestEveryFormat(t *testing.T) {
	for _, format := range ref.Formats() {
		t.Run(format.Name, func(t *testing.T) {
			blocks, floats := blocksModel(t, format)
			load := func(file *weights.File, activations string) *model.Model {
				m, err := model.Load(context.Background(), newBackend(t, 1).WithActivations(activations), file, model.Options{MaxRows: mostRows}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			m := load(blocks, "q8")
			ids := randomIDs(mostRows, m.Config().Vocab, 1)
			want := runSteps(t, m, newCache(t, m), ids, 1)
			for _, rows := range rowCounts() {
				runSteps(t, m, newCache(t, m), ids, rows).same(t, fmt.Sprint("m = ", rows), want)
			}
			wide := load(floats, "q8")
			exact := runSteps(t, wide, newCache(t, wide), ids, 1)
			for i, row := range exact.scores {
				if distance := relativeDistance(want.scores[i], row); !(distance <= 0.05) {
					t.Errorf("row %d is %.3g of its length away from the scores of exact activations", i, distance)
				}
			}
			m = load(blocks, "f32")
			for _, rows := range append(rowCounts(), 1) {
				runSteps(t, m, newCache(t, m), ids, rows).same(t, fmt.Sprint("f32, m = ", rows), exact)
			}
		})
	}
}

// relativeDistance is |got − want| / |want| as vectors.
func relativeDistance(got, want []float32) float64 {
	var difference, length float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		difference += d * d
		length += float64(want[i]) * float64(want[i])
	}
	return math.Sqrt(difference / length)
}
