package model

// parallels lists the families whose feed-forward network reads the same normed input as attention.
// Their files have no second norm.
func parallels() []architecture {
	savedCohere := func(c *savedConfig) {
		c.number("logit_scale", c.fields, "logit_scale")
		if length, name := c.fields.Integer("model_max_length"); name != "" { // Command R; its max_position_embeddings says 8192
			c.set("context_length", uint64(length), name)
		}
	}
	cohere := func(m *metadata, c *Config) { c.LogitScale = m.number("logit_scale", 0, 1e-6, 1e6) }
	return []architecture{
		{
			name: "command-r", layerNorm: true, qkNorm: eachHeadOwn, has: needs{"feed_forward_norm": absent, "qk_norm": optional}, read: cohere,
			saved: saved{types: []string{"cohere"}, tied: true, defaults: map[string]any{"logit_scale": 0.0625}, read: savedCohere},
		},
		{
			name: "cohere2", layerNorm: true, has: needs{"feed_forward_norm": absent}, rotates: windowOnly,
			windows: windows{some: true, fullEvery: 4}, read: cohere,
			saved: saved{types: []string{"cohere2"}, tied: true, defaults: map[string]any{"logit_scale": 0.0625}, read: savedCohere},
		},
	}
}
