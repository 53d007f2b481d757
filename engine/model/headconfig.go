package model

import (
	"encoding/json"
	"fmt"
	"math"

	"specula/engine/weights/safetensors"
)

// headConfig is the config.json next to a head, with the keys of transformers, vLLM, SGLang, Medusa and
// speculators. A missing value is nil, 0 or empty; then it comes from the shapes of tensors, from the
// target, or from these programs' defaults.
type headConfig struct {
	Heads              int          `json:"num_attention_heads"`
	HeadDim            int          `json:"head_dim"`
	NormEps            *float64     `json:"rms_norm_eps"`
	RopeTheta          *float64     `json:"rope_theta"`
	RopeScale          *ropeScaling `json:"rope_scaling"`
	Activation         string       `json:"hidden_act"`
	NormBeforeResidual bool         `json:"norm_before_residual"`
	// Aux and EagleConfig.Aux list the hidden states that EAGLE-3 reads. In Aux, i is the state before
	// layer i, as in vLLM. In EagleConfig.Aux, i is the state after layer i, as in SGLang.
	Aux         []int `json:"eagle_aux_hidden_state_layer_ids"`
	EagleConfig struct {
		Aux []int `json:"eagle_aux_hidden_state_layer_ids"`
	} `json:"eagle_config"`
	MedusaHeads int `json:"medusa_num_heads"`
	// Layer is the part of the config about the transformer layer, in files of the library speculators.
	Layer *headConfig `json:"transformer_layer_config"`
}

// ropeScaling says how the rotary frequencies differ from those of rope_theta.
type ropeScaling struct {
	Type     string  `json:"type"`
	RopeType string  `json:"rope_type"` // the newer name
	Factor   float64 `json:"factor"`
	Low      float64 `json:"low_freq_factor"`
	High     float64 `json:"high_freq_factor"`
	Original float64 `json:"original_max_position_embeddings"`
}

// llama3 returns the divisor of a frequency. With the wavelength w = 2π/frequency in tokens, the divisor
// is Factor if Original/w is below Low, and 1 if Original/w is above High. In between, the reciprocal of
// the divisor is interpolated. Source: the reference code of Llama 3.1.
func (r *ropeScaling) llama3(frequency float64) float64 {
	wave := 2 * math.Pi / frequency
	smooth := (r.Original/wave - r.Low) / (r.High - r.Low)
	smooth = min(max(smooth, 0), 1)
	return 1 / ((1-smooth)/r.Factor + smooth)
}

func readHeadConfig(file *safetensors.File) (headConfig, error) {
	var c headConfig
	if file.Config() == nil {
		return c, nil
	}
	if err := json.Unmarshal(file.Config(), &c); err != nil {
		return c, fmt.Errorf("reading the config.json beside %q: %w", file.Name(), err)
	}
	if l := c.Layer; l != nil {
		c.Heads, c.HeadDim, c.NormEps, c.RopeTheta, c.RopeScale, c.Activation = l.Heads, l.HeadDim, l.NormEps, l.RopeTheta, l.RopeScale, l.Activation
	}
	if c.Activation != "" && c.Activation != "silu" {
		return c, fmt.Errorf("hidden_act is %.32q in the config.json beside %q; allowed is silu", c.Activation, file.Name())
	}
	return c, nil
}

// shape returns the sizes of a layer whose query and key projections have this many rows. Without
// config.json, the size of an attention head, the base of RoPE and the epsilon of norms are the
// target's. If config.json gives neither the size nor the number of attention heads, the size is the
// target's. If it lacks base or epsilon, the default of transformers is taken.
func (c headConfig) shape(file *safetensors.File, target *Config, dim, queries, keys int) (Config, error) {
	s := Config{
		Architecture: "eagle", Layers: 1, Dim: dim, HeadDim: target.HeadDim, RopeBase: target.RopeBase, NormEps: target.NormEps,
	}
	if file.Config() != nil {
		s.RopeBase, s.NormEps = 10_000, 1e-6
	}
	if c.RopeTheta != nil {
		s.RopeBase = *c.RopeTheta
	}
	if c.NormEps != nil {
		s.NormEps = *c.NormEps
	}
	if c.Heads > 0 {
		s.HeadDim = queries / c.Heads
	}
	if c.HeadDim > 0 {
		s.HeadDim = c.HeadDim
	}
	s.RopeDim = s.HeadDim
	if s.HeadDim < 1 || s.HeadDim > maxValueDim || s.HeadDim%2 != 0 || queries%s.HeadDim != 0 || keys%s.HeadDim != 0 || keys > queries || queries%keys != 0 {
		return s, fmt.Errorf("query and key projections of %d and %d numbers cannot be divided into heads of %d, the size that the config.json beside %q gives, or the target without it", queries, keys, s.HeadDim, file.Name())
	}
	if !(s.RopeBase >= 1 && s.RopeBase <= 1e12) || !(s.NormEps >= 1e-12 && s.NormEps <= 0.1) {
		return s, fmt.Errorf("rope_theta is %g and rms_norm_eps %g in the config.json beside %q; allowed are 1 to 1e12 and 1e-12 to 0.1", s.RopeBase, s.NormEps, file.Name())
	}
	s.Heads, s.KVHeads, s.AttentionScale = queries/s.HeadDim, keys/s.HeadDim, 1/math.Sqrt(float64(s.HeadDim))
	return s, nil
}

// factors returns the divisor of each rotary frequency; nil means 1 for all.
func (c headConfig) factors(s Config) ([]float32, error) {
	r := c.RopeScale
	if r == nil {
		return nil, nil
	}
	kind := r.RopeType
	if kind == "" {
		kind = r.Type
	}
	factors := make([]float32, s.RopeDim/2)
	for i := range factors {
		switch kind {
		case "", "default":
			factors[i] = 1
		case "linear":
			factors[i] = float32(r.Factor)
		case "llama3":
			factors[i] = float32(r.llama3(math.Pow(s.RopeBase, -2*float64(i)/float64(s.RopeDim))))
		default:
			return nil, fmt.Errorf("rope_scaling is %.32q; allowed are default, linear and llama3", kind)
		}
		if f := float64(factors[i]); !(f > 0 && f <= math.MaxFloat32) {
			return nil, fmt.Errorf("rope_scaling of type %.32q divides frequency %d by %g; allowed are positive finite numbers", kind, i, f)
		}
	}
	return factors, nil
}
