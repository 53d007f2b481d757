// Specula is a chat in the terminal that shows speculative decoding while it happens. See README.md.
//
// This file connects the command line (ui/cli) and the screen (ui) with the engine (engine/app) and the GPU
// (gpu). It has no other task.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"golang.org/x/term"

	"specula/assets"
	"specula/engine"
	"specula/engine/app"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/weights/random"
	"specula/gpu"
	"specula/ui"
	"specula/ui/cli"
	"specula/ui/keeper"
	"specula/ui/race"
)

//go:embed config.toml
var defaultConfig []byte

func main() {
	silenceLog()
	os.Exit(program().Run(context.Background(), os.Args[1:]))
}

// silenceLog drops the standard log. net/http would log what a broken server sends, across the screen.
func silenceLog() { log.SetOutput(io.Discard) }

func program() *cli.Program {
	a := &app.App{Version: version(), OpenGPU: gpu.Open, Now: time.Now, Getenv: os.Getenv}
	return &cli.Program{
		Version: a.Version, DefaultConfig: defaultConfig, PromptSets: assets.SetNames(), WeightTypes: random.Types(), Now: a.Now,
		Terminal: cli.Terminal{
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
			ConfigHome: folder(xdg.ConfigHome), DataHome: folder(xdg.DataHome), StateHome: folder(xdg.StateHome),
			StdinTTY: isTerminal(os.Stdin), StdoutTTY: isTerminal(os.Stdout), StderrTTY: isTerminal(os.Stderr),
		},
		Split: keeper.Split, Screen: ui.Run, ExitCode: exitCode,
		Open: func(ctx context.Context, c config.Config, emit func(event.Event)) (ui.Engine, error) {
			return open(ctx, a, c, emit)
		},
		Bench: a.Bench, CompareGammas: a.CompareGammas, Kernels: a.Kernels, TimePasses: a.TimePasses,
		VerifyDist: a.VerifyDist, Doctor: a.Doctor, Audit: a.Audit, EvalPair: a.EvalPair,
		Describe: app.Describe, MakeWeights: app.MakeWeights,
	}
}

// racer is a conversation with the method Race, which the screen needs.
type racer struct{ *app.Conversation }

func open(ctx context.Context, a *app.App, c config.Config, emit func(event.Event)) (ui.Engine, error) {
	conversation, err := a.Open(ctx, c, emit)
	if err != nil {
		return nil, err
	}
	return racer{conversation}, nil
}

// Race opens the lanes of a race. With after, the second lane runs when the first has ended.
func (r racer) Race(ctx context.Context, lanes [2]race.Lane, after bool) (race.Race, error) {
	return r.NewRace(ctx, [2][]config.Value{lanes[0].Settings, lanes[1].Settings}, after)
}

// folder returns path, a folder of the user that package xdg names. If HOME is not set, xdg takes / for the
// home and names folders such as /.config. For these, folder returns "".
func folder(path string) string {
	if _, err := os.UserHomeDir(); err != nil && strings.HasPrefix(path, "/.") {
		return ""
	}
	return path
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// version returns the version that the Go command has recorded for the module ("(unknown)" if it has recorded
// none), then the version of Go and the platform. In a repository the recorded version names the tag or the commit.
func version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// exitCode returns the exit code for an error of the engine; 0 if the error has no exit code of its own.
func exitCode(err error) int {
	switch {
	case errors.Is(err, gpu.ErrNoDevice), errors.Is(err, compute.ErrDeviceLost), errors.Is(err, compute.ErrDevice):
		return cli.ExitDevice
	case errors.Is(err, engine.ErrModel):
		return cli.ExitModel
	case errors.As(err, new(*config.ValueError)), errors.As(err, new(*config.FileError)), errors.As(err, new(*random.NameError)):
		return cli.ExitUsage
	}
	return 0
}
