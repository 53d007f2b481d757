package model

import "math"

// llamaLike lists the families with the order of Llama: RMSNorm, attention, RMSNorm, gated
// feed-forward network.
func llamaLike() []architecture {
	return []architecture{
		{name: "llama", experts: experts{some: true, normed: true}, saved: saved{types: []string{"llama", "mistral"}, halves: true}}, // also Falcon 3, SmolLM 1 and 2, Mixtral
		{name: "qwen2", neoX: true, has: needs{"qkv_bias": required}, saved: saved{types: []string{"qwen2"}}},
		{name: "qwen3", neoX: true, has: needs{"qk_norm": required}, saved: saved{types: []string{"qwen3"}}},
		// Qwen 1 states twice the width of its feed-forward network: the rows of gate and up together.
		{name: "qwen", neoX: true, has: needs{"qkv_bias": required}, read: func(_ *metadata, c *Config) { c.FFN /= 2 }},
		// For text, the three coordinates of a position are equal, so M-RoPE is RoPE.
		{name: "qwen2vl", neoX: true, has: needs{"qkv_bias": required}, saved: saved{
			types: []string{"qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"},
		}},
		{name: "qwen3vl", neoX: true, has: needs{"qk_norm": required}, saved: saved{types: []string{"qwen3_vl", "qwen3_vl_text"}}},
		{name: "mistral3", read: temperature, saved: saved{types: []string{"ministral3"}, halves: true, read: savedMinistral}},
		{name: "phi3", neoX: true, windows: windows{some: true}, saved: saved{types: []string{"phi3"}}},
		{name: "granite", read: granite, saved: saved{types: []string{"granite"}, halves: true, read: savedGranite}},
		{name: "smollm3", rotates: threeOfFour, saved: saved{types: []string{"smollm3"}, halves: true, tied: true, read: savedSmolLM3}},
		{name: "ernie4_5", saved: saved{types: []string{"ernie4_5"}, tied: true}},
		{name: "internlm2"},
		{name: "seed_oss", neoX: true, named: map[string]string{"ffn_norm": "post_attention_norm"}, saved: saved{types: []string{"seed_oss"}}},
		{name: "hunyuan-dense", neoX: true, rotateFirst: true, has: needs{"qk_norm": required}, saved: saved{
			types:   []string{"hunyuan_v1_dense"},
			tensors: map[string]string{"self_attn.query_layernorm": "attn_q_norm", "self_attn.key_layernorm": "attn_k_norm"},
			read:    savedHunYuan,
		}},
	}
}

// granite reads the factors of Granite 3: those of embeddings, of what attention and feed-forward
// network add, and of q·k, and the divisor of the logits. It refuses a model without rotary positions.
func granite(m *metadata, c *Config) {
	if graniteHybrid(m, c); c.Unrotated {
		m.fail(m.key("rope.scaling.finetuned"), false, "true: a granite model without rotary positions is not supported")
	}
}

// graniteHybrid reads granite's factors, and whether positions are rotated.
func graniteHybrid(m *metadata, c *Config) {
	c.EmbeddingScale, _ = m.maybe("embedding_scale", 0, 1e6)
	c.ResidualScale, _ = m.maybe("residual_scale", 0, 1e6)
	c.LogitScale = 1 / m.number("logit_scale", 1, 1e-6, 1e6)
	if scale, _ := m.maybe("attention.scale", 0, 1e6); scale > 0 {
		c.AttentionScale = scale
	}
	rotates, found, err := m.file.Bool(m.key("rope.scaling.finetuned"))
	m.err = first(m.err, err)
	c.Unrotated = found && !rotates
}

// temperature reads the factor by which queries grow with their position. Source: Llama 4; Ministral 3.
func temperature(m *metadata, c *Config) {
	if scale, _ := m.maybe("attention.temperature_scale", 0, 100); scale > 0 {
		c.TemperatureScale, c.TemperatureLength = scale, c.Scaling.Original
	}
}

// savedMinistral copies the number by which queries grow with their position, and the one that lowers
// YaRN's factor of cosine and sine (yarnMagnitude). It refuses an mscale other than 1.
func savedMinistral(c *savedConfig) {
	c.number("attention.temperature_scale", c.rope, "llama_4_scaling_beta")
	c.number("rope.scaling.yarn_log_multiplier", c.rope, "mscale_all_dim")
	if scale, name := c.rope.Number("mscale"); name != "" && scale != 1 {
		c.rope.Refuse(name, "1")
	}
}

func savedGranite(c *savedConfig) {
	c.number("attention.scale", c.fields, "attention_multiplier")
	c.number("embedding_scale", c.fields, "embedding_multiplier")
	c.number("residual_scale", c.fields, "residual_multiplier")
	c.number("logit_scale", c.fields, "logits_scaling")
}

// savedSmolLM3 refuses a model whose layers without positions are not every fourth one.
func savedSmolLM3(c *savedConfig) {
	for i, rotates := range c.fields.Numbers("no_rope_layers") {
		if (rotates != 0) != (i%4 != 3) {
			c.fields.Refuse("no_rope_layers", "0 in every fourth layer, and 1 in the others")
		}
	}
}

// savedHunYuan copies HunYuan's scaling of positions, which is a larger base. config.json states 32k
// tokens, but the model accepts 256k. Source: llama.cpp's converter.
func savedHunYuan(c *savedConfig) {
	alpha, found := c.rope.Number("alpha")
	if found == "" || c.headDim < 4 {
		return
	}
	base, _ := c.rope.Number("rope_theta")
	c.set("rope.freq_base", float32(base*math.Pow(alpha, float64(c.headDim)/float64(c.headDim-2))), "alpha")
	c.set("context_length", uint64(256<<10), "max_position_embeddings")
}
