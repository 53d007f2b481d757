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
	Speculation Speculation
	Context     Context
	Device      Device
	UI          UI
}

// Model says which files to load.
type Model struct {
	Target   string // path of a GGUF file; empty: the embedded pair
	Draft    string // likewise; "none" for no draft model
	Template string // auto, file, chatml, llama3, llama2, mistral
	System   string // system prompt; empty for none
}

// Sampling holds the target's filters.
type Sampling struct {
	Temperature float64 // 0: greedy
	TopK        int     // 0: off
	TopP        float64 // 1: off
	MinP        float64 // 0: off
	Seed        int64   // -1: a new one for each reply
	MaxTokens   int     // tokens of one reply
	Stop        []string
}

// Speculation holds what decides about drafting.
type Speculation struct {
	Enabled    bool   // off: every round is plain
	Proposer   string // draft, ngram
	Rule       string // fixed, windowed, cost-aware
	Gamma      int    // draft tokens a round: the fixed rule's value, the others' start
	GammaMax   int
	Costs      string  // auto, measured, nominal: what the cost-aware rule reckons with
	WindowSize int     // rounds the windowed rule looks back
	WindowLow  float64 // acceptance below which the windowed rule halves γ
	WindowHigh float64 // and above which it restores γ
	NgramMax   int     // tokens of the longest match looked for
	NgramMin   int
}

// Context bounds the conversation.
type Context struct {
	Length   int    // tokens; 0: what the model allows
	Overflow string // refuse, drop-oldest
}

// Device chooses where to compute.
type Device struct {
	Device  string // auto, cpu, cuda, cuda:N
	Threads int    // 0: one per core
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
