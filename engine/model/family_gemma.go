package model

import (
	"math"

	"specula/engine/compute"
)

// gemmas lists the families of Google's Gemma. Gemma's norms multiply by 1 + weight. GGUF files have
// this sum, so a pass uses the usual norm.
func gemmas() []architecture {
	return []architecture{
		{
			name: "gemma", neoX: true, activation: compute.GELU, read: embeddingsByWidth,
			saved: saved{types: []string{"gemma"}, plusOne: true, tied: true},
		},
		{
			name: "gemma2", neoX: true, activation: compute.GELU, has: needs{"post_norms": required},
			windows: windows{some: true, fullEvery: 2, size: 4096},
			read: func(m *metadata, c *Config) {
				embeddingsByWidth(m, c)
				c.AttentionCap = m.number("attn_logit_softcapping", 50, 1e-3, 1e6)
				c.LogitCap = m.number("final_logit_softcapping", 30, 1e-3, 1e6)
				scaleByWidth(c, 46)
			},
			saved: saved{
				types: []string{"gemma2"}, plusOne: true, tied: true, tensors: gemmaNorms(),
				read: func(c *savedConfig) {
					c.number("attn_logit_softcapping", c.fields, "attn_logit_softcapping")
					c.number("final_logit_softcapping", c.fields, "final_logit_softcapping")
					c.scoresByWidth(46)
				},
			},
		},
		{
			name: "gemma3", neoX: true, activation: compute.GELU, has: needs{"post_norms": required, "qk_norm": required},
			windows: windows{some: true, fullEvery: 6, base: 10_000, unscaled: true},
			read: func(m *metadata, c *Config) {
				embeddingsByWidth(m, c)
				c.LogitCap, _ = m.maybe("final_logit_softcapping", 0, 1e6)
				scaleByWidth(c, 62)
			},
			saved: saved{
				types: []string{"gemma3_text", "gemma3"}, plusOne: true, tied: true, tensors: gemmaNorms(),
				// The configs of models with vision leave out the usual values.
				defaults: map[string]any{
					"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
					"rope_theta": 1e6,
				},
				read: func(c *savedConfig) {
					c.number("final_logit_softcapping", c.fields, "final_logit_softcapping")
					c.fields.Only("use_bidirectional_attention", false)
					c.scoresByWidth(62)
				},
			},
		},
	}
}

// gemmaNorms maps the names that folders give the norms after attention and around the feed-forward
// network to those in GGUF files.
func gemmaNorms() map[string]string {
	return map[string]string{
		"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
	}
}

// embeddingsByWidth sets the factor of embeddings to √Dim.
func embeddingsByWidth(_ *metadata, c *Config) { c.EmbeddingScale = math.Sqrt(float64(c.Dim)) }

// scaleByWidth sets the factor of q·k to 1/√(Dim/Heads) in a model with the given number of layers.
// That is the model of 27 B parameters, whose heads are narrower than Dim/Heads.
func scaleByWidth(c *Config, layers int) {
	if c.Layers == layers {
		c.AttentionScale = 1 / math.Sqrt(float64(c.Dim)/float64(c.Heads))
	}
}
