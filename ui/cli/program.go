// Package cli is the command line: it reads flags and configuration, starts the screen or works without one, and ends with a
// defined exit code.
//
// It knows neither models nor devices. What it calls is handed in as a [Program], so that every command is tested with a
// scripted engine. Without a screen, the answer alone goes to stdout; statistics, notices and errors go to stderr. All text
// that comes from a model or a file passes ui/sanitize on the way; alone an answer that goes into a pipe or a file is not changed.
package cli

import (
	"context"
	"io"
	"time"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
	"specula/ui/keeper"
)

// Program is what the command line is connected to. A nil function is a command that is not available.
type Program struct {
	Version       string
	DefaultConfig []byte   // the text of config.toml
	PromptSets    []string // names of the built-in kinds of prompt
	Terminal      Terminal
	Now           func() time.Time

	// Open loads the models and opens a conversation. Progress and the result are told to emit, from the calling goroutine.
	Open func(ctx context.Context, c config.Config, emit func(event.Event)) (ui.Engine, error)
	// Split starts the program again as a child that shows the screen, and returns in that child. It is called before
	// anything is read or opened. Without it, the screen is shown by this process.
	Split func() *keeper.Link
	// Screen runs the full screen until the user quits.
	Screen func(ctx context.Context, o ui.Options) error
	// Bench measures; progress tells how many of the prompts are done.
	Bench func(ctx context.Context, o BenchOptions, progress func(done, total int)) (Report, error)
	// CompareGammas measures draft lengths against each other; progress tells how many of the cells of its table are done.
	CompareGammas func(ctx context.Context, o GammaOptions, progress func(done, total int)) (Report, error)
	// Kernels measures the target's products on the CPU.
	Kernels func(ctx context.Context, c config.Config) (Report, error)
	// VerifyDist compares what speculation writes with plain sampling.
	VerifyDist func(ctx context.Context, o ProofOptions, progress func(done, total int)) (Report, error)
	// Doctor examines models and device; progress is told what is examined next.
	Doctor func(ctx context.Context, o DoctorOptions, progress func(what string)) (Report, error)
	// EvalPair examines a pair of models; progress tells how many questions are done.
	EvalPair func(ctx context.Context, o PairOptions, progress func(done, total int)) (Report, error)
	// Describe tells what a model file is.
	Describe func(ctx context.Context, path string) ([]Section, error)
	// MakeWeights writes a model file with random weights: for measurements.
	MakeWeights func(ctx context.Context, shape, weightType, path string) error
	// TimePasses measures a model file on the CPU; the result is encoded as JSON.
	TimePasses func(ctx context.Context, o PassOptions) (any, error)
	// ExitCode classifies an error of the functions above: 3 for a model, 4 for a device, 0 for anything else.
	ExitCode func(error) int
}

// Terminal is the process's surroundings.
type Terminal struct {
	Stdin                          io.Reader
	Stdout, Stderr                 io.Writer
	StdinTTY, StdoutTTY, StderrTTY bool
	Getenv                         func(string) string
	// Folders of the user's: for configuration, saved chats, and what the program remembers. Empty where there is no home.
	ConfigHome, DataHome, StateHome string
}

// BenchOptions say what to measure.
type BenchOptions struct {
	Config     config.Config
	PromptText string // of a file with a prompt a line; empty: the built-in ones
	GSM8K      string // path of a file of that set, in place of both
	Count      int    // at most so many of them
	GenTokens  int    // tokens of each reply
	Repeats    int    // how often each is measured; 0: once
}

// ProofOptions say what to compare with plain sampling.
type ProofOptions struct {
	Config    config.Config
	Prompt    string
	Seconds   float64  // for everything
	Trials    int      // of one combination, at most
	Proposers []string // names; nil: all that are available
	Rule      string   // empty: every exact one
}

// DoctorOptions say what to examine.
type DoctorOptions struct {
	Config  config.Config
	Seconds float64 // for the measurements, about
}

// PairOptions say what to hold a pair of models to.
type PairOptions struct {
	Config  config.Config
	Holdout string             // path of a file of dialogues to measure α on; empty: it is not measured
	Goals   map[string]float64 // by the names of figures; nil: nothing is judged
}

// GammaOptions say which draft lengths to compare, on what.
type GammaOptions struct {
	Config       config.Config
	Gammas       []int
	Sets         []string // names of built-in kinds of prompt; nil: all
	Temperatures []float64
	Count        int // prompts of each set, at most
	GenTokens    int
	Repeats      int
}

// Report is what a measurement or an examination found.
type Report interface {
	WriteTable(io.Writer) error
	WriteJSON(io.Writer) error
	// Matched reports whether everything is as it must be: for a benchmark, that every greedy text was the same with and without
	// speculation.
	Matched() bool
}

// Section is one table of a description.
type Section struct {
	Title string
	Rows  [][]string // cells, raw
}
