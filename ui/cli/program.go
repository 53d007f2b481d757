// Package cli is the command line: it reads flags and configuration, starts the screen or works
// without it, and ends with a defined exit code.
//
// It does not know models or devices. It calls the functions of a [Program], so that tests can use
// a scripted engine. Without a screen, stdout gets only the result of the command: the reply, or the
// report of a command such as info, bench or race. The statistics of a reply, notices and errors go
// to stderr. All text of models and files passes through ui/sanitize, with two exceptions: a reply
// that goes to a pipe or a file is not changed, and JSON is made safe by escapes.
package cli

import (
	"context"
	"io"
	"time"

	"specula/engine/app"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
	"specula/ui/keeper"
)

// Program holds the functions that the commands call. Split and ExitCode may be nil. A command
// without its function panics.
type Program struct {
	Version       string
	DefaultConfig []byte   // the text of config.toml
	PromptSets    []string // names of the built-in kinds of prompt
	WeightTypes   string   // names of the types that a model file may have
	Terminal      Terminal
	Now           func() time.Time

	// Open loads the models and opens a conversation. It calls emit with its progress and the result,
	// on the calling goroutine.
	Open func(ctx context.Context, c config.Config, emit func(event.Event)) (ui.Engine, error)
	// Split starts the program again as a child that shows the screen, and returns in that child.
	// It is called before anything is read or opened. If Split is nil or returns nil, this process
	// shows the screen without a keeper.
	Split func() *keeper.Link
	// Screen runs the full screen until the user quits.
	Screen func(ctx context.Context, o ui.Options) error
	// Bench measures speculation. progress gets the number of prompts done.
	Bench func(ctx context.Context, o app.BenchOptions, progress func(done, total int)) (app.Report, error)
	// CompareGammas compares draft lengths. progress gets the number of cells of its table done.
	CompareGammas func(ctx context.Context, o app.GammaOptions, progress func(done, total int)) (app.Report, error)
	// Kernels measures the target's matrix products on the CPU.
	Kernels func(ctx context.Context, c config.Config) (app.Report, error)
	// VerifyDist compares the text of speculation with that of plain sampling.
	VerifyDist func(ctx context.Context, o app.ProofOptions, progress func(done, total int)) (app.Report, error)
	// Doctor examines models and device. progress gets the name of each examination before it begins.
	Doctor func(ctx context.Context, o app.DoctorOptions, progress func(what string)) (app.Report, error)
	// Audit compares a server's texts with and without its own speculation. progress gets the number of
	// prompts done.
	Audit func(ctx context.Context, o app.AuditOptions, progress func(done, total int)) (app.Report, error)
	// EvalPair examines a pair of models. progress gets the number of questions done.
	EvalPair func(ctx context.Context, o app.PairOptions, progress func(done, total int)) (app.Report, error)
	// Describe describes a model file.
	Describe func(ctx context.Context, path string) ([]event.Table, error)
	// MakeWeights writes a model file with random weights of one of WeightTypes, for measurements.
	MakeWeights func(ctx context.Context, shape, weightType, path string) error
	// TimePasses measures passes of a model file on the CPU. The result is printed as JSON.
	TimePasses func(ctx context.Context, o app.PassOptions) (any, error)
	// ExitCode returns the exit code for an error of the functions above: 2 for an error about a setting or
	// about the name of a shape or type, 3 about a model, 4 about a device, 0 for any other error.
	ExitCode func(error) int
}

// Terminal is the process's surroundings.
type Terminal struct {
	Stdin                          io.Reader
	Stdout, Stderr                 io.Writer
	StdinTTY, StdoutTTY, StderrTTY bool
	Getenv                         func(string) string
	// The user's folders for configuration, for saved chats, and for the history; "" without a home.
	ConfigHome, DataHome, StateHome string
}
