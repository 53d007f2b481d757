package model

// parallels lists the families whose feed-forward network reads the normed input of attention.
// Their files have no second norm.
func parallels() []architecture {
	cohere := func(m *metadata, c *Config) { c.LogitScale = m.number("logit_scale", 0, 1e-6, 1e6) }
	return []architecture{
		{
			name: "command-r", layerNorm: true, qkNorm: eachHeadOwn, has: needs{"feed_forward_norm": absent, "qk_norm": optional}, read: cohere,
		},
		{
			name: "cohere2", layerNorm: true, has: needs{"feed_forward_norm": absent}, rotates: windowOnly,
			windows: windows{some: true, fullEvery: 4}, read: cohere,
		},
	}
}
