package model

import "specula/engine/compute"

// layerNormed lists the families whose norms subtract the mean and add a bias.
func layerNormed() []architecture {
	return []architecture{
		// StableLM 2 12B has no second norm: its feed-forward network reads what attention reads.
		{name: "stablelm", neoX: true, layerNorm: true, qkNorm: eachHeadOwn, has: needs{
			"norm_bias": required, "feed_forward_norm": optional, "feed_forward_norm_bias": optional, "qk_norm": optional,
		}, saved: saved{
			types: []string{"stablelm"}, defaults: map[string]any{"partial_rotary_factor": 0.25},
			tensors: map[string]string{"self_attn.q_layernorm": "attn_q_norm", "self_attn.k_layernorm": "attn_k_norm"},
		}},
		{name: "starcoder2", neoX: true, layerNorm: true, activation: compute.GELU, has: needs{
			"norm_bias": required, "feed_forward_norm_bias": required, "gate": absent,
		}, saved: saved{
			types: []string{"starcoder2"}, tied: true, tensors: map[string]string{"mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"},
		}},
		// Nemotron's norms multiply by 1 + weight. GGUF files have this sum.
		{name: "nemotron", neoX: true, layerNorm: true, activation: compute.ReLUSquared, has: needs{
			"norm_bias": required, "feed_forward_norm_bias": required, "gate": absent,
		}, saved: saved{
			types: []string{"nemotron"}, plusOne: true, defaults: map[string]any{"partial_rotary_factor": 0.5},
		}},
	}
}
