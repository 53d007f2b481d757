package model

// sandwiches lists the families that normalise what attention and the feed-forward network add to
// the residual stream. Those with onlyPostNorms do not normalise what the two read.
func sandwiches() []architecture {
	return []architecture{
		{name: "olmo2", neoX: true, qkNorm: allHeads, has: onlyPostNorms(), windows: windows{some: true, fullEvery: 4, unscaled: true}}, // and OLMo 3
		{name: "exaone4", neoX: true, has: onlyPostNorms(), rotates: windowOnly, windows: windows{some: true, fullEvery: 4}},
		{
			name: "muse-glimmer", normEmbeddings: true, postNormEps: 1e-8, rotates: windowOnly,
			has:     needs{"post_norms": required, "qk_norm": required, "attention_gate": required},
			windows: windows{some: true, fullEvery: 4, unscaled: true},
			read: func(m *metadata, c *Config) {
				c.LogitScale = m.number("logit_scale", 0, 1e-6, 1e6)
				c.LogitCap, _ = m.maybe("final_logit_softcapping", 0, 1e6)
			},
		},
		{name: "glm4", has: needs{"post_norms": required}},
	}
}

func onlyPostNorms() needs {
	return needs{"attention_norm": absent, "feed_forward_norm": absent, "post_norms": required, "qk_norm": required}
}
