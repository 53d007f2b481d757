package model

// sandwiches lists the families that normalise the outputs of attention and of the feed-forward network
// before they are added to the residual stream. Families with onlyPostNorms normalise only the outputs,
// the others also the inputs.
func sandwiches() []architecture {
	return []architecture{
		{name: "olmo2", neoX: true, qkNorm: allHeads, has: onlyPostNorms(), windows: windows{some: true, fullEvery: 4, unscaled: true}, // OLMo 2 and OLMo 3
			saved: saved{types: []string{"olmo2", "olmo3"}, tensors: savedPostNorms()}},
		{name: "exaone4", neoX: true, has: onlyPostNorms(), rotates: windowOnly, windows: windows{some: true, fullEvery: 4},
			saved: saved{types: []string{"exaone4"}, tensors: savedPostNorms()}},
		{
			name: "muse-glimmer", normEmbeddings: true, postNormEps: 1e-8, rotates: windowOnly,
			has:     needs{"post_norms": required, "qk_norm": required, "attention_gate": required},
			windows: windows{some: true, fullEvery: 4, unscaled: true},
			read: func(m *metadata, c *Config) {
				c.LogitScale = m.number("logit_scale", 0, 1e-6, 1e6)
				c.LogitCap, _ = m.maybe("final_logit_softcapping", 0, 1e6)
			},
		},
		{name: "glm4", has: needs{"post_norms": required}, saved: saved{
			types: []string{"glm4"}, defaults: map[string]any{"partial_rotary_factor": 0.5},
			tensors: map[string]string{"post_self_attn_layernorm": "post_attention_norm", "post_mlp_layernorm": "post_ffw_norm"},
		}},
	}
}

// savedPostNorms maps the names that folders give the norms of the outputs to those in GGUF files.
func savedPostNorms() map[string]string {
	return map[string]string{"post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm"}
}

func onlyPostNorms() needs {
	return needs{"attention_norm": absent, "feed_forward_norm": absent, "post_norms": required, "qk_norm": required}
}
