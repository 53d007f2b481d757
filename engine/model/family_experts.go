package model

import "specula/engine/compute"

// mixtures lists families whose feed-forward networks are mixtures of experts. More are among deepseeks,
// gemma4s and hybrids; Mixtral's files have the architecture llama.
func mixtures() []architecture {
	return []architecture{
		{name: "qwen3moe", neoX: true, has: needs{"qk_norm": required}, experts: experts{some: true, only: true, normed: true}},
		{name: "qwen3vlmoe", neoX: true, has: needs{"qk_norm": required}, experts: experts{some: true, only: true, normed: true}},
		{name: "qwen2moe", neoX: true, has: needs{"qkv_bias": required, "shared_factor": required}, experts: experts{some: true, only: true, shared: true}},
		{name: "granitemoe", read: granite, experts: experts{some: true, only: true, normed: true, shared: true}},
		{name: "ernie4_5-moe", has: needs{"choice_bias": optional}, experts: experts{some: true, only: true, normed: true, shared: true}},
		{
			name: "gpt-oss", neoX: true, named: map[string]string{"ffn_norm": "post_attention_norm"}, activation: compute.ClampedSwiGLU,
			has:     needs{"qkv_bias": required, "sinks": required, "expert_bias": required},
			windows: windows{some: true, fullEvery: 2},
			experts: experts{some: true, only: true, normed: true},
			read:    func(_ *metadata, c *Config) { c.Scaling.Unrounded = true },
		},
		{
			name: "minimax-m2", neoX: true, qkNorm: allHeads, has: needs{"qk_norm": required, "choice_bias": required},
			experts: experts{some: true, only: true, sigmoid: true, normed: true},
		},
		{
			name: "glm4moe", neoX: true, named: map[string]string{"ffn_norm": "post_attention_norm"},
			has:     needs{"qk_norm": optional, "choice_bias": required},
			experts: experts{some: true, only: true, sigmoid: true, normed: true, shared: true},
		},
	}
}
