// Package config is the one definition of every setting: its place in config.toml, its flag, its
// slash command, its range and its default.
//
// A setting is one row of the table that [Settings] returns. The file decoder, the command line,
// the slash commands and the keys all use this table. So a value is checked in one place, and an
// error has the same words wherever the value was typed. A file is decoded strictly: an unknown key
// is an error with its line and the nearest name, and a file with any error changes nothing.
package config

// Config has the sections of config.toml. [Default] gives the built-in values. The user's file overrides
// them, and flags override the file.
type Config struct {
	Model       Model
	Sampling    Sampling
	Penalties   Penalties
	Tokens      Tokens
	Constraint  Constraint
	Guidance    Guidance
	Speculation Speculation
	Context     Context
	Device      Device
	Remote      Remote
	UI          UI
}

// Model says which files to load.
type Model struct {
	Target    string // path of a GGUF file or a safetensors folder; empty: the embedded pair
	Draft     string // a path as in Target; "none": no draft; empty: the embedded one, or for a Target a drafter beside it (mtp-NAME.gguf), if any
	Heads     string // path of a safetensors file of EAGLE or Medusa heads, or of a folder with one; empty: the built-in ones
	Translate string // auto, tokens, text, off: how a draft model with another vocabulary is used
	Template  string // how a chat becomes a prompt: auto, file, chatml, llama3, llama2, mistral, gemma
	System    string // system prompt; empty for none
	Think     string // auto, on, off, or the largest number of tokens of a thought
}

// Sampling holds the target's filters, the seed, and what ends a reply.
type Sampling struct {
	Temperature     float64 // 0: greedy
	TopK            int     // 0: off
	TopP            float64 // 1: off
	MinP            float64 // 0: off
	TemperatureLast bool    // apply the temperature after the other filters, not before them
	MinTokens       int     // a reply cannot end before it has this many tokens
	Logprobs        int     // number of likeliest tokens to report; 0: none
	Seed            int64   // -1: a new seed for each reply
	MaxTokens       int     // most tokens of one reply
	Stop            []string
}

// Penalties change the scores of tokens that were written before, to make these tokens rarer. Repeat below 1, and
// Frequency or Presence below 0, make them more frequent. With penalties a row depends on earlier tokens. Its
// round is then judged on the host, on the path fallback, unless the device can apply the penalties itself.
type Penalties struct {
	Repeat    float64 // 1: off
	Frequency float64 // 0: off
	Presence  float64 // 0: off
	Last      int     // number of tokens to look back; -1: the whole context

	DryMultiplier float64  // 0: off
	DryBase       float64  // the penalty is multiplied by this for each further repeated token
	DryAllowed    int      // number of tokens that may repeat without a penalty
	DryLast       int      // number of tokens to look back; -1: the whole context
	DryBreakers   []string // texts across which no repetition is looked for
}

// Tokens changes the scores of tokens, or forbids them. In its first three lists a token is given by its id or
// by its text; a text that several tokens have stands for all of them.
type Tokens struct {
	Bias     []string // "TOKEN=BIAS"
	Banned   []string
	Allowed  []string // empty: all
	BadWords []string // texts of any length
}

// Constraint holds the form that a reply must have. At most one field is set.
type Constraint struct {
	Schema  string // JSON schema, @FILE, or "any"
	Regex   string
	Choices []string
	Grammar string // GBNF, or @FILE
}

// Guidance is classifier-free guidance: the target reads the reply a second time, after the negative prompt, and
// scores move away from those of this second reading.
type Guidance struct {
	Scale    float64 // how far scores move; 1: off
	Negative string  // the negative prompt: the system prompt of the second reading
}

// Speculation holds the settings of drafting and verification.
type Speculation struct {
	Enabled        bool     // off: every round is plain
	Proposer       string   // auto, a name in the register of proposers, or a cascade of them, separated by commas
	Acceptance     string   // a name in the register of rules
	Rule           string   // how γ is chosen: fixed, windowed, cost-aware
	Gamma          int      // draft tokens in a round of the rule fixed, and in the first rounds of windowed
	GammaMax       int      // longest draft of any rule, in tokens
	Costs          string   // auto, measured, nominal: the costs that the cost-aware rule uses
	Drafts         string   // what each round drafts, to reproduce a reply (ParseDrafts); empty: the rule chooses
	WindowSize     int      // number of rounds that the windowed rule looks back
	WindowLow      float64  // acceptance below which the windowed rule halves γ
	WindowHigh     float64  // acceptance above which the windowed rule sets γ back to the length before all halving
	NgramMax       int      // length of the longest match that ngram looks for, in tokens
	NgramMin       int      // length of the shortest match, in tokens
	SuffixTrust    float64  // suffix ends a draft when the chance that all of it is right would fall below this
	SkipLayers     []string // layers of the target that the proposer skip skips; empty: every second of the middle layers
	TypicalEpsilon float64  // typical-lossy accepts tokens with a higher probability than this
	TypicalDelta   float64  // typical-lossy also accepts tokens with a higher probability than this number times exp(-entropy)
}

// Context bounds the conversation.
type Context struct {
	Length   int    // tokens; 0: as many as the model allows
	Overflow string // what to do with a conversation that is too long: refuse, drop-oldest
	Cache    string // auto, f32, f16, q8_0: how keys and values are kept
}

// Device chooses where to compute.
type Device struct {
	Device  string // auto, cpu, cuda, cuda:N
	Draft   string // same, cpu, cuda, cuda:N: the device of the draft model
	OnLoss  string // error, cpu: what happens when a GPU fails during a reply
	Threads int    // 0: one per fast core that may be used, and no more than the control group's quota
	PollMS  int    // how long an idle thread polls before it sleeps, in milliseconds

	Activations string // q8, f32: how activations are multiplied with quantised weights
}

// Remote says which server has the target, and how to reach it.
type Remote struct {
	URL         string  // empty: the target is on this machine
	Model       string  // empty: the only model of the server
	Vocabulary  string  // path of a GGUF file or folder with the server's vocabulary; empty: that of the embedded pair
	Key         string  // where the key is: name of an environment variable, or @FILE
	CA          string  // file of certificates that may sign the server's certificate; empty: those of the system
	Certificate string  // file with the client's certificate and private key; empty: none
	Headers     string  // file of extra headers for each request; empty: none
	Timeout     float64 // seconds for one request, or for the next token of a stream
	Watch       bool    // the server speculates by itself, and its own rounds are shown
}

// UI holds what concerns the screen alone.
type UI struct {
	Theme   string  // auto, dark, light, mono
	Opening string  // watch, fast: the settings that the embedded pair begins with
	Pace    string  // auto (slow on the embedded pair), full, slow, step
	Rounds  float64 // how many rounds with a draft are shown per second at the slow pace
	Mouse   bool
	Inspect bool // collect candidates for the inspector
	Unicode bool
	Save    bool // save chats, and remember prompts for later sessions
}

// MaxGamma is the longest draft, in tokens, that GammaMax can allow. The buffers for verification have
// MaxGamma+1 rows, so GammaMax may change during a reply.
const MaxGamma = 32
