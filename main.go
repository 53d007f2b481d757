// Specula is a chat in the terminal that shows speculative decoding while it happens. See README.md.
//
// This file connects the command line (ui/cli) with the screen (ui), the engine and a device; nothing is decided here but
// which device and which models to take.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"golang.org/x/term"

	"specula/assets"
	"specula/engine"
	"specula/engine/agreement"
	"specula/engine/bench"
	"specula/engine/bench/pair"
	"specula/engine/bench/speed"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/doctor"
	"specula/engine/event"
	"specula/engine/exam"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/proof"
	"specula/engine/weights"
	"specula/engine/weights/random"
	"specula/gpu"
	"specula/ui"
	"specula/ui/cli"
	"specula/ui/keeper"
	"specula/ui/race"
)

//go:embed config.toml
var defaultConfig []byte

func main() { os.Exit(program().Run(context.Background(), os.Args[1:])) }

func program() *cli.Program {
	return &cli.Program{
		Version: version(), DefaultConfig: defaultConfig, PromptSets: assets.SetNames(), WeightTypes: random.Types(), Now: time.Now,
		Terminal: cli.Terminal{
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
			ConfigHome: folder(xdg.ConfigHome), DataHome: folder(xdg.DataHome), StateHome: folder(xdg.StateHome),
			StdinTTY: isTerminal(os.Stdin), StdoutTTY: isTerminal(os.Stdout), StderrTTY: isTerminal(os.Stderr),
		},
		Split: keeper.Split, Open: connect, Screen: screen, Bench: measure, Describe: describe, MakeWeights: makeWeights,
		TimePasses: timePasses, Kernels: measureKernels, CompareGammas: compareGammas, VerifyDist: verifyDist, Doctor: examine,
		EvalPair: evalPair, ExitCode: exitCode,
	}
}

// folder is a folder of the user's, or empty if it is only guessed: without HOME, the library takes the root for the home.
func folder(path string) string {
	if _, err := os.UserHomeDir(); err != nil && strings.HasPrefix(path, "/.") {
		return ""
	}
	return path
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// version is the module's, the commit's if it was built from a repository, and what it was built with.
func version() string {
	v := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

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

// models says which files or which bytes of this program are target, draft and heads.
func models(c config.Model) (target, draft engine.Source, heads []engine.HeadSource) {
	target, draft = engine.Source{Path: c.Target}, engine.Source{Path: c.Draft}
	if c.Target == "" {
		target = engine.Source{Name: "demo target", Embedded: assets.Target()}
		for _, h := range assets.Heads() {
			heads = append(heads, engine.HeadSource(h))
		}
	}
	switch {
	case c.Draft == "none", c.Draft == "" && c.Target != "":
		draft = engine.Source{}
	case c.Draft == "":
		draft = engine.Source{Name: "demo draft", Embedded: assets.Draft()}
	}
	return target, draft, heads
}

// conversation is a session with the device it runs on, as the screen and the benchmark want it.
type conversation struct {
	*engine.Session
	engine  *engine.Engine
	devices *host.Devices
	sparing bool // inspection must not slow the reply down
}

func open(ctx context.Context, c config.Config, emit func(event.Event)) (*conversation, error) {
	d, err := host.Choose(ctx, host.Choice(c.Device), gpu.Open)
	if err != nil {
		return nil, err
	}
	target, draft, heads := models(c.Model)
	e, err := engine.Load(ctx, engine.Options{
		Version: version(), Config: c, Target: target, Draft: draft, Heads: heads,
		Backend: d.Target, DeviceWhy: d.Why, DraftBackend: d.Draft, Fallback: d.Fallback,
		Now: time.Now, NewSeed: func() int64 { return rand.Int64N(1_000_000_000) }, // short enough to be shown whole and typed
	}, emit)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	s, err := e.NewSession(ctx)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &conversation{Session: s, engine: e, devices: d}, nil
}

// screen shows the chat. What it collects for the inspector may take a little of the engine's time, not most of it.
func screen(ctx context.Context, o ui.Options) error {
	if load := o.Load; load != nil {
		o.Load = func(ctx context.Context, emit func(event.Event)) (ui.Engine, error) {
			e, err := load(ctx, emit)
			if c, ok := e.(*conversation); ok {
				c.sparing = true
			}
			return e, err
		}
	}
	return ui.Run(ctx, o)
}

// connect is open for callers of an interface, to whom a nil pointer would not be nil.
func connect(ctx context.Context, c config.Config, emit func(event.Event)) (ui.Engine, error) {
	s, err := open(ctx, c, emit)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *conversation) Generate(ctx context.Context, messages []ui.Message, inspect bool) iter.Seq[event.Event] {
	return c.Session.Generate(ctx, engine.Request{Messages: engineMessages(messages), Inspect: inspect, Sparing: c.sparing})
}

// Repeat writes a reply again.
func (c *conversation) Repeat(ctx context.Context, messages []ui.Message, inspect bool, drafts string) iter.Seq[event.Event] {
	return c.Session.Generate(ctx, engine.Request{Messages: engineMessages(messages), Inspect: inspect, Sparing: c.sparing, Drafts: drafts})
}

func (c *conversation) Reply(ctx context.Context, prompt string) iter.Seq[event.Event] {
	return c.Generate(ctx, []ui.Message{{Role: "user", Content: prompt}}, false)
}

// twoLanes is an engine's race as the screen wants it.
type twoLanes struct {
	*engine.Race
	messages []engine.Message
}

func (r twoLanes) Run(ctx context.Context) iter.Seq2[int, event.Event] {
	return r.Race.Run(ctx, r.messages)
}

func (r twoLanes) Outcome() race.Outcome { return race.Outcome(r.Race.Outcome()) }

func (c *conversation) Race(ctx context.Context, messages []ui.Message, lanes [2]race.Lane, after bool) (race.Race, error) {
	r, err := c.NewRace(ctx, [2][]config.Value{lanes[0].Settings, lanes[1].Settings}, after)
	if err != nil {
		return nil, err
	}
	return twoLanes{r, engineMessages(messages)}, nil
}

func engineMessages(messages []ui.Message) []engine.Message {
	list := make([]engine.Message, len(messages))
	for i, m := range messages {
		list[i] = engine.Message{Role: m.Role, Content: m.Content}
	}
	return list
}

// another opens a second conversation with the same models. It is closed by itself, the first one last.
func (c *conversation) another(ctx context.Context) (bench.Opened, error) {
	s, err := c.engine.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	return &sharing{conversation{Session: s, engine: c.engine}}, nil
}

// sharing is a conversation on the device of another.
type sharing struct{ conversation }

func (c *sharing) Close() error      { return c.Session.Close() }
func (c *conversation) Close() error { return errors.Join(c.Session.Close(), c.devices.Close()) }

func measure(ctx context.Context, o cli.BenchOptions, progress func(done, total int)) (cli.Report, error) {
	prompts, set := assets.Prompts(), ""
	var err error
	switch {
	case o.GSM8K != "":
		set = "gsm8k"
		if prompts, err = bench.OpenGSM8K(o.GSM8K, o.Count); err != nil {
			return nil, err
		}
	case o.PromptText != "":
		prompts = assets.ParsePrompts(o.PromptText)
	}
	c, err := open(ctx, o.Config, func(event.Event) {})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := bench.Run(ctx, c, bench.Options{
		Prompts: prompts[:min(o.Count, len(prompts))], GenTokens: o.GenTokens, Repeats: o.Repeats,
		Temperature: o.Config.Sampling.Temperature, Seed: o.Config.Sampling.Seed,
	}, progress)
	if err != nil {
		return nil, err
	}
	s := o.Config.Speculation
	r.About = bench.About{Ready: c.Ready(), PromptSet: set, Proposer: bench.Drafter(s.Proposer, c.Ready()), Gamma: s.Gamma, GammaMax: s.GammaMax, GammaRule: s.Rule, Acceptance: s.Acceptance}
	return r, nil
}

func verifyDist(ctx context.Context, o cli.ProofOptions, progress func(done, total int)) (cli.Report, error) {
	c, err := open(ctx, o.Config, func(event.Event) {})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.VerifyDist(ctx, engine.ProofOptions{
		Options: proof.Options{Seconds: o.Seconds, Replies: o.Trials, Seed: uint64(max(o.Config.Sampling.Seed, 0)), Now: time.Now},
		Prompt:  o.Prompt, Proposers: o.Proposers, Rules: engine.RulesOnTrial(o.Rule),
	}, progress)
}

func examine(ctx context.Context, o cli.DoctorOptions, progress func(what string)) (cli.Report, error) {
	c, err := open(ctx, o.Config, func(event.Event) {})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Examine(ctx, doctor.Options{Seconds: o.Seconds, Prompts: assets.Prompts(), Now: time.Now}, progress)
}

// evalPair holds a pair to the exam, and to what its goals say about agreement and cost.
func evalPair(ctx context.Context, o cli.PairOptions, progress func(done, total int)) (cli.Report, error) {
	options := pair.Options{Temperatures: []float64{0, 0.7, 1}, Goals: o.Goals}
	for _, p := range assets.Exam() {
		paper, err := exam.Read(p.Name, p.Text)
		if err != nil {
			return nil, err
		}
		options.Papers = append(options.Papers, paper)
	}
	var err error
	if options.Dialogues, err = dialogues(o.Holdout); err != nil {
		return nil, err
	}
	c, err := open(ctx, o.Config, func(event.Event) {})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	subject := pair.Subject{Answer: func(ctx context.Context, conversation []engine.Message) (string, error) {
		return c.Answer(ctx, conversation, "sampling.temperature", "0")
	}}
	if c.Ready().Draft != nil {
		subject.Agreement = func(ctx context.Context, talks []agreement.Talk, temperatures []float64) (*agreement.Report, error) {
			return c.engine.Agreement(ctx, talks, temperatures, nil)
		}
		subject.Steps = func(ctx context.Context) (speed.Steps, error) { return timeSteps(ctx, o.Config) }
	}
	r, err := pair.Run(ctx, subject, options, progress)
	if err != nil {
		return nil, err
	}
	r.Target, r.Draft = c.Ready().Target, c.Ready().Draft
	return r, nil
}

// dialogues reads a file of held-out dialogues; no path is no dialogues.
func dialogues(path string) ([]agreement.Talk, error) {
	if path == "" {
		return nil, nil
	}
	return agreement.ReadFile(path)
}

// timeSteps times a decoding step of target and draft on one core.
func timeSteps(ctx context.Context, c config.Config) (speed.Steps, error) {
	const tokens = 256
	var both [2]*model.Model
	target, draft, _ := models(c.Model)
	for i, source := range []engine.Source{target, draft} {
		m, backend, err := openOnCPU(ctx, source, 1, tokens)
		if err != nil {
			return speed.Steps{}, err
		}
		defer backend.Close()
		both[i] = m
	}
	return speed.MeasureSteps(ctx, both[0], both[1], time.Now)
}

// compareGammas measures draft lengths on the built-in kinds of prompt.
func compareGammas(ctx context.Context, o cli.GammaOptions, progress func(done, total int)) (cli.Report, error) {
	options := bench.GammaOptions{Gammas: o.Gammas, Temperatures: o.Temperatures, GenTokens: o.GenTokens, Repeats: o.Repeats, Seed: 1}
	for _, set := range assets.Sets() {
		options.Sets = append(options.Sets, bench.PromptSet{Name: set.Name, Prompts: set.Prompts[:min(o.Count, len(set.Prompts))]})
	}
	var err error
	if options.Sets, err = bench.Choose(options.Sets, o.Sets); err != nil {
		return nil, err
	}
	c, err := open(ctx, o.Config, func(event.Event) {})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := bench.CompareGammas(ctx, c.another, options, progress)
	if err != nil {
		return nil, err
	}
	r.About = bench.About{Ready: c.Ready(), Proposer: bench.Drafter(o.Config.Speculation.Proposer, c.Ready())}
	return r, nil
}

// describe makes tables of what a model file says about itself.
func describe(ctx context.Context, path string) ([]cli.Section, error) {
	f, err := weights.OpenHeader(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrModel, err)
	}
	var sections []cli.Section
	for _, table := range weights.Describe(f).Tables() {
		sections = append(sections, cli.Section(table))
	}
	sections[0].Rows = append(sections[0].Rows, prospects(f)...)
	return slices.Insert(sections, 2, processor()), nil
}

// prospects tells what a chat with a model file would be like, or why there can be none.
func prospects(f *weights.File) (rows [][]string) {
	ready, err := engine.Study(f)
	if err != nil {
		return [][]string{{"cannot be loaded", err.Error()}}
	}
	if !ready.Warned("template") {
		rows = append(rows, []string{"chat template", ready.Template})
	}
	if ready.Unspelled != "" {
		rows = append(rows, []string{"bytes", "no token for " + ready.Unspelled})
	}
	for _, w := range ready.Warnings {
		rows = append(rows, []string{"warning", w.About + ": " + w.Text}, []string{"", w.Do})
	}
	return rows
}

// processor describes what a model would run on without a GPU.
func processor() cli.Section {
	backend := host.New(0)
	defer backend.Close()
	info := backend.Info()
	return cli.Section{Title: "processor", Rows: [][]string{{info.Name}, {info.Detail}}}
}

func makeWeights(ctx context.Context, shape, weightType, path string) error {
	return random.MakeFile(ctx, path, shape, weightType, assets.Draft())
}

func timePasses(ctx context.Context, o cli.PassOptions) (any, error) {
	m, backend, err := openOnCPU(ctx, engine.Source{Path: o.Path}, o.Threads, o.PromptTokens+o.DecodeTokens)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	passes, err := speed.MeasurePasses(ctx, m, o.PromptTokens, o.DecodeTokens, time.Now)
	return struct {
		speed.Passes
		ResidentBytes int64 `json:"residentBytes"` // of this process, behind the passes
		WeightBytes   int64 `json:"weightBytes"`
		CacheBytes    int64 `json:"cacheBytes"`
	}{passes, doctor.ResidentBytes(), m.Config().WeightBytes, m.Config().CacheBytes}, err
}

// measureKernels times the products of the target on the CPU.
func measureKernels(ctx context.Context, c config.Config) (cli.Report, error) {
	target, _, _ := models(c.Model)
	m, backend, err := openOnCPU(ctx, target, c.Device.Threads, 256)
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	k, err := speed.MeasureKernels(ctx, backend, m, func() speed.Ceilings { return speed.Ceilings(backend.Ceilings()) }, time.Now)
	if err != nil {
		return nil, err
	}
	k.Model = target.Path + target.Name
	return k, nil
}

// openOnCPU loads a model without tokenizer or session, with a cache of so many tokens.
func openOnCPU(ctx context.Context, s engine.Source, threads, tokens int) (*model.Model, *host.Backend, error) {
	f, err := openWeights(ctx, s)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", engine.ErrModel, err)
	}
	backend := host.New(threads)
	m, err := model.Load(ctx, backend, f, model.Options{MaxTokens: tokens, PrefillRows: min(tokens, 512), CacheBySize: true}, nil)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%w: %w", engine.ErrModel, err), backend.Close())
	}
	return m, backend, nil
}

func openWeights(ctx context.Context, s engine.Source) (*weights.File, error) {
	if s.Embedded != nil {
		return weights.Parse(s.Name, s.Embedded)
	}
	return weights.Open(ctx, s.Path, nil)
}
