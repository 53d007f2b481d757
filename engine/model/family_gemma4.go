package model

import "specula/engine/compute"

// gemma4s lists Gemma 4. A file may give layers with a window narrower heads than layers without one. A
// layer may have no matrix for values; then its keys, before their norm and RoPE, serve as values.
func gemma4s() []architecture {
	return []architecture{{
		name: "gemma4", neoX: true, activation: compute.GELU, normValues: true, sharedKeys: true,
		has:     needs{"post_norms": required, "qk_norm": required, "value": optional, "layer_scale": optional},
		experts: experts{some: true, normed: true, beside: true},
		windows: windows{some: true, fullEvery: 6, base: 10_000, unscaled: true},
		read: func(m *metadata, c *Config) {
			embeddingsByWidth(m, c)
			c.LogitCap, _ = m.maybe("final_logit_softcapping", 0, 1e6)
			c.AttentionScale = 1
			c.PerLayer = m.optionalCount("embedding_length_per_layer_input", mostWide)
		},
	}}
}

// gemma4Assistant describes the drafter of Gemma 4. It is not in the list of architectures, because it is no
// model by itself: see Assistant.
func gemma4Assistant() architecture {
	a := gemma4s()[0]
	a.name, a.experts, a.borrowsAll = "gemma4-assistant", experts{}, true
	a.read = func(m *metadata, c *Config) {
		c.AttentionScale = 1
		c.TargetDim = m.count("embedding_length_out", 0, mostWide)
	}
	return a
}
