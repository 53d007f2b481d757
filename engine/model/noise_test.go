package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// noisy builds files of families that package random does not make. Their widths are whole blocks,
// so that matrices can be of any type. The fixtures of these families are F32 only.
type noisy struct {
	gguf.Builder
	rng *rand.Rand
	typ compute.DType
}

func newNoisy(arch string, typ compute.DType, numbers map[string]int) *noisy {
	n := &noisy{rng: rand.New(rand.NewPCG(3, 4)), typ: typ}
	n.Set("general.architecture", arch)
	for key, value := range numbers {
		n.Set(arch+"."+key, uint32(value))
	}
	n.Set(arch+".attention.layer_norm_rms_epsilon", float32(1e-6))
	return n
}

// matrix adds a tensor of random numbers. dims are those of the file: columns first.
func (n *noisy) matrix(name string, dims ...uint64) {
	count := uint64(1)
	for _, d := range dims {
		count *= d
	}
	n.Tensor(name+".weight", n.typ, gguf.Encode(n.typ, n.numbers(int(count), 0)), dims...)
}

// vectors adds tensors around 1.
func (n *noisy) vectors(length int, names ...string) {
	for _, name := range names {
		n.Vector(name, n.numbers(length, 1))
	}
}

func (n *noisy) numbers(count int, around float32) []float32 {
	all := make([]float32, count)
	for i := range all {
		all[i] = around + (n.rng.Float32()-0.5)/4
	}
	return all
}

// latentNumbers are the sizes of noisyLatent.
func latentNumbers() map[string]int {
	return map[string]int{
		"block_count": 3, "context_length": 512, "embedding_length": 64, "feed_forward_length": 96, "attention.head_count": 4,
		"attention.head_count_kv": 1, "attention.key_length": 64 + 32, "attention.value_length": 64, "attention.key_length_mla": 32 + 32,
		"attention.value_length_mla": 64, "attention.kv_lora_rank": 64, "attention.q_lora_rank": 96, "rope.dimension_count": 32,
		"expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 32, "expert_shared_count": 1, "leading_dense_block_count": 1,
	}
}

// noisyLatent is a model with compressed queries, keys and values, and experts in all layers but the
// first. more, which may be nil, adds to it.
func noisyLatent(typ compute.DType, more func(*noisy)) []byte {
	const dim, heads, rank, turned, plain, value, query, experts = 64, 4, 64, 32, 32, 64, 96, 4
	n := newNoisy("deepseek2", typ, latentNumbers())
	n.matrix("token_embd", dim, 128)
	n.vectors(dim, "output_norm.weight")
	for i := range 3 {
		at := fmt.Sprintf("blk.%d.", i)
		n.vectors(dim, at+"attn_norm.weight", at+"ffn_norm.weight")
		n.vectors(rank, at+"attn_kv_a_norm.weight")
		n.vectors(query, at+"attn_q_a_norm.weight")
		n.matrix(at+"attn_q_a", dim, query)
		n.matrix(at+"attn_q_b", query, heads*(plain+turned))
		n.matrix(at+"attn_kv_a_mqa", dim, rank+turned)
		n.matrix(at+"attn_k_b", plain, rank, heads)
		n.matrix(at+"attn_v_b", rank, value, heads)
		n.matrix(at+"attn_output", heads*value, dim)
		if i == 0 {
			n.matrix(at+"ffn_gate", dim, 96)
			n.matrix(at+"ffn_up", dim, 96)
			n.matrix(at+"ffn_down", 96, dim)
			continue
		}
		n.matrix(at+"ffn_gate_inp", dim, experts)
		n.matrix(at+"ffn_gate_up_exps", dim, 64, experts)
		n.matrix(at+"ffn_down_exps", 32, dim, experts)
		n.matrix(at+"ffn_gate_shexp", dim, 32)
		n.matrix(at+"ffn_up_shexp", dim, 32)
		n.matrix(at+"ffn_down_shexp", 32, dim)
	}
	if more != nil {
		more(n)
	}
	return n.Bytes()
}

// noisyGemma4 is a model with embeddings for each layer, a last layer that shares keys, and experts
// beside dense networks. more, which may be nil, adds to it.
func noisyGemma4(typ compute.DType, more func(*noisy)) []byte {
	const dim, heads, own, experts, layers = 64, 4, 32, 4, 4
	n := newNoisy("gemma4", typ, map[string]int{
		"block_count": layers, "context_length": 512, "embedding_length": dim, "feed_forward_length": 96, "attention.head_count": heads,
		"attention.head_count_kv": 2, "attention.key_length": 64, "attention.value_length": 64, "attention.key_length_swa": 32,
		"attention.value_length_swa": 32, "rope.dimension_count": 64, "rope.dimension_count_swa": 32, "attention.sliding_window": 16,
		"attention.sliding_window_pattern": 2, "attention.shared_kv_layers": 1, "embedding_length_per_layer_input": own,
		"expert_count": experts, "expert_used_count": 2, "expert_feed_forward_length": 32,
	})
	n.matrix("token_embd", dim, 128)
	n.matrix("per_layer_token_embd", own*layers, 128)
	n.matrix("per_layer_model_proj", dim, own*layers)
	n.vectors(own, "per_layer_proj_norm.weight")
	n.vectors(dim, "output_norm.weight")
	for i := range layers {
		at, head := fmt.Sprintf("blk.%d.", i), 32+32*(i%2)
		for _, name := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_ffw_norm_1", "pre_ffw_norm_2", "post_ffw_norm_2", "post_norm"} {
			n.vectors(dim, at+name+".weight")
		}
		n.vectors(head, at+"attn_q_norm.weight", at+"attn_k_norm.weight")
		n.vectors(1, at+"layer_output_scale.weight")
		n.vectors(dim, at+"ffn_gate_inp.scale")
		n.vectors(experts, at+"ffn_down_exps.scale")
		n.matrix(at+"attn_q", dim, uint64(heads*head))
		n.matrix(at+"attn_k", dim, uint64(2*head))
		n.matrix(at+"attn_v", dim, uint64(2*head))
		n.matrix(at+"attn_output", uint64(heads*head), dim)
		n.matrix(at+"ffn_gate", dim, 96)
		n.matrix(at+"ffn_up", dim, 96)
		n.matrix(at+"ffn_down", 96, dim)
		n.matrix(at+"ffn_gate_inp", dim, experts)
		n.matrix(at+"ffn_gate_up_exps", dim, 64, experts)
		n.matrix(at+"ffn_down_exps", 32, dim, experts)
		n.matrix(at+"inp_gate", dim, own)
		n.matrix(at+"proj", own, dim)
	}
	if more != nil {
		more(n)
	}
	return n.Bytes()
}

// someFamilies returns models with quantised weights of families whose fixtures are F32.
func someFamilies() (all []subject) {
	for name, build := range map[string]func(compute.DType, func(*noisy)) []byte{"gemma4": noisyGemma4, "deepseek2": noisyLatent} {
		for _, typ := range []compute.DType{compute.Q8_0, compute.F16} {
			all = append(all, subject{name: fmt.Sprint("random ", name, " ", gguf.TypeName(typ)), open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
				file, err := weights.Parse(name, build(typ, nil))
				if err != nil {
					t.Fatal(err)
				}
				m, err := model.Load(context.Background(), b, file, o, nil)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}})
		}
	}
	return all
}
