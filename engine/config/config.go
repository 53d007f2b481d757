// Package config is the one definition of every setting: its place in config.toml, its flag, its slash command, its range
// and its default. The file is decoded strictly: an unknown key is an error with line and nearest name.
package config

// Config mirrors config.toml section by section; the embedded default file fills it, a user's file and flags override it.
type Config struct {
	Model       Model       `toml:"model"`
	Sampling    Sampling    `toml:"sampling"`
	Speculation Speculation `toml:"speculation"`
	Context     Context     `toml:"context"`
	Device      Device      `toml:"device"`
	UI          UI          `toml:"ui"`
}

// Model says which files to load.
type Model struct {
	Target   string `toml:"target"`   // path of a GGUF file; empty: the embedded pair
	Draft    string `toml:"draft"`    // likewise; "none" for no draft model
	Template string `toml:"template"` // auto, file, chatml, llama3, llama2, mistral
	System   string `toml:"system"`   // system prompt; empty for none
}

// Sampling holds the target's filters.
type Sampling struct {
	Temperature float64  `toml:"temperature"`
	TopK        int      `toml:"top_k"`
	TopP        float64  `toml:"top_p"`
	MinP        float64  `toml:"min_p"`
	Seed        int64    `toml:"seed"` // -1: a new one for each reply
	MaxTokens   int      `toml:"max_tokens"`
	Stop        []string `toml:"stop"`
}

// Speculation holds what decides about drafting.
type Speculation struct {
	Enabled    bool    `toml:"enabled"`    // off: every round is plain
	Proposer   string  `toml:"proposer"`   // draft, ngram
	Rule       string  `toml:"gamma_rule"` // fixed, windowed, cost-aware
	Gamma      int     `toml:"gamma"`
	GammaMax   int     `toml:"gamma_max"`
	WindowSize int     `toml:"window"` // rounds the windowed rule looks back
	WindowLow  float64 `toml:"window_low"`
	WindowHigh float64 `toml:"window_high"`
	NgramMax   int     `toml:"ngram_max"` // longest match looked for
	NgramMin   int     `toml:"ngram_min"`
}

// Context bounds the conversation.
type Context struct {
	Length   int    `toml:"length"`   // tokens; 0: what the model allows
	Overflow string `toml:"overflow"` // refuse, drop-oldest
}

// Device chooses where to compute.
type Device struct {
	Device  string `toml:"device"`  // auto, cpu, cuda, cuda:N
	Threads int    `toml:"threads"` // 0: one per core
}

// UI holds what concerns the screen alone.
type UI struct {
	Theme   string  `toml:"theme"`             // auto, dark, light, mono
	Pace    string  `toml:"pace"`              // auto (slow on the embedded pair), full, slow, step
	Rounds  float64 `toml:"rounds_per_second"` // of the slow pace
	Mouse   bool    `toml:"mouse"`
	Inspect bool    `toml:"inspect"` // collect candidates for the inspector
	Unicode bool    `toml:"unicode"`
}
