package model

import "specula/engine/compute"

// parameters are the weights outside the layers. The tags of a field describe its tensor:
//
//   - gguf is the name; %d stands for the layer.
//   - shape is the size in hyperparameters: rows,cols of a matrix or the length of a vector.
//   - need says whether the tensor may be missing (see architecture.needs).
//   - in says which layers have the tensor; without this tag all have it. Config.parts gives the values
//     for a layer:
//     attention, whole (nothing compressed), keys (with keys and values of the layer's own);
//     latent (compressed keys and values), latent_query (compressed queries, too), latent_plain
//     (compressed keys and values, but not queries);
//     state (any), decay (one that decays), delta (of a delta net), mamba2;
//     dense (a feed-forward network without experts), experts, shared (an expert for all rows), beside
//     (experts and a dense network), narrow (experts with an input of fewer numbers); per_layer (an embedding of the layer's own);
//     drafter (reads the target's keys).
type parameters struct {
	Embedding      compute.Matrix `gguf:"token_embd.weight" shape:"vocab,dim"`
	OutputNorm     compute.Vector `gguf:"output_norm.weight" shape:"dim"`
	OutputNormBias compute.Vector `gguf:"output_norm.bias" shape:"dim" need:"norm_bias"`
	Output         compute.Matrix `gguf:"output.weight" shape:"vocab,dim" need:"optional"`
	OutputBias     compute.Vector `gguf:"output.bias" shape:"vocab" need:"optional"`
	RopeFactors    []float32      `gguf:"rope_freqs.weight" shape:"pairs" need:"optional"`
	ShortFactors   []float32      `gguf:"rope_factors_short.weight" shape:"pairs" need:"optional"`
	LongFactors    []float32      `gguf:"rope_factors_long.weight" shape:"pairs" need:"optional"`
}

// layer has the weights of one layer, its sizes and its buffers.
type layer struct {
	AttentionNorm     compute.Vector `gguf:"blk.%d.attn_norm.weight" shape:"dim" need:"attention_norm"`
	AttentionNormBias compute.Vector `gguf:"blk.%d.attn_norm.bias" shape:"dim" need:"norm_bias"`
	Query             compute.Matrix `gguf:"blk.%d.attn_q.weight" shape:"queries,dim" in:"whole"`
	Key               compute.Matrix `gguf:"blk.%d.attn_k.weight" shape:"keys,dim" in:"keys"`
	Value             compute.Matrix `gguf:"blk.%d.attn_v.weight" shape:"values,dim" need:"value" in:"keys"`
	QueryBias         compute.Vector `gguf:"blk.%d.attn_q.bias" shape:"queries" need:"qkv_bias" in:"whole"`
	KeyBias           compute.Vector `gguf:"blk.%d.attn_k.bias" shape:"keys" need:"qkv_bias" in:"keys"`
	ValueBias         compute.Vector `gguf:"blk.%d.attn_v.bias" shape:"values" need:"qkv_bias" in:"keys"`
	QueryNorm         compute.Vector `gguf:"blk.%d.attn_q_norm.weight" shape:"query_norm" need:"qk_norm" in:"attention"`
	KeyNorm           compute.Vector `gguf:"blk.%d.attn_k_norm.weight" shape:"key_norm" need:"qk_norm" in:"keys"`
	AttentionGate     compute.Matrix `gguf:"blk.%d.attn_gate.weight" shape:"attended,dim" need:"attention_gate" in:"attention"`
	Mix               compute.Matrix `gguf:"blk.%d.attn_output.weight" shape:"dim,answers" in:"attention"`
	Sinks             compute.Vector `gguf:"blk.%d.attn_sinks.weight" shape:"heads" need:"sinks" in:"attention"`
	MixBias           compute.Vector `gguf:"blk.%d.attn_output.bias" shape:"dim" need:"optional" in:"attention"`
	PostAttentionNorm compute.Vector `gguf:"blk.%d.post_attention_norm.weight" shape:"dim" need:"post_norms"`

	FeedForwardNorm     compute.Vector `gguf:"blk.%d.ffn_norm.weight" shape:"dim" need:"feed_forward_norm"`
	FeedForwardNormBias compute.Vector `gguf:"blk.%d.ffn_norm.bias" shape:"dim" need:"feed_forward_norm_bias"`
	Gate                compute.Matrix `gguf:"blk.%d.ffn_gate.weight" shape:"ffn,dim" need:"gate" in:"dense"`
	GateBias            compute.Vector `gguf:"blk.%d.ffn_gate.bias" shape:"ffn" need:"optional" in:"dense"`
	Up                  compute.Matrix `gguf:"blk.%d.ffn_up.weight" shape:"ffn,dim" in:"dense"`
	UpBias              compute.Vector `gguf:"blk.%d.ffn_up.bias" shape:"ffn" need:"optional" in:"dense"`
	Down                compute.Matrix `gguf:"blk.%d.ffn_down.weight" shape:"dim,ffn" in:"dense"`
	DownBias            compute.Vector `gguf:"blk.%d.ffn_down.bias" shape:"dim" need:"optional" in:"dense"`
	PostFeedForwardNorm compute.Vector `gguf:"blk.%d.post_ffw_norm.weight" shape:"dim" need:"post_norms"`
	OutputScale         []float32      `gguf:"blk.%d.layer_output_scale.weight" shape:"1" need:"layer_scale"`

	mixture
	recurrent
	perLayer
	latent

	number    int // the layer's number in the file
	shape     layerShape
	keysOf    int            // the layer whose keys and values it attends to, usually itself
	valueNorm compute.Vector // norm of each head of the values; nil: values are not normalised
	window    int            // number of keys that a row sees, its own included; 0: all
	rope      *ropeTables    // nil: positions are not rotated
	buffers   *layerBuffers  // shared by all layers of this size
}

// mixture has the weights of a feed-forward network of experts. A shape of three numbers means a matrix
// for each expert.
type mixture struct {
	Router       compute.Matrix `gguf:"blk.%d.ffn_gate_inp.weight" shape:"experts,dim" in:"experts"`
	RouterBias   compute.Vector `gguf:"blk.%d.ffn_gate_inp.bias" shape:"experts" need:"expert_bias" in:"experts"`
	ChoiceBias   compute.Vector `gguf:"blk.%d.exp_probs_b.bias" shape:"experts" need:"choice_bias" in:"experts"`
	GateEach     compute.Matrix `gguf:"blk.%d.ffn_gate_exps.weight" shape:"experts,expert_ffn,expert_dim" need:"gate" in:"experts"`
	GateEachBias compute.Vector `gguf:"blk.%d.ffn_gate_exps.bias" shape:"experts,expert_ffn" need:"expert_bias" in:"experts"`
	UpEach       compute.Matrix `gguf:"blk.%d.ffn_up_exps.weight" shape:"experts,expert_ffn,expert_dim" in:"experts"`
	UpEachBias   compute.Vector `gguf:"blk.%d.ffn_up_exps.bias" shape:"experts,expert_ffn" need:"expert_bias" in:"experts"`
	DownEach     compute.Matrix `gguf:"blk.%d.ffn_down_exps.weight" shape:"experts,expert_dim,expert_ffn" in:"experts"`
	DownEachBias compute.Vector `gguf:"blk.%d.ffn_down_exps.bias" shape:"experts,expert_dim" need:"expert_bias" in:"experts"`

	// Where experts are narrower than the residual stream, these matrices bring rows to the experts' width
	// and back.
	ExpertsNarrow compute.Matrix `gguf:"blk.%d.ffn_latent_down.weight" shape:"expert_dim,dim" in:"narrow"`
	ExpertsWiden  compute.Matrix `gguf:"blk.%d.ffn_latent_up.weight" shape:"dim,expert_dim" in:"narrow"`

	// The following are for layers that have a dense network as well.
	RouterScale     []float32      `gguf:"blk.%d.ffn_gate_inp.scale" shape:"dim" in:"beside"`
	DensePostNorm   compute.Vector `gguf:"blk.%d.post_ffw_norm_1.weight" shape:"dim" in:"beside"`
	ExpertsNorm     compute.Vector `gguf:"blk.%d.pre_ffw_norm_2.weight" shape:"dim" in:"beside"`
	ExpertsPostNorm compute.Vector `gguf:"blk.%d.post_ffw_norm_2.weight" shape:"dim" in:"beside"`
	DownEachScale   compute.Vector `gguf:"blk.%d.ffn_down_exps.scale" shape:"experts" need:"optional" in:"beside"`
	routerNorm      compute.Vector // weights of the norm of the router's input: RouterScale/√Dim

	SharedGate   compute.Matrix `gguf:"blk.%d.ffn_gate_shexp.weight" shape:"shared_ffn,dim" need:"gate" in:"shared"`
	SharedUp     compute.Matrix `gguf:"blk.%d.ffn_up_shexp.weight" shape:"shared_ffn,dim" in:"shared"`
	SharedDown   compute.Matrix `gguf:"blk.%d.ffn_down_shexp.weight" shape:"dim,shared_ffn" in:"shared"`
	SharedFactor compute.Matrix `gguf:"blk.%d.ffn_gate_inp_shexp.weight" shape:"1,dim" need:"shared_factor" in:"shared"`
}

// recurrent holds the weights for the state of a layer that has one. In some families the tensors have
// other names: see mamba2Names and convolutionNames.
type recurrent struct {
	Mixed           compute.Matrix `gguf:"blk.%d.attn_qkv.weight" shape:"mixed,dim" in:"state"` // queries, keys and values
	Convolution     []float32      `gguf:"blk.%d.ssm_conv1d.weight" shape:"convolved,kernel" in:"state"`
	ConvolutionBias compute.Vector `gguf:"blk.%d.ssm_conv1d.bias" shape:"convolved" need:"optional" in:"mamba2"`
	Rate            compute.Vector `gguf:"blk.%d.ssm_a" shape:"state_heads" in:"decay"`
	Shift           compute.Vector `gguf:"blk.%d.ssm_dt.bias" shape:"state_heads" in:"decay"`
	Alpha           compute.Matrix `gguf:"blk.%d.ssm_alpha.weight" shape:"state_heads,dim" in:"decay"`
	Beta            compute.Matrix `gguf:"blk.%d.ssm_beta.weight" shape:"state_heads,dim" in:"delta"`
	Skip            compute.Vector `gguf:"blk.%d.ssm_d" shape:"state_heads" in:"mamba2"`
	StateNorm       compute.Vector `gguf:"blk.%d.ssm_norm.weight" shape:"state_norm" need:"state_norm" in:"decay"`
	StateGate       compute.Matrix `gguf:"blk.%d.attn_gate.weight" shape:"state_values,dim" in:"decay"`
	StateMix        compute.Matrix `gguf:"blk.%d.ssm_out.weight" shape:"dim,state_values" in:"state"`

	convolution compute.Vector // weights of the convolution: for each of its tokens, one weight for each convolved column
}

// perLayerTables are the weights that all layers with embeddings of their own have in common. After
// layByLayer, a row of the table is the embedding of one token in one layer: first those of token 0,
// layer by layer.
type perLayerTables struct {
	PerLayerTable compute.Matrix `gguf:"per_layer_token_embd.weight" shape:"vocab,per_layers" in:"per_layer"`
	PerLayerNorm  compute.Vector `gguf:"per_layer_proj_norm.weight" shape:"per_layer" in:"per_layer"`
}

// perLayer holds the weights with which a layer uses its embedding of a token.
type perLayer struct {
	PerLayerContext  compute.Matrix `gguf:"per_layer_model_proj.weight, part %d" shape:"per_layer,dim" in:"per_layer"`
	PerLayerGate     compute.Matrix `gguf:"blk.%d.inp_gate.weight" shape:"per_layer,dim" in:"per_layer"`
	PerLayerMix      compute.Matrix `gguf:"blk.%d.proj.weight" shape:"dim,per_layer" in:"per_layer"`
	PerLayerPostNorm compute.Vector `gguf:"blk.%d.post_norm.weight" shape:"dim" in:"per_layer"`

	// Both have a row for each row of the pass and PerLayer columns. ofToken has rows of PerLayerTable,
	// ofContext the layer's own embeddings (embedPerLayer).
	ofToken, ofContext compute.Buffer
}

// fusion is a tensor that has the rows of several tensors, one after the other.
type fusion struct {
	name   string
	rows   []string // the number of rows of each tensor, by its name in shape tags
	always bool     // no file has the parts as tensors of their own
}

var (
	queriesKeysValues = fusion{name: "attn_qkv", rows: []string{"queries", "keys", "values"}}
	gateAndUp         = fusion{name: "ffn_up", rows: []string{"ffn", "ffn"}}
	mamba2Inputs      = fusion{name: "ssm_in", rows: []string{"state_values", "convolved", "state_heads"}, always: true}
)

// fusions maps the name of a tensor to the fused tensor that may have its rows, and to the index of
// these rows among the parts of the fused tensor.
var fusions = map[string]struct {
	fusion
	part int
}{
	"attn_q":   {queriesKeysValues, 0},
	"attn_k":   {queriesKeysValues, 1},
	"attn_v":   {queriesKeysValues, 2},
	"ffn_gate": {gateAndUp, 0},
	"ffn_up":   {gateAndUp, 1},

	"ssm_in_z":   {mamba2Inputs, 0},
	"ssm_in_xbc": {mamba2Inputs, 1},
	"ssm_in_dt":  {mamba2Inputs, 2},
}

// sizes gives the numbers for the names in shape tags, for a layer of this shape.
func (c *Config) sizes(norm qkNorm, s layerShape) map[string]int {
	sizes := map[string]int{
		"vocab":      c.Vocab,
		"dim":        c.Dim,
		"ffn":        s.ffn,
		"heads":      s.heads,
		"queries":    s.queries(),
		"keys":       s.keys(),
		"values":     s.values(),
		"attended":   s.attended(),
		"answers":    s.attended(),
		"query_norm": s.queries(),
		"key_norm":   s.keys(),
		"pairs":      c.RopeDim / 2,
		"1":          1,
		"target":     c.TargetDim,
		"pair":       2 * c.TargetDim,
		"experts":    c.Experts.Experts,
		"expert_ffn": c.ExpertFFN,
		"expert_dim": c.ExpertDim,
		"shared_ffn": c.SharedFFN,
		"per_layer":  c.PerLayer,
		"per_layers": c.PerLayer * c.Layers,
		"each_ffn":   c.Experts.Experts * c.ExpertFFN,

		"mixed":        s.state.Width(),
		"convolved":    s.state.Width(),
		"state_heads":  s.state.Heads,
		"key_heads":    s.state.KeyHeads,
		"state_norm":   s.state.ValueDim,
		"state_values": s.state.Heads * s.state.ValueDim,
		"kernel":       s.state.Kernel,
	}
	switch s.state.Kind {
	case compute.Mamba2State: // the norm has a weight for each number of all heads
		sizes["state_norm"] = sizes["state_values"]
	case compute.ConvolutionState: // mixed has the input of the convolution and two gates
		sizes["mixed"] = 3 * s.state.Width()
	}
	c.Latent.addSizes(sizes, s)
	if norm == eachHead {
		sizes["query_norm"], sizes["key_norm"] = s.keyDim, s.keyDim
	}
	return sizes
}
