package config

import (
	"errors"
	"regexp"
	"slices"
)

// table is the only place where a setting is defined. config.toml at the root of the repository documents each row at length.
var table = []Setting{
	{Name: "model.target", Flag: "target", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "GGUF file of the large model; empty for the embedded pair",
		field: func(c *Config) any { return &c.Model.Target }},
	{Name: "model.draft", Flag: "draft", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "GGUF file of the small model; empty for the embedded pair's, none for no draft model",
		field: func(c *Config) any { return &c.Model.Draft }},
	{Name: "model.template", Flag: "template", Kind: Choice, Default: "auto", Applies: NextStart,
		Choices: []string{"auto", "file", "chatml", "llama3", "llama2", "mistral"},
		Doc:     "how a chat becomes a prompt",
		field:   func(c *Config) any { return &c.Model.Template }},
	{Name: "model.system", Flag: "system", Slash: "system", Kind: Text, Default: "", Applies: NextReply,
		Doc:   "system prompt; empty for none",
		field: func(c *Config) any { return &c.Model.System }},

	{Name: "sampling.temperature", Flag: "temperature", Slash: "temp", Kind: Float, Min: 0, Max: 5, Default: "0.7", Applies: NextRound,
		Doc:   "how freely tokens are drawn; 0 always takes the likeliest",
		field: func(c *Config) any { return &c.Sampling.Temperature }},
	{Name: "sampling.top_k", Flag: "top-k", Slash: "topk", Kind: Int, Min: 0, Max: 1_000_000, Default: "0", Applies: NextRound,
		Doc:   "draw from the k likeliest tokens only; 0 for all",
		field: func(c *Config) any { return &c.Sampling.TopK }},
	{Name: "sampling.top_p", Flag: "top-p", Slash: "topp", Kind: Float, Max: 1, OpenMin: true, Default: "1", Applies: NextRound,
		Doc:   "draw from the likeliest tokens that together have this probability; 1 for all",
		field: func(c *Config) any { return &c.Sampling.TopP }},
	{Name: "sampling.min_p", Flag: "min-p", Slash: "minp", Kind: Float, Max: 1, OpenMax: true, Default: "0", Applies: NextRound,
		Doc:   "leave out tokens below this share of the likeliest one's probability; 0 for none",
		field: func(c *Config) any { return &c.Sampling.MinP }},
	{Name: "sampling.seed", Flag: "seed", Slash: "seed", Kind: Int, Min: -1, Max: maxSeed, Default: "-1", Applies: NextReply,
		Doc:   "start of the random numbers; -1 for a new one each reply",
		field: func(c *Config) any { return &c.Sampling.Seed }},
	{Name: "sampling.max_tokens", Flag: "max-tokens", Slash: "max", Kind: Int, Min: 1, Max: 1_000_000, Default: "512", Applies: NextRound,
		Doc:   "tokens after which a reply ends",
		field: func(c *Config) any { return &c.Sampling.MaxTokens }},
	{Name: "sampling.stop", Flag: "stop", Kind: List, Default: "[]", Applies: NextReply,
		Doc:   "text that ends a reply where it appears",
		field: func(c *Config) any { return &c.Sampling.Stop }},

	{Name: "speculation.enabled", Flag: "speculate", Slash: "speculate", Kind: Bool, Default: "true", Applies: NextRound,
		Doc:   "draft and verify; off makes every round plain",
		field: func(c *Config) any { return &c.Speculation.Enabled }},
	{Name: "speculation.proposer", Flag: "proposer", Slash: "proposer", Kind: Choice, Choices: []string{"draft", "ngram"}, Default: "draft", Applies: NextRound,
		Doc:   "who guesses: the draft model, or earlier text with the same last tokens",
		field: func(c *Config) any { return &c.Speculation.Proposer }},
	{Name: "speculation.gamma_rule", Flag: "gamma-rule", Slash: "rule", Kind: Choice, Choices: []string{"fixed", "windowed", "cost-aware"}, Default: "cost-aware", Applies: NextRound,
		Doc:   "how γ, the number of drafted tokens, is chosen",
		field: func(c *Config) any { return &c.Speculation.Rule }},
	{Name: "speculation.gamma", Flag: "gamma", Slash: "gamma", Kind: Int, Min: 0, Max: MaxGamma, Default: "4", Applies: NextRound,
		Doc:   "γ of the fixed rule, and the full γ of the windowed one; cost-aware finds its own",
		field: func(c *Config) any { return &c.Speculation.Gamma }},
	{Name: "speculation.gamma_max", Flag: "gamma-max", Slash: "gammamax", Kind: Int, Min: 1, Max: MaxGamma, Default: "8", Applies: NextRound,
		Doc:   "longest draft of any rule",
		field: func(c *Config) any { return &c.Speculation.GammaMax }},
	{Name: "speculation.costs", Flag: "costs", Slash: "costs", Kind: Choice, Choices: []string{"auto", "measured", "nominal"}, Default: "auto", Applies: NextReply,
		Doc:   "what the cost-aware rule reckons with; auto measures unless a seed asks for repeatable replies",
		field: func(c *Config) any { return &c.Speculation.Costs }},
	{Name: "speculation.window", Flag: "window", Slash: "window", Kind: Int, Min: 1, Max: 1024, Default: "16", Applies: NextRound,
		Doc:   "rounds the windowed rule looks back",
		field: func(c *Config) any { return &c.Speculation.WindowSize }},
	{Name: "speculation.window_low", Flag: "window-low", Slash: "low", Kind: Float, Min: 0, Max: 1, Default: "0.4", Applies: NextRound,
		Doc:   "acceptance below which the windowed rule halves γ",
		field: func(c *Config) any { return &c.Speculation.WindowLow }},
	{Name: "speculation.window_high", Flag: "window-high", Slash: "high", Kind: Float, Min: 0, Max: 1, Default: "0.8", Applies: NextRound,
		Doc:   "acceptance above which the windowed rule restores γ",
		field: func(c *Config) any { return &c.Speculation.WindowHigh }},
	{Name: "speculation.ngram_max", Flag: "ngram-max", Slash: "ngrammax", Kind: Int, Min: 1, Max: 16, Default: "4", Applies: NextReply,
		Doc:   "tokens of the longest match the n-gram proposer looks for",
		field: func(c *Config) any { return &c.Speculation.NgramMax }},
	{Name: "speculation.ngram_min", Flag: "ngram-min", Slash: "ngrammin", Kind: Int, Min: 1, Max: 16, Default: "1", Applies: NextReply,
		Doc:   "tokens of the shortest match it takes",
		field: func(c *Config) any { return &c.Speculation.NgramMin }},

	{Name: "context.length", Flag: "context", Kind: Int, Min: 0, Max: 1 << 20, Default: "0", Applies: NextStart,
		Doc:   "tokens a conversation may have; 0 for what the model allows",
		field: func(c *Config) any { return &c.Context.Length }},
	{Name: "context.overflow", Flag: "overflow", Slash: "overflow", Kind: Choice, Choices: []string{"refuse", "drop-oldest"}, Default: "refuse", Applies: NextReply,
		Doc:   "when a conversation is too long: refuse it with figures, or drop its oldest turns",
		field: func(c *Config) any { return &c.Context.Overflow }},

	{Name: "device.device", Flag: "device", Kind: Text, Default: "auto", Applies: NextStart,
		Doc:   "where to compute: auto, cpu, cuda or cuda:N",
		field: func(c *Config) any { return &c.Device.Device }, check: checkDevice},
	{Name: "device.threads", Flag: "threads", Kind: Int, Min: 0, Max: 1024, Default: "0", Applies: NextStart,
		Doc:   "processor threads; 0 for one per core",
		field: func(c *Config) any { return &c.Device.Threads }},

	{Name: "ui.theme", Flag: "theme", Slash: "theme", Kind: Choice, Choices: []string{"auto", "dark", "light", "mono"}, Default: "auto", Applies: NextRound,
		Doc:   "colours; auto asks the terminal for its background",
		field: func(c *Config) any { return &c.UI.Theme }},
	{Name: "ui.pace", Flag: "pace", Slash: "pace", Kind: Choice, Choices: []string{"auto", "full", "slow", "step"}, Default: "auto", Applies: NextRound,
		Doc:   "how fast rounds are shown; auto is slow on the embedded pair",
		field: func(c *Config) any { return &c.UI.Pace }},
	{Name: "ui.rounds_per_second", Flag: "rounds-per-second", Slash: "rounds", Kind: Float, Min: 0.1, Max: 60, Default: "2", Applies: NextRound,
		Doc:   "rounds a second at the slow pace",
		field: func(c *Config) any { return &c.UI.Rounds }},
	{Name: "ui.mouse", Flag: "mouse", Slash: "mouse", Kind: Bool, Default: "false", Applies: NextRound,
		Doc:   "take the mouse for pointing at tokens; the terminal's own selection then needs its modifier key",
		field: func(c *Config) any { return &c.UI.Mouse }},
	{Name: "ui.inspect", Flag: "inspect", Slash: "inspect", Kind: Bool, Default: "true", Applies: NextReply,
		Doc:   "keep both models' best candidates for the inspector",
		field: func(c *Config) any { return &c.UI.Inspect }},
	{Name: "ui.unicode", Flag: "unicode", Slash: "unicode", Kind: Bool, Default: "true", Applies: NextRound,
		Doc:   "draw with box and Braille characters; off for ASCII",
		field: func(c *Config) any { return &c.UI.Unicode }},
}

// maxSeed is the largest integer that JSON readers everywhere keep exactly.
const maxSeed = 1<<53 - 1

// Settings returns the table in the order of config.toml.
func Settings() []Setting { return slices.Clone(table) }

// Lookup finds a setting by its full name, its flag or its slash command.
func Lookup(name string) (Setting, bool) {
	for _, s := range table {
		if name != "" && (name == s.Name || name == s.Flag || name == s.Slash) {
			return s, true
		}
	}
	return Setting{}, false
}

var devicePattern = regexp.MustCompile(`^(auto|cpu|cuda(:[0-9]{1,3})?)$`)

func checkDevice(v string) error {
	if !devicePattern.MatchString(v) {
		return errors.New("auto, cpu, cuda or cuda:N")
	}
	return nil
}
