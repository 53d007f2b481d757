package model

// llamaLike lists the families with the order of Llama: RMSNorm, attention, RMSNorm, gated
// feed-forward network.
func llamaLike() []architecture {
	return []architecture{
		{name: "llama"}, // also Mistral, Falcon 3, SmolLM 1 and 2
		{name: "qwen2", neoX: true, has: needs{"qkv_bias": required}},
		{name: "qwen3", neoX: true, has: needs{"qk_norm": required}},
		// Qwen 1 states the width of both halves of its network together.
		{name: "qwen", neoX: true, has: needs{"qkv_bias": required}, read: func(_ *metadata, c *Config) { c.FFN /= 2 }},
		// In a text, the three coordinates of a token's position are equal. So M-RoPE is RoPE.
		{name: "qwen2vl", neoX: true, has: needs{"qkv_bias": required}},
		{name: "qwen3vl", neoX: true, has: needs{"qk_norm": required}},
		{name: "mistral3", read: temperature},
		{name: "phi3", neoX: true, windows: windows{some: true}},
		{name: "granite", read: granite},
		{name: "smollm3", rotates: threeOfFour},
		{name: "ernie4_5"},
		{name: "internlm2"},
		{name: "seed_oss", neoX: true, named: map[string]string{"ffn_norm": "post_attention_norm"}},
		{name: "hunyuan-dense", neoX: true, rotateFirst: true, has: needs{"qk_norm": required}},
	}
}

// granite reads the factors of Granite 3: of embeddings, of what a block adds, of q·k, and the
// divisor of the logits. It refuses a model without rotary positions.
func granite(m *metadata, c *Config) {
	c.EmbeddingScale, _ = m.maybe("embedding_scale", 0, 1e6)
	c.ResidualScale, _ = m.maybe("residual_scale", 0, 1e6)
	c.LogitScale = 1 / m.number("logit_scale", 1, 1e-6, 1e6)
	if scale, _ := m.maybe("attention.scale", 0, 1e6); scale > 0 {
		c.AttentionScale = scale
	}
	if rotates, found, err := m.file.Bool(m.key("rope.scaling.finetuned")); err != nil || found && !rotates {
		m.fail(m.key("rope.scaling.finetuned"), rotates, "true: a granite model without rotary positions is not supported")
	}
}

// temperature reads how queries grow with their position. Source: Llama 4; Ministral 3.
func temperature(m *metadata, c *Config) {
	if scale, _ := m.maybe("attention.temperature_scale", 0, 100); scale > 0 {
		c.TemperatureScale, c.TemperatureLength = scale, c.Scaling.Original
	}
}
