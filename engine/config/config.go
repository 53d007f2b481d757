// Package config is the one definition of every setting: its place in config.toml, its flag, its slash command, its range
// and its default.
//
// A setting is one row of the table that [Settings] returns. The file decoder, the command line, the slash commands and the
// keys all go through that table, so a value is checked in one place and an error reads the same wherever it was typed.
// A file is decoded strictly: an unknown key is an error with line and nearest name, and a file with any error changes nothing.
package config

// Config mirrors config.toml section by section. [Default] fills it; a user's file and then flags override it.
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
	UI          UI
}

// Model says which files to load.
type Model struct {
	Target    string // path of a GGUF file; empty: the embedded pair
	Draft     string // likewise; "none" for no draft model
	Heads     string // safetensors of EAGLE or Medusa heads; empty: those built in
	Translate string // auto, tokens, text, off: how a draft of another vocabulary is used
	Template  string // auto, file, chatml, llama3, llama2, mistral
	System    string // system prompt; empty for none
}

// Sampling holds the target's filters.
type Sampling struct {
	Temperature     float64 // 0: greedy
	TopK            int     // 0: off
	TopP            float64 // 1: off
	MinP            float64 // 0: off
	TemperatureLast bool    // behind the other filters, not before them
	MinTokens       int     // tokens before which a reply cannot end
	Logprobs        int     // so many likeliest tokens; 0: none
	Seed            int64   // -1: a new one for each reply
	MaxTokens       int     // tokens of one reply
	Stop            []string
}

// Penalties lower the scores of what was written before. A penalty makes a row depend on the tokens before it, so that rounds
// are verified on the fallback path.
type Penalties struct {
	Repeat    float64 // 1: off
	Frequency float64 // 0: off
	Presence  float64 // 0: off
	Last      int     // tokens they look back; -1: the whole context

	DryMultiplier float64 // 0: off
	DryBase       float64
	DryAllowed    int // tokens that may repeat unpunished
	DryLast       int // tokens it looks back; -1: the whole context
	DryBreakers   []string
}

// Tokens changes the scores of single tokens. A token is named by its id, or by text that is exactly one token.
type Tokens struct {
	Bias     []string // "TOKEN=BIAS"
	Banned   []string
	Allowed  []string // empty: all
	BadWords []string // texts of any length
}

// Constraint gives the form a reply must have; at most one of its fields is set.
type Constraint struct {
	Schema  string // JSON schema, @FILE, or "any"
	Regex   string
	Choices []string
	Grammar string // GBNF, or @FILE
}

// Guidance is classifier-free guidance.
type Guidance struct {
	Scale    float64 // 1: off
	Negative string  // in place of the system prompt
}

// Speculation holds what decides about drafting.
type Speculation struct {
	Enabled        bool   // off: every round is plain
	Proposer       string // auto, draft, ngram, suffix, combined, skip, eagle, medusa
	Acceptance     string // token, block, exact, typical-lossy
	Rule           string // fixed, windowed, cost-aware
	Gamma          int    // draft tokens a round: the fixed rule's value, the others' start
	GammaMax       int
	Costs          string  // auto, measured, nominal: what the cost-aware rule reckons with
	Drafts         string  // what each round drafts, to write a reply again; empty: the rule chooses
	WindowSize     int     // rounds the windowed rule looks back
	WindowLow      float64 // acceptance below which the windowed rule halves γ
	WindowHigh     float64 // and above which it restores γ
	NgramMax       int     // tokens of the longest match looked for
	NgramMin       int
	SuffixTrust    float64  // chance that a draft holds below which it is not made longer
	SkipLayers     []string // layers of the target that self-speculation leaves out; empty: chosen
	TypicalEpsilon float64
	TypicalDelta   float64
}

// Context bounds the conversation.
type Context struct {
	Length   int    // tokens; 0: what the model allows
	Overflow string // refuse, drop-oldest
	Cache    string // auto, f32, f16, q8_0: how keys and values are kept
}

// Device chooses where to compute.
type Device struct {
	Device  string // auto, cpu, cuda, cuda:N
	Draft   string // same, cpu, cuda, cuda:N: that of the draft model
	OnLoss  string // error, cpu: what a reply does whose device fails
	Threads int    // 0: one per core
	PollMS  int    // how long an idle thread polls before it sleeps
}

// UI holds what concerns the screen alone.
type UI struct {
	Theme   string  // auto, dark, light, mono
	Pace    string  // auto (slow on the embedded pair), full, slow, step
	Rounds  float64 // a second, of the slow pace
	Mouse   bool
	Inspect bool // collect candidates for the inspector
	Unicode bool
}

// MaxGamma is the longest draft that can be asked for. Buffers for a verification are sized once, for GammaMax+1 rows.
const MaxGamma = 32
