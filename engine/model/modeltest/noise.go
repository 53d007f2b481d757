package modeltest

import (
	"fmt"
	"math/rand/v2"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
)

// Noisy builds files of families that package random does not make. Their widths are whole blocks,
// so that matrices can be of any type. The fixtures of these families are F32 only.
type Noisy struct {
	gguf.Builder
	rng *rand.Rand
	typ compute.DType
}

// NewNoisy begins a file of a family. numbers are the integers among its metadata.
func NewNoisy(arch string, typ compute.DType, numbers map[string]int) *Noisy {
	n := &Noisy{rng: rand.New(rand.NewPCG(3, 4)), typ: typ}
	n.Set("general.architecture", arch)
	for key, value := range numbers {
		n.Set(arch+"."+key, uint32(value))
	}
	n.Set(arch+".attention.layer_norm_rms_epsilon", float32(1e-6))
	return n
}

// Matrix adds a tensor of random numbers. dims are those of the file: columns first.
func (n *Noisy) Matrix(name string, dims ...uint64) {
	count := uint64(1)
	for _, d := range dims {
		count *= d
	}
	n.Tensor(name+".weight", n.typ, gguf.Encode(n.typ, n.numbers(int(count), 0)), dims...)
}

// Vectors adds tensors of random numbers around 1, all of the same length.
func (n *Noisy) Vectors(length int, names ...string) {
	for _, name := range names {
		n.Vector(name, n.numbers(length, 1))
	}
}

func (n *Noisy) numbers(count int, around float32) []float32 {
	all := make([]float32, count)
	for i := range all {
		all[i] = around + (n.rng.Float32()-0.5)/4
	}
	return all
}

// LatentNumbers are the sizes of NoisyLatent.
func LatentNumbers() map[string]int {
	return map[string]int{
		"block_count": 3, "context_length": 512, "embedding_length": 64, "feed_forward_length": 96, "attention.head_count": 4,
		"attention.head_count_kv": 1, "attention.key_length": 64 + 32, "attention.value_length": 64, "attention.key_length_mla": 32 + 32,
		"attention.value_length_mla": 64, "attention.kv_lora_rank": 64, "attention.q_lora_rank": 96, "rope.dimension_count": 32,
		"expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 32, "expert_shared_count": 1, "leading_dense_block_count": 1,
	}
}

// NoisyLatent is a model with compressed queries, keys and values, and experts in all layers but the
// first. more, which may be nil, adds to it.
func NoisyLatent(typ compute.DType, more func(*Noisy)) []byte {
	const dim, heads, rank, turned, plain, value, query, experts = 64, 4, 64, 32, 32, 64, 96, 4
	n := NewNoisy("deepseek2", typ, LatentNumbers())
	n.Matrix("token_embd", dim, 128)
	n.Vectors(dim, "output_norm.weight")
	for i := range 3 {
		at := fmt.Sprintf("blk.%d.", i)
		n.Vectors(dim, at+"attn_norm.weight", at+"ffn_norm.weight")
		n.Vectors(rank, at+"attn_kv_a_norm.weight")
		n.Vectors(query, at+"attn_q_a_norm.weight")
		n.Matrix(at+"attn_q_a", dim, query)
		n.Matrix(at+"attn_q_b", query, heads*(plain+turned))
		n.Matrix(at+"attn_kv_a_mqa", dim, rank+turned)
		n.Matrix(at+"attn_k_b", plain, rank, heads)
		n.Matrix(at+"attn_v_b", rank, value, heads)
		n.Matrix(at+"attn_output", heads*value, dim)
		if i == 0 {
			n.Matrix(at+"ffn_gate", dim, 96)
			n.Matrix(at+"ffn_up", dim, 96)
			n.Matrix(at+"ffn_down", 96, dim)
			continue
		}
		n.Matrix(at+"ffn_gate_inp", dim, experts)
		n.Matrix(at+"ffn_gate_up_exps", dim, 64, experts)
		n.Matrix(at+"ffn_down_exps", 32, dim, experts)
		n.Matrix(at+"ffn_gate_shexp", dim, 32)
		n.Matrix(at+"ffn_up_shexp", dim, 32)
		n.Matrix(at+"ffn_down_shexp", 32, dim)
	}
	if more != nil {
		more(n)
	}
	return n.Bytes()
}

// Gemma4 is the size of a model of this family. Its last layer attends to the keys of an earlier one.
type Gemma4 struct {
	Layers, Vocab int
	Near, Far     int // widths of heads: Near in layers 0, 2, …, which have a window, Far in the others
	Own           int // width of the embedding that each layer has for itself; 0: there are none
	Experts       int // experts beside dense networks; 0: there are none
}

// Vocabulary gives the file a vocabulary with which any text can be written.
func (n *Noisy) Vocabulary(size int) { random.SetVocabulary(&n.Builder, size) }

// NoisyGemma4 is a small model with embeddings for each layer. more, which may be nil, adds to it.
func NoisyGemma4(typ compute.DType, more func(*Noisy)) []byte {
	return Gemma4{Layers: 4, Vocab: 128, Near: 32, Far: 64, Own: 32, Experts: 4}.Bytes(typ, more)
}

// Bytes returns a file of random numbers. more, which may be nil, adds to it. If Own is 0, files that
// differ only in Layers have the same numbers in the layers that both have.
func (g Gemma4) Bytes(typ compute.DType, more func(*Noisy)) []byte {
	const dim, heads = 64, 4
	layers, vocab, own := uint64(g.Layers), uint64(g.Vocab), uint64(g.Own)
	numbers := map[string]int{
		"block_count": g.Layers, "context_length": 512, "embedding_length": dim, "feed_forward_length": 96, "attention.head_count": heads,
		"attention.head_count_kv": 2, "attention.key_length": g.Far, "attention.value_length": g.Far, "attention.key_length_swa": g.Near,
		"attention.value_length_swa": g.Near, "rope.dimension_count": g.Far, "rope.dimension_count_swa": g.Near, "attention.sliding_window": 16,
		"attention.sliding_window_pattern": 2, "attention.shared_kv_layers": 1, "embedding_length_per_layer_input": g.Own,
	}
	if g.Experts > 0 {
		numbers["expert_count"], numbers["expert_used_count"], numbers["expert_feed_forward_length"] = g.Experts, 2, 32
	}
	n := NewNoisy("gemma4", typ, numbers)
	n.Matrix("token_embd", dim, vocab)
	if g.Own > 0 {
		n.Matrix("per_layer_token_embd", own*layers, vocab)
		n.Matrix("per_layer_model_proj", dim, own*layers)
		n.Vectors(g.Own, "per_layer_proj_norm.weight")
	}
	n.Vectors(dim, "output_norm.weight")
	for i := range g.Layers {
		at, head := fmt.Sprintf("blk.%d.", i), []int{g.Near, g.Far}[i%2]
		for _, name := range []string{"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"} {
			n.Vectors(dim, at+name+".weight")
		}
		// Nothing divides the scores by the width of a head. So the queries are short: else a row would attend to
		// one key only, and any rounding could make it choose another key.
		n.Vector(at+"attn_q_norm.weight", n.numbers(head, 0.1))
		n.Vectors(head, at+"attn_k_norm.weight")
		n.Vectors(1, at+"layer_output_scale.weight")
		n.Matrix(at+"attn_q", dim, uint64(heads*head))
		n.Matrix(at+"attn_k", dim, uint64(2*head))
		n.Matrix(at+"attn_v", dim, uint64(2*head))
		n.Matrix(at+"attn_output", uint64(heads*head), dim)
		n.Matrix(at+"ffn_gate", dim, 96)
		n.Matrix(at+"ffn_up", dim, 96)
		n.Matrix(at+"ffn_down", 96, dim)
		g.addExperts(n, at)
		if g.Own > 0 {
			n.Vectors(dim, at+"post_norm.weight")
			n.Matrix(at+"inp_gate", dim, own)
			n.Matrix(at+"proj", own, dim)
		}
	}
	if more != nil {
		more(n)
	}
	return n.Bytes()
}

func (g Gemma4) addExperts(n *Noisy, at string) {
	if g.Experts == 0 {
		return
	}
	const dim = 64
	experts := uint64(g.Experts)
	n.Vectors(dim, at+"post_ffw_norm_1.weight", at+"pre_ffw_norm_2.weight", at+"post_ffw_norm_2.weight", at+"ffn_gate_inp.scale")
	n.Vectors(g.Experts, at+"ffn_down_exps.scale")
	n.Matrix(at+"ffn_gate_inp", dim, experts)
	n.Matrix(at+"ffn_gate_up_exps", dim, 64, experts)
	n.Matrix(at+"ffn_down_exps", 32, dim, experts)
}
