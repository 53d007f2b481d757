package random

import "specula/engine/weights/gguf"

// Latent are the sizes of compressed keys and values; engine/model says what each is.
type Latent struct{ Dim, Turned, Plain, Value, QueryDim int }

// latentAttention adds the tensors of a layer's attention over compressed keys and values. perHead adds a tensor
// that has a matrix for each head.
func (s *Shape) latentAttention(layer func(string) string, matrix, perHead func(string, int, int), vector func(string, int)) {
	l := s.Latent
	matrix(layer("attn_q_a"), l.QueryDim, s.Dim)
	vector(layer("attn_q_a_norm"), l.QueryDim)
	matrix(layer("attn_q_b"), s.Heads*(l.Plain+l.Turned), l.QueryDim)
	matrix(layer("attn_kv_a_mqa"), l.Dim+l.Turned, s.Dim)
	vector(layer("attn_kv_a_norm"), l.Dim)
	perHead(layer("attn_k_b"), l.Dim, l.Plain)
	perHead(layer("attn_v_b"), l.Value, l.Dim)
	matrix(layer("attn_output"), s.Dim, s.Heads*l.Value)
}

func (l Latent) setHyperparameters(b *gguf.Builder, arch string, layers int) {
	for _, h := range []struct {
		key   string
		value int
	}{
		{"attention.kv_lora_rank", l.Dim}, {"attention.q_lora_rank", l.QueryDim}, {"attention.key_length_mla", l.Plain + l.Turned},
		{"attention.value_length_mla", l.Value}, {"rope.dimension_count", l.Turned}, {"leading_dense_block_count", layers},
	} {
		b.Set(arch+"."+h.key, uint32(h.value))
	}
}
