package config

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// table is the only place where settings are defined. config.toml at the root of the repository
// explains each of them at length.
var table = []Setting{
	{Name: "model.target", Flag: "target", Kind: Text, Default: "", Applies: NextStart,
		Example: "Qwen3-8B-Q8_0.gguf",
		Doc:     "GGUF file or safetensors folder of the large model; empty for the embedded pair",
		field:   func(c *Config) any { return &c.Model.Target }},
	{Name: "model.draft", Flag: "draft", Kind: Text, Default: "", Applies: NextStart,
		Example: "Qwen3-0.6B-Q8_0.gguf",
		Doc:     "GGUF file or safetensors folder of the small model, or drafter of Gemma 4; none for no draft model; empty for the embedded one if the target is embedded, else for a drafter beside the target (mtp-NAME.gguf)",
		field:   func(c *Config) any { return &c.Model.Draft }},
	{Name: "model.heads", Flag: "heads", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "safetensors file, or folder with one, of EAGLE or Medusa heads for the target; empty for the built-in ones",
		field: func(c *Config) any { return &c.Model.Heads }},
	{Name: "model.translate", Flag: "translate", Kind: Choice, Choices: []string{"auto", "tokens", "text", "off"}, Default: "auto", Applies: NextStart,
		Doc:   "how to use a draft model with another vocabulary: by the tokens both models have, by its text, or not at all",
		field: func(c *Config) any { return &c.Model.Translate }},
	{Name: "model.template", Flag: "template", Kind: Choice, Default: "auto", Applies: NextStart,
		Choices: []string{"auto", "file", "chatml", "llama3", "llama2", "mistral", "gemma"},
		Doc:     "how a chat becomes a prompt",
		field:   func(c *Config) any { return &c.Model.Template }},
	{Name: "model.system", Flag: "system", Slash: "system", Kind: Text, Default: "", Applies: NextReply,
		Doc:   "system prompt; empty for none",
		field: func(c *Config) any { return &c.Model.System }},
	{Name: "model.think", Flag: "think", Slash: "think", Kind: Text, Default: "auto", Applies: NextReply,
		Doc:   "whether the model thinks before it answers: on, off, or a number of tokens, where its template knows it",
		field: func(c *Config) any { return &c.Model.Think },
		check: func(v string) error {
			if n, err := strconv.Atoi(v); v != "auto" && v != "on" && v != "off" && (err != nil || n < 0 || n > 1_000_000) {
				return errors.New("one of auto, on, off, or a number of tokens up to 1000000")
			}
			return nil
		}},

	{Name: "sampling.temperature", Flag: "temperature", Slash: "temp", Kind: Float, Min: 0, Max: 5, Default: "0.7", Applies: NextRound,
		Example: "0",
		Doc:     "how freely tokens are drawn; 0 always takes the likeliest",
		field:   func(c *Config) any { return &c.Sampling.Temperature }},
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
		Example: "7",
		Doc:     "start of the random numbers; -1 for a new one each reply",
		field:   func(c *Config) any { return &c.Sampling.Seed }},
	{Name: "sampling.max_tokens", Flag: "max-tokens", Slash: "max", Kind: Int, Min: 1, Max: 1_000_000, Default: "512", Applies: NextRound,
		Example: "100",
		Doc:     "number of tokens after which a reply ends",
		field:   func(c *Config) any { return &c.Sampling.MaxTokens }},
	{Name: "sampling.temperature_last", Flag: "temperature-last", Slash: "templast", Kind: Bool, Default: "false", Applies: NextRound,
		Doc:   "apply the temperature after top-k, top-p and min-p, as llama.cpp does, not before them",
		field: func(c *Config) any { return &c.Sampling.TemperatureLast }},
	{Name: "sampling.min_tokens", Flag: "min-tokens", Slash: "mintokens", Kind: Int, Min: 0, Max: 1_000_000, Default: "0", Applies: NextRound,
		Doc:   "number of tokens before which a reply cannot end",
		field: func(c *Config) any { return &c.Sampling.MinTokens }},
	{Name: "sampling.logprobs", Flag: "logprobs", Slash: "logprobs", Kind: Int, Min: 0, Max: 20, Default: "0", Applies: NextRound,
		Doc:   "number of likeliest tokens whose log-probabilities are reported for every token of the reply; 0 for none",
		field: func(c *Config) any { return &c.Sampling.Logprobs }},
	{Name: "sampling.stop", Flag: "stop", Kind: List, Default: "[]", Applies: NextReply,
		Doc:   "text that ends a reply where it appears",
		field: func(c *Config) any { return &c.Sampling.Stop }},

	{Name: "penalties.repeat", Flag: "repeat-penalty", Slash: "repeat", Kind: Float, Min: 0, Max: 10, OpenMin: true, Default: "1", Applies: NextRound,
		Doc:   "divides the scores of tokens written lately; 1 for no effect",
		field: func(c *Config) any { return &c.Penalties.Repeat }},
	{Name: "penalties.frequency", Flag: "frequency-penalty", Slash: "frequency", Kind: Float, Min: -10, Max: 10, Default: "0", Applies: NextRound,
		Doc:   "lowers a token's score by this for each time it was written lately",
		field: func(c *Config) any { return &c.Penalties.Frequency }},
	{Name: "penalties.presence", Flag: "presence-penalty", Slash: "presence", Kind: Float, Min: -10, Max: 10, Default: "0", Applies: NextRound,
		Doc:   "lowers a token's score by this if it was written lately at all",
		field: func(c *Config) any { return &c.Penalties.Presence }},
	{Name: "penalties.last", Flag: "penalty-last", Slash: "penaltylast", Kind: Int, Min: -1, Max: 1_000_000, Default: "64", Applies: NextRound,
		Doc:   "how many of the last tokens count as written lately; -1 for the whole context",
		field: func(c *Config) any { return &c.Penalties.Last }},
	{Name: "penalties.dry_multiplier", Flag: "dry-multiplier", Slash: "dry", Kind: Float, Min: 0, Max: 100, Default: "0", Applies: NextRound,
		Doc:   "strength of DRY, which lowers the scores of tokens that would continue a repetition; 0 for off",
		field: func(c *Config) any { return &c.Penalties.DryMultiplier }},
	{Name: "penalties.dry_base", Flag: "dry-base", Slash: "drybase", Kind: Float, Min: 1, Max: 100, Default: "1.75", Applies: NextRound,
		Doc:   "how DRY grows with each repeated token",
		field: func(c *Config) any { return &c.Penalties.DryBase }},
	{Name: "penalties.dry_allowed", Flag: "dry-allowed", Slash: "dryallowed", Kind: Int, Min: 0, Max: 1_000, Default: "2", Applies: NextRound,
		Doc:   "how many tokens may repeat before DRY begins",
		field: func(c *Config) any { return &c.Penalties.DryAllowed }},
	{Name: "penalties.dry_last", Flag: "dry-last", Slash: "drylast", Kind: Int, Min: -1, Max: 1_000_000, Default: "-1", Applies: NextRound,
		Doc:   "how many tokens back DRY looks; -1 for the whole context",
		field: func(c *Config) any { return &c.Penalties.DryLast }},
	{Name: "penalties.dry_breakers", Flag: "dry-breaker", Slash: "drybreakers", Kind: List, Default: `["\n",":","\"","*"]`, Applies: NextRound,
		Doc:   "texts that DRY never looks across",
		field: func(c *Config) any { return &c.Penalties.DryBreakers }},

	{Name: "tokens.bias", Flag: "logit-bias", Slash: "bias", Kind: List, Default: "[]", Applies: NextRound,
		Doc:   "adds to the score of a token: TOKEN=BIAS, the token by its id or as text that is one token",
		field: func(c *Config) any { return &c.Tokens.Bias }},
	{Name: "tokens.banned", Flag: "ban", Slash: "ban", Kind: List, Default: "[]", Applies: NextRound,
		Doc:   "tokens that are never written, by id or as text that is one token",
		field: func(c *Config) any { return &c.Tokens.Banned }},
	{Name: "tokens.allowed", Flag: "allow", Slash: "allow", Kind: List, Default: "[]", Applies: NextRound,
		Doc:   "the only tokens that may be written, with those that end the reply; empty for all",
		field: func(c *Config) any { return &c.Tokens.Allowed }},
	{Name: "tokens.bad_words", Flag: "bad-word", Slash: "badwords", Kind: List, Default: "[]", Applies: NextRound,
		Doc:   "texts that are never written, in whatever tokens, and also inside longer words",
		field: func(c *Config) any { return &c.Tokens.BadWords }},

	{Name: "constraint.schema", Flag: "json-schema", Slash: "schema", Kind: Text, Default: "", Applies: NextReply,
		Example: "@person.json",
		Doc:     "the reply is JSON of this schema: the schema, @FILE, or any for JSON of any form",
		field:   func(c *Config) any { return &c.Constraint.Schema }, read: checkSchema},
	{Name: "constraint.regex", Flag: "regex", Slash: "regex", Kind: Text, Default: "", Applies: NextReply,
		Doc:   "the whole reply matches this regular expression",
		field: func(c *Config) any { return &c.Constraint.Regex }, read: checkRegex},
	{Name: "constraint.choices", Flag: "choice", Slash: "choices", Kind: List, Default: "[]", Applies: NextReply,
		Doc:   "the reply is one of these texts",
		field: func(c *Config) any { return &c.Constraint.Choices }, compiled: true},
	{Name: "constraint.grammar", Flag: "grammar", Slash: "grammar", Kind: Text, Default: "", Applies: NextReply,
		Doc:   "the reply follows this grammar in GBNF, or the one in @FILE",
		field: func(c *Config) any { return &c.Constraint.Grammar }, read: checkGrammar},

	{Name: "guidance.scale", Flag: "guidance", Slash: "guidance", Kind: Float, Min: 0, Max: 10, Default: "1", Applies: NextRound,
		Doc:   "classifier-free guidance: how far to move from what the negative prompt would say; 1 for off",
		field: func(c *Config) any { return &c.Guidance.Scale }},
	{Name: "guidance.negative", Flag: "negative", Slash: "negative", Kind: Text, Default: "", Applies: NextReply,
		Doc:   "the negative prompt, which takes the place of the system prompt for guidance",
		field: func(c *Config) any { return &c.Guidance.Negative }},

	{Name: "speculation.enabled", Flag: "speculate", Slash: "speculate", Kind: Bool, Default: "true", Applies: NextRound,
		Doc:   "draft and verify; off makes every round plain",
		field: func(c *Config) any { return &c.Speculation.Enabled }},
	{Name: "speculation.proposer", Flag: "proposer", Slash: "proposer", Kind: Choice, Choices: proposers, First: lookups, Default: "auto", Applies: NextRound,
		Example: "ngram",
		Doc:     "what drafts; auto takes the first proposer that can (docs/proposers.md says what each does)",
		field:   func(c *Config) any { return &c.Speculation.Proposer }},
	{Name: "speculation.acceptance", Flag: "acceptance", Slash: "accept", Kind: Choice, Choices: rules, Default: "token", Applies: NextRound,
		Doc:   "which draft tokens are accepted (docs/acceptance.md explains the rules); typical-lossy changes the distribution of the text",
		field: func(c *Config) any { return &c.Speculation.Acceptance }},
	{Name: "speculation.gamma_rule", Flag: "gamma-rule", Slash: "rule", Kind: Choice, Choices: []string{"fixed", "windowed", "cost-aware"}, Default: "cost-aware", Applies: NextRound,
		Doc:   "how γ, the number of draft tokens in a round, is chosen",
		field: func(c *Config) any { return &c.Speculation.Rule }},
	{Name: "speculation.gamma", Flag: "gamma", Slash: "gamma", Kind: Int, Min: 0, Max: MaxGamma, Default: "4", Applies: NextRound,
		Example: "6",
		Doc:     "number of draft tokens in a round; alone it also sets the rule to fixed, with --gamma-rule windowed or cost-aware it is the most",
		field:   func(c *Config) any { return &c.Speculation.Gamma }},
	{Name: "speculation.gamma_max", Flag: "gamma-max", Slash: "gammamax", Kind: Int, Min: 1, Max: MaxGamma, Default: "8", Applies: NextRound,
		Doc:   "longest draft of any rule",
		field: func(c *Config) any { return &c.Speculation.GammaMax }},
	{Name: "speculation.costs", Flag: "costs", Slash: "costs", Kind: Choice, Choices: []string{"auto", "measured", "nominal"}, Default: "auto", Applies: NextReply,
		Doc:   "the costs that the cost-aware rule uses; auto measures them, unless a seed asks for repeatable replies",
		field: func(c *Config) any { return &c.Speculation.Costs }},
	{Name: "speculation.drafts", Flag: "drafts", Slash: "drafts", Kind: Text, Default: "", Applies: NextReply,
		Doc:   "what each round drafts, from an export or a trace, to reproduce a sampled reply; empty for the rule's choice",
		field: func(c *Config) any { return &c.Speculation.Drafts }, read: checkDrafts},
	{Name: "speculation.window", Flag: "window", Slash: "window", Kind: Int, Min: 1, Max: 1024, Default: "16", Applies: NextRound,
		Doc:   "number of rounds that the windowed rule looks back",
		field: func(c *Config) any { return &c.Speculation.WindowSize }},
	{Name: "speculation.window_low", Flag: "window-low", Slash: "low", Kind: Float, Min: 0, Max: 1, Default: "0.4", Applies: NextRound,
		Doc:   "acceptance below which the windowed rule halves γ",
		field: func(c *Config) any { return &c.Speculation.WindowLow }},
	{Name: "speculation.window_high", Flag: "window-high", Slash: "high", Kind: Float, Min: 0, Max: 1, Default: "0.8", Applies: NextRound,
		Doc:   "acceptance above which the windowed rule restores γ",
		field: func(c *Config) any { return &c.Speculation.WindowHigh }},
	{Name: "speculation.ngram_max", Flag: "ngram-max", Slash: "ngrammax", Kind: Int, Min: 1, Max: 16, Default: "4", Applies: NextReply,
		Doc:   "length of the longest match that the n-gram proposer looks for, in tokens",
		field: func(c *Config) any { return &c.Speculation.NgramMax }},
	{Name: "speculation.ngram_min", Flag: "ngram-min", Slash: "ngrammin", Kind: Int, Min: 1, Max: 16, Default: "1", Applies: NextReply,
		Doc:   "length of the shortest match that the n-gram proposer takes, in tokens",
		field: func(c *Config) any { return &c.Speculation.NgramMin }},
	{Name: "speculation.suffix_trust", Flag: "suffix-trust", Slash: "trust", Kind: Float, Min: 0, Max: 1, Default: "0.4", Applies: NextRound,
		Doc:   "the suffix proposer ends a draft before the chance that all its tokens hold falls below this",
		field: func(c *Config) any { return &c.Speculation.SuffixTrust }},
	{Name: "speculation.skip_layers", Flag: "skip-layers", Slash: "skiplayers", Kind: List, Default: "[]", Applies: NextReply,
		Doc:   "layers of the target that the skip proposer leaves out, as in 3 or 8-15, from 0; empty for every second of the middle ones",
		field: func(c *Config) any { return &c.Speculation.SkipLayers }},
	{Name: "speculation.typical_epsilon", Flag: "typical-epsilon", Slash: "epsilon", Kind: Float, Min: 0, Max: 1, Default: "0.09", Applies: NextRound,
		Doc:   "the rule typical-lossy accepts tokens above this probability",
		field: func(c *Config) any { return &c.Speculation.TypicalEpsilon }},
	{Name: "speculation.typical_delta", Flag: "typical-delta", Slash: "delta", Kind: Float, Min: 0, Max: 1, Default: "0.3", Applies: NextRound,
		Doc:   "the rule typical-lossy also accepts tokens above this share of exp(-entropy), however improbable",
		field: func(c *Config) any { return &c.Speculation.TypicalDelta }},

	{Name: "context.length", Flag: "context", Kind: Int, Min: 0, Max: 1 << 20, Default: "0", Applies: NextStart,
		Doc:   "how many tokens a conversation may have; 0 for as many as the model allows",
		field: func(c *Config) any { return &c.Context.Length }},
	{Name: "context.overflow", Flag: "overflow", Slash: "overflow", Kind: Choice, Choices: []string{"refuse", "drop-oldest"}, Default: "refuse", Applies: NextReply,
		Doc:   "when a conversation is too long: refuse it and say by how much, or drop its oldest turns",
		field: func(c *Config) any { return &c.Context.Overflow }},
	{Name: "context.cache", Flag: "cache", Kind: Choice, Choices: []string{"auto", "f32", "f16", "q8_0"}, Default: "auto", Applies: NextStart,
		Doc:   "how keys and values are kept: f16 takes half the memory of f32 and is faster in long conversations, q8_0 about a quarter, on the CPU only; auto is f16, but f32 for small models on the CPU",
		field: func(c *Config) any { return &c.Context.Cache }},

	{Name: "device.device", Flag: "device", Kind: Text, Default: "auto", Applies: NextStart,
		Example: "cpu",
		Doc:     "where to compute: auto, cpu, cuda or cuda:N",
		field:   func(c *Config) any { return &c.Device.Device }, check: checkDevice},
	{Name: "device.draft", Flag: "draft-device", Kind: Text, Default: "same", Applies: NextStart,
		Doc:   "where the draft model computes: same as the target, cpu, cuda or cuda:N",
		field: func(c *Config) any { return &c.Device.Draft }, check: checkDraftDevice},
	{Name: "device.on_loss", Flag: "on-loss", Kind: Choice, Choices: []string{"error", "cpu"}, Default: "error", Applies: NextStart,
		Doc:   "when a GPU fails during a reply: end the reply with an error, or continue on the CPU",
		field: func(c *Config) any { return &c.Device.OnLoss }},
	{Name: "device.threads", Flag: "threads", Kind: Int, Min: 0, Max: 1024, Default: "0", Applies: NextStart,
		Doc:   "processor threads; 0 for one for each fast core that the process may use",
		field: func(c *Config) any { return &c.Device.Threads }},
	{Name: "device.poll_ms", Flag: "poll", Kind: Int, Min: 0, Max: 1000, Default: "5", Applies: NextStart,
		Doc:   "how many milliseconds an idle processor thread polls for the next pass before it sleeps",
		field: func(c *Config) any { return &c.Device.PollMS }},
	{Name: "device.activations", Flag: "activations", Kind: Choice, Choices: []string{"q8", "f32"}, Default: "q8", Applies: NextStart,
		Doc:   "activations that meet quantised weights: rounded to 8 bits, or f32 as they are: nearer to the file, much slower, processor only",
		field: func(c *Config) any { return &c.Device.Activations }},

	{Name: "remote.url", Flag: "remote", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "address of a llama-server or vLLM that has the target; drafts are made here, and it scores them; empty for a target on this machine",
		field: func(c *Config) any { return &c.Remote.URL }, read: checkAddress},
	{Name: "remote.model", Flag: "model", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "which of the server's models is the target; empty for its only one",
		field: func(c *Config) any { return &c.Remote.Model }},
	{Name: "remote.vocabulary", Flag: "vocabulary", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "GGUF file or folder whose vocabulary and chat template the server's model has; only its header is read; empty for the embedded pair's",
		field: func(c *Config) any { return &c.Remote.Vocabulary }},
	{Name: "remote.key", Flag: "key-from", Kind: Text, Default: "SPECULA_KEY", Applies: NextStart,
		Doc:   "where the server's key is: the name of an environment variable, or @FILE; never the key itself",
		field: func(c *Config) any { return &c.Remote.Key }, read: checkKey},
	{Name: "remote.watch", Flag: "watch", Slash: "watch", Kind: Bool, Default: "false", Applies: NextRound,
		Doc:   "let the server speculate by itself, and show the rounds that it reports; drafts are then not made here; only with remote.url",
		field: func(c *Config) any { return &c.Remote.Watch }},
	{Name: "remote.ca", Flag: "remote-ca", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "PEM file of certificates that may sign the server's; empty for those of the system",
		field: func(c *Config) any { return &c.Remote.CA }},
	{Name: "remote.certificate", Flag: "remote-certificate", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "PEM file with a certificate and its private key, by which this program shows the server who it is; empty for none",
		field: func(c *Config) any { return &c.Remote.Certificate }},
	{Name: "remote.headers", Flag: "remote-headers", Kind: Text, Default: "", Applies: NextStart,
		Doc:   "file of headers for each request, a line NAME: VALUE each, such as a gateway wants; their values are never shown; empty for none",
		field: func(c *Config) any { return &c.Remote.Headers }},
	{Name: "remote.timeout", Flag: "remote-timeout", Kind: Float, Min: 1, Max: 3600, Default: "120", Applies: NextStart,
		Doc:   "how many seconds to wait for an answer of the server, for the next token of its stream, and while it loads its model",
		field: func(c *Config) any { return &c.Remote.Timeout }},

	{Name: "ui.theme", Flag: "theme", Slash: "theme", Kind: Choice, Choices: []string{"auto", "dark", "light", "mono"}, Default: "auto", Applies: NextRound,
		Doc:   "colours; auto asks the terminal for its background",
		field: func(c *Config) any { return &c.UI.Theme }},
	{Name: "ui.opening", Flag: "opening", Kind: Choice, Choices: []string{"watch", "fast"}, Default: "watch", Applies: NextStart,
		Doc:   "how the screen begins on the embedded pair: with guesses that are refused now and then, to watch, or with those that are fastest",
		field: func(c *Config) any { return &c.UI.Opening }},
	{Name: "ui.pace", Flag: "pace", Slash: "pace", Kind: Choice, Choices: []string{"auto", "full", "slow", "step"}, Default: "auto", Applies: NextRound,
		Example: "step",
		Doc:     "how fast rounds are shown; auto is slow on the embedded pair",
		field:   func(c *Config) any { return &c.UI.Pace }},
	{Name: "ui.rounds_per_second", Flag: "rounds-per-second", Slash: "rounds", Kind: Float, Min: 0.1, Max: 60, Default: "2", Applies: NextRound,
		Doc:   "rounds per second at the slow pace",
		field: func(c *Config) any { return &c.UI.Rounds }},
	{Name: "ui.mouse", Flag: "mouse", Slash: "mouse", Kind: Bool, Default: "false", Applies: NextRound,
		Doc:   "use the mouse to point at tokens; to select text in the terminal then needs its modifier key",
		field: func(c *Config) any { return &c.UI.Mouse }},
	{Name: "ui.inspect", Flag: "inspect", Slash: "inspect", Kind: Bool, Default: "true", Applies: NextReply,
		Doc:   "keep both models' best candidates for the inspector",
		field: func(c *Config) any { return &c.UI.Inspect }},
	{Name: "ui.unicode", Flag: "unicode", Slash: "unicode", Kind: Bool, Default: "true", Applies: NextRound,
		Doc:   "draw with box and Braille characters; off for ASCII",
		field: func(c *Config) any { return &c.UI.Unicode }},
	{Name: "ui.save", Flag: "save", Kind: Bool, Default: "true", Applies: NextStart,
		Doc:   "save each chat and remember your prompts, in files that only you can read; off to write neither",
		field: func(c *Config) any { return &c.UI.Save }},
}

// maxSeed is 2⁵³−1: every JSON reader keeps integers up to this size exactly.
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

var (
	devicePattern      = regexp.MustCompile(`^(auto|cpu|cuda(:[0-9]{1,3})?)$`)
	draftDevicePattern = regexp.MustCompile(`^(same|cpu|cuda(:[0-9]{1,3})?)$`)
)

// keyPattern matches an empty text, @FILE, or the name of an environment variable in capitals. A usual
// key, which has small letters, does not match it.
var keyPattern = regexp.MustCompile(`^(|@.+|[A-Z][A-Z0-9_]{0,63})$`)

// checkKey does not repeat the value in its error, because it may be a key.
func checkKey(v string) error {
	if !keyPattern.MatchString(v) {
		return errors.New("allowed is the name of an environment variable in capitals, or @FILE; what was given is not shown, since it may be a key")
	}
	return nil
}

// checkAddress does not repeat the address in its error, because a password may be in it. Package remote
// checks the rest of an address.
func checkAddress(v string) error {
	if strings.ContainsAny(v, "@?#") {
		return errors.New("the address of a server must not have a user name, a password or a part after ? or # in it: put a key into an environment variable, and name that by remote.key")
	}
	return nil
}

func checkDraftDevice(v string) error {
	if !draftDevicePattern.MatchString(v) {
		return errors.New("same, cpu, cuda or cuda:N")
	}
	return nil
}

func checkDevice(v string) error {
	if !devicePattern.MatchString(v) {
		return errors.New("auto, cpu, cuda or cuda:N")
	}
	return nil
}

// LosslessRules returns the acceptance rules that keep the target's distribution.
func LosslessRules() []string { return slices.Clone(lossless) }
