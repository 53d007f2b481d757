package model

// mixtures lists the families whose feed-forward networks are mixtures of experts. Mixtral is one of
// llama's files.
func mixtures() []architecture {
	return []architecture{
		{name: "qwen3moe", neoX: true, has: needs{"qk_norm": required}, experts: experts{some: true, only: true, normed: true}},
		{name: "qwen2moe", neoX: true, has: needs{"qkv_bias": required, "shared_factor": required}, experts: experts{some: true, only: true, shared: true}},
	}
}
