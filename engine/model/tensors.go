package model

import "specula/engine/compute"

// parameters are the weights outside the layers. The tag gguf is the name of the tensor; %d stands
// for the layer. The tag shape is its size in hyperparameters: rows,cols of a matrix or the length
// of a vector. The tag need says whether it may be missing (see architecture.needs).
type parameters struct {
	Embedding   compute.Matrix `gguf:"token_embd.weight" shape:"vocab,dim"`
	OutputNorm  compute.Vector `gguf:"output_norm.weight" shape:"dim"`
	Output      compute.Matrix `gguf:"output.weight" shape:"vocab,dim" need:"optional"`
	RopeFactors []float32      `gguf:"rope_freqs.weight" shape:"pairs" need:"optional"`
}

// layer holds the weights of one transformer block.
type layer struct {
	AttentionNorm compute.Vector `gguf:"blk.%d.attn_norm.weight" shape:"dim"`
	Query         compute.Matrix `gguf:"blk.%d.attn_q.weight" shape:"queries,dim"`
	Key           compute.Matrix `gguf:"blk.%d.attn_k.weight" shape:"keys,dim"`
	Value         compute.Matrix `gguf:"blk.%d.attn_v.weight" shape:"keys,dim"`
	QueryBias     compute.Vector `gguf:"blk.%d.attn_q.bias" shape:"queries" need:"qkv_bias"`
	KeyBias       compute.Vector `gguf:"blk.%d.attn_k.bias" shape:"keys" need:"qkv_bias"`
	ValueBias     compute.Vector `gguf:"blk.%d.attn_v.bias" shape:"keys" need:"qkv_bias"`
	QueryNorm     compute.Vector `gguf:"blk.%d.attn_q_norm.weight" shape:"head" need:"qk_norm"`
	KeyNorm       compute.Vector `gguf:"blk.%d.attn_k_norm.weight" shape:"head" need:"qk_norm"`
	Mix           compute.Matrix `gguf:"blk.%d.attn_output.weight" shape:"dim,queries"`
	MixBias       compute.Vector `gguf:"blk.%d.attn_output.bias" shape:"dim" need:"optional"`

	FeedForwardNorm compute.Vector `gguf:"blk.%d.ffn_norm.weight" shape:"dim"`
	Gate            compute.Matrix `gguf:"blk.%d.ffn_gate.weight" shape:"ffn,dim"`
	Up              compute.Matrix `gguf:"blk.%d.ffn_up.weight" shape:"ffn,dim"`
	Down            compute.Matrix `gguf:"blk.%d.ffn_down.weight" shape:"dim,ffn"`
}

// sizes gives the numbers for the names in the shape tags.
func (c *Config) sizes() map[string]int {
	return map[string]int{
		"vocab":   c.Vocab,
		"dim":     c.Dim,
		"ffn":     c.FFN,
		"queries": c.Heads * c.HeadDim,
		"keys":    c.KVHeads * c.HeadDim,
		"head":    c.HeadDim,
		"pairs":   c.RopeDim / 2,
	}
}
