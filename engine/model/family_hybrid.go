package model

// hybrids lists families in which most layers have a state of fixed size in place of keys and
// values (recurrent.go). Usually every fourth layer has attention.
func hybrids() []architecture {
	return []architecture{
		// In a text, the three coordinates of a token's position are equal. So M-RoPE is RoPE.
		{
			name: "qwen35", neoX: true, states: true, queryWithGate: true,
			has:   needs{"qk_norm": required, "attention_gate": required},
			named: map[string]string{"ffn_norm": "post_attention_norm"},
		},
		{
			name: "qwen35moe", neoX: true, states: true, queryWithGate: true,
			has:     needs{"qk_norm": required, "attention_gate": required, "shared_factor": required},
			named:   map[string]string{"ffn_norm": "post_attention_norm"},
			experts: experts{some: true, only: true, normed: true, shared: true},
		},
		{
			name: "qwen3next", neoX: true, states: true, queryWithGate: true, betaWithAlpha: true, groupedHeads: true,
			has:     needs{"qk_norm": required, "attention_gate": required, "shared_factor": required},
			named:   map[string]string{"ffn_norm": "post_attention_norm"},
			experts: experts{some: true, only: true, normed: true, shared: true},
		},
	}
}
