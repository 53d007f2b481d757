package model

import (
	"math"

	"specula/engine/weights/folder"
)

// positions copies to the metadata how positions are rotated and scaled.
func (c *savedConfig) positions() {
	c.rope = c.fields.Object("rope_parameters")
	if c.fields.Has("rope_parameters") == "" { // written before version 5 of transformers
		c.rope = c.fields.Object("rope_scaling")
	}
	if c.rope.Has("full_attention") != "" {
		c.rope, c.near = c.rope.Object("full_attention"), c.rope.Object("sliding_attention")
		c.number("rope.freq_base_swa", c.near, "rope_theta")
	} else {
		c.number("rope.freq_base_swa", c.fields, "rope_local_base_freq")
	}
	outer := map[string]any{}
	for _, name := range []string{"rope_theta", "partial_rotary_factor", "original_max_position_embeddings"} {
		outer[name] = c.fields.Value(name)
	}
	c.rope = c.rope.With(outer)
	c.number("rope.freq_base", c.rope, "rope_theta")
	if share, name := c.rope.Number("partial_rotary_factor"); name != "" {
		c.set("rope.dimension_count", uint64(min(max(share, 0), 1)*float64(c.headDim)), name)
	}
	c.scaling()
}

// scaling copies to the metadata how positions are scaled to longer texts.
func (c *savedConfig) scaling() {
	name := c.rope.Has("rope_type", "type")
	kind := c.rope.Text("rope_type", "type")
	original := func() { c.integer("rope.scaling.original_context_length", c.rope, "original_max_position_embeddings") }
	set := func(kind string) { c.set("rope.scaling.type", kind, name) }
	switch kind {
	case "", "default", "mrope": // for text, the coordinates of a position are equal, so M-RoPE is RoPE
	case "linear":
		set(kind)
		c.number("rope.scaling.factor", c.rope, "factor")
	case "yarn":
		set(kind)
		c.number("rope.scaling.factor", c.rope, "factor")
		c.number("rope.scaling.yarn_beta_fast", c.rope, "beta_fast")
		c.number("rope.scaling.yarn_beta_slow", c.rope, "beta_slow")
		c.number("rope.scaling.yarn_attn_factor", c.rope, "attention_factor", "attn_factor")
		c.rope.Only("truncate", true)
		original()
	case "dynamic":
		c.dynamic()
	case "llama3":
		c.llama3()
	case "longrope", "su":
		set("longrope")
		original()
		c.longRope()
	default:
		c.rope.Refuse(name, "default, linear, dynamic, yarn, longrope and llama3")
	}
}

// dynamic copies a scaling that grows with the text. The context is multiplied by the factor, because
// config.json states the length before scaling.
func (c *savedConfig) dynamic() {
	if c.rope.Has("alpha") != "" {
		return // HunYuan uses alpha for a fixed base
	}
	factor, _ := c.number("rope.scaling.factor", c.rope, "factor")
	length, name := c.fields.Integer("max_position_embeddings")
	c.set("rope.scaling.type", "dynamic", "rope_type")
	c.set("rope.scaling.original_context_length", uint64(length), name)
	c.set("context_length", uint64(min(max(factor, 1)*float64(length), mostTokens)), name)
}

// llama3 makes the tensor with Llama 3.1's divisors of the rotary frequencies.
func (c *savedConfig) llama3() {
	var s ropeScaling
	s.Factor, _ = c.rope.Number("factor")
	s.Low, _ = c.rope.Number("low_freq_factor")
	s.High, _ = c.rope.Number("high_freq_factor")
	s.Original, _ = c.rope.Number("original_max_position_embeddings")
	base, found := c.rope.Number("rope_theta")
	if found == "" {
		base = 10_000
	}
	if !(s.Factor >= 1 && s.Low > 0 && s.High > s.Low && s.Original >= 1 && base > 1) || c.headDim > maxValueDim {
		c.rope.Refuse("rope_type", "llama3 with a factor from 1 on, 0 < low_freq_factor < high_freq_factor, and original_max_position_embeddings")
		return
	}
	divisors := make([]float32, c.headDim/2)
	for i := range divisors {
		divisors[i] = float32(s.llama3(math.Pow(base, -2*float64(i)/float64(c.headDim))))
	}
	c.generated = append(c.generated, folder.Tensor{Name: "rope_freqs.weight", Numbers: divisors})
}

// longRope makes the tensors with the divisors of LongRoPE, and the factor of cosine and sine.
// Source: Ding et al., LongRoPE, 2024, and Phi-3's code.
func (c *savedConfig) longRope() {
	for _, f := range []struct{ field, tensor string }{{"long_factor", "rope_factors_long.weight"}, {"short_factor", "rope_factors_short.weight"}} {
		numbers := c.rope.Numbers(f.field)
		if len(numbers) == 0 || len(numbers) > maxValueDim {
			c.rope.Refuse(f.field, "a list with one number for each pair that is rotated")
			return
		}
		divisors := make([]float32, len(numbers))
		for i, x := range numbers {
			divisors[i] = float32(x)
		}
		c.generated = append(c.generated, folder.Tensor{Name: f.tensor, Numbers: divisors})
		c.names[f.tensor] = f.field
	}
	now, _ := c.fields.Integer("max_position_embeddings")
	before, name := c.rope.Integer("original_max_position_embeddings")
	if name == "" || before < 2 {
		c.rope.Refuse("original_max_position_embeddings", "the number of tokens before scaling, from 2 on")
		return
	}
	if given, found := c.rope.Number("attention_factor"); found != "" {
		c.set("rope.scaling.attn_factor", float32(given), found)
		return
	}
	magnitude := 1.0
	if ratio := float64(now) / float64(before); ratio > 1 {
		magnitude = math.Sqrt(1 + math.Log(ratio)/math.Log(float64(before)))
	}
	c.set("rope.scaling.attn_factor", float32(magnitude), name)
}
