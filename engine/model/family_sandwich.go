package model

// sandwiches lists the families that normalise what a layer adds, after attention and after the
// feed-forward network. Most of them do not normalise what goes in.
func sandwiches() []architecture {
	return []architecture{
		{name: "olmo2", neoX: true, qkNorm: allHeads, has: onlyPostNorms(), windows: windows{some: true, fullEvery: 4, unscaled: true}}, // and OLMo 3
		{name: "exaone4", neoX: true, has: onlyPostNorms(), rotates: windowOnly, windows: windows{some: true, fullEvery: 4}},
		{name: "glm4", has: needs{"post_norms": required}},
	}
}

func onlyPostNorms() needs {
	return needs{"attention_norm": absent, "feed_forward_norm": absent, "post_norms": required, "qk_norm": required}
}
