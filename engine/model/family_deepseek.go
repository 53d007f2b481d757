package model

// deepseeks lists families whose keys and values are compressed (latent.go). Files of GLM-4.7-Flash
// have the architecture deepseek2, too.
func deepseeks() []architecture {
	return []architecture{
		{
			name: "deepseek2", latent: true, has: needs{"choice_bias": optional},
			experts: experts{some: true, shared: true, biasMeansSigmoid: true},
		},
		{name: "mistral4", latent: true, experts: experts{some: true, only: true, shared: true}},
	}
}
