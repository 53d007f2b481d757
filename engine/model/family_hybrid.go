package model

import "specula/engine/compute"

// hybrids lists families in which layers have a state of fixed size in place of keys and values, or in
// Falcon H1 beside them (recurrent.go).
func hybrids() []architecture {
	return []architecture{
		// For text, the three coordinates of a position are equal, so M-RoPE is RoPE.
		{
			name: "qwen35", neoX: true, states: states{kind: deltaNets}, queryWithGate: true,
			has:   needs{"qk_norm": required, "attention_gate": required},
			named: map[string]string{"ffn_norm": "post_attention_norm"},
		},
		{
			name: "qwen35moe", neoX: true, states: states{kind: deltaNets}, queryWithGate: true,
			has:     needs{"qk_norm": required, "attention_gate": required, "shared_factor": required},
			named:   map[string]string{"ffn_norm": "post_attention_norm"},
			experts: experts{some: true, only: true, normed: true, shared: true},
		},
		{
			name: "qwen3next", neoX: true, states: states{kind: deltaNets}, queryWithGate: true, betaWithAlpha: true, groupedHeads: true,
			has:     needs{"qk_norm": required, "attention_gate": required, "shared_factor": required},
			named:   map[string]string{"ffn_norm": "post_attention_norm"},
			experts: experts{some: true, only: true, normed: true, shared: true},
		},
		{
			name: "lfm2", neoX: true, states: states{kind: shortConvolutions},
			has: needs{"qk_norm": required}, named: convolutionNames(),
		},
		{
			name: "lfm2moe", neoX: true, states: states{kind: shortConvolutions},
			has: needs{"qk_norm": required, "choice_bias": optional}, named: convolutionNames(),
			experts: experts{some: true, only: true, sigmoid: true, normed: true},
		},
		{
			name: "granitehybrid", states: states{kind: mamba2}, read: graniteHybrid, named: mamba2Names(),
			experts: experts{some: true, normed: true, shared: true},
		},
		{
			name: "falcon-h1", neoX: true, states: states{kind: mamba2, beside: true},
			has: needs{"state_norm": optional}, named: mamba2Names("ffn_norm.weight", "ffn_norm"),
		},
		{
			name: "nemotron_h", states: states{kind: mamba2, single: true}, eitherEps: true, activation: compute.ReLUSquared, named: mamba2Names(),
			has:  needs{"gate": absent, "feed_forward_norm": absent},
			read: unrotated,
		},
		{
			name: "nemotron_h_moe", states: states{kind: mamba2, single: true}, eitherEps: true, activation: compute.ReLUSquared, named: mamba2Names(),
			has:     needs{"gate": absent, "feed_forward_norm": absent, "choice_bias": required},
			experts: experts{some: true, only: true, sigmoid: true, normed: true, shared: true, narrow: true},
			read:    unrotated,
		},
	}
}

func unrotated(_ *metadata, c *Config) { c.Unrotated = true }

// convolutionNames maps usual names to those of a short convolution's tensors. The output norm has the
// name that other families use for a norm of the embeddings.
func convolutionNames() map[string]string {
	return map[string]string{
		"output_norm": "token_embd_norm", "attn_qkv": "shortconv.in_proj", "ssm_conv1d": "shortconv.conv", "ssm_out": "shortconv.out_proj",
	}
}

// mamba2Names maps names of a delta net's tensors to those of a Mamba-2 layer, which are parts of one
// tensor, ssm_in (see fusions). more has further pairs: the usual name, then the name in this family's files.
func mamba2Names(more ...string) map[string]string {
	names := map[string]string{"attn_gate": "ssm_in_z", "attn_qkv": "ssm_in_xbc", "ssm_alpha": "ssm_in_dt"}
	for i := 0; i < len(more); i += 2 {
		names[more[i]] = more[i+1]
	}
	return names
}
