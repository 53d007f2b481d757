package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"specula/engine"
	"specula/engine/app"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
	"specula/ui/race"
)

// The scripts run this program. Its engine answers as the prompt asks.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"specula": func() {
		tty := os.Getenv("FAKE_TTY")
		p := fakeProgram(Terminal{
			Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, ConfigHome: os.Getenv("XDG_CONFIG_HOME"), DataHome: "data", StateHome: "state",
			StdinTTY: strings.Contains(tty, "in"), StdoutTTY: strings.Contains(tty, "out"),
		})
		os.Exit(p.Run(context.Background(), os.Args[1:]))
	}})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/config")
			return nil
		},
	})
}

var (
	errNoModel  = errors.New("tensor \"blk.0\": unknown type 99 at byte 128, allowed are 0 to 30 \x1b]0;owned\x07")
	errNoDevice = errors.New("no CUDA device")
)

func fakeProgram(t Terminal) *Program {
	var ms int64
	return &Program{
		Version: "1.2.3", DefaultConfig: []byte("# the defaults\n"), Terminal: t,
		Now: func() time.Time { ms++; return time.UnixMilli(ms) },
		Open: func(_ context.Context, c config.Config, emit func(event.Event)) (ui.Engine, error) {
			if c.Device.Device == "cuda" {
				return nil, fmt.Errorf("opening the device: %w", errNoDevice)
			}
			if c.Model.Target != "" && c.Model.Target != "guessed.gguf" {
				return nil, fmt.Errorf("loading %s: %w", c.Model.Target, errNoModel)
			}
			emit(event.Loading{What: "target", DoneBytes: 1, TotalBytes: 2})
			if c.Model.Target != "" {
				emit(event.Ready{Target: event.Model{Name: "guessed", Path: c.Model.Target}, Device: "cpu", DeviceWhy: "asked for", Template: "chatml: guessed", Unspelled: "0x04",
					Warnings: []event.Warning{{About: "template", Text: "a guess: chatml\x1b[2J", Do: "choose another"}, {About: "tokenizer", Text: "gpt-2 is assumed", Do: "download"}}})
				return &fakeSession{config: c}, nil
			}
			emit(event.Ready{Version: "1.2.3", Target: event.Model{Name: "fake\x1b[2J", Path: "fake.gguf"}, Device: "cpu: of a long name, 64 threads", DeviceWhy: "no other was asked for", Template: "chatml",
				Proposers: []event.Proposer{{Name: "draft"}, {Name: "eagle", Refused: "no heads\x1b[2J"}}})
			return &fakeSession{config: c}, nil
		},
		Screen: func(_ context.Context, o ui.Options) error {
			if o.Replay != nil {
				fmt.Fprintf(t.Stdout, "SCREEN of %d events pace=%s\n", len(o.Replay), o.Config.UI.Pace)
				return nil
			}
			if o.Demo != nil {
				fmt.Fprintf(t.Stdout, "DEMO %s loop=%v gamma=%d\n", o.Demo.Name, o.Loop, o.Config.Speculation.Gamma)
				return nil
			}
			if o.Race != nil {
				fmt.Fprintf(t.Stdout, "RACE %s: %s, %s\n", o.Race.Prompt, o.Race.Lanes[0].Name, o.Race.Lanes[1].Name)
				return fakeRaceScreen(o)
			}
			fmt.Fprintf(t.Stdout, "SCREEN gamma=%d color=%s chats=%s prompt=%q\n", o.Config.Speculation.Gamma, o.Color, filepath.ToSlash(o.Chats.Dir()), o.Prompt)
			if o.Record != nil {
				o.Record(event.Notice{Level: "info", Text: "recorded"})
			}
			if o.Config.UI.Theme == "mono" {
				return &ui.SignalError{Signal: syscall.SIGTERM}
			}
			return nil
		},
		PromptSets: []string{"small talk", "copying"},
		Bench: func(_ context.Context, o app.BenchOptions, progress func(done, total int)) (app.Report, error) {
			progress(o.Count, o.Count)
			return fakeReport(o), nil
		},
		CompareGammas: func(_ context.Context, o app.GammaOptions, progress func(done, total int)) (app.Report, error) {
			progress(1, 1)
			return fakeReport{Count: len(o.Gammas), GenTokens: o.Repeats, Config: o.Config}, nil
		},
		Kernels: func(_ context.Context, c config.Config) (app.Report, error) {
			return fakeReport{Count: -1, Config: c}, nil
		},
		VerifyDist: func(_ context.Context, o app.ProofOptions, progress func(done, total int)) (app.Report, error) {
			progress(1, 1)
			return fakeFinding{fmt.Sprintf("prompt %s seconds %g trials %d proposers %v rule %s t=%g\nmodel evil\x1b[2J\n", o.Prompt, o.Seconds, o.Trials,
				o.Proposers, o.Rule, o.Config.Sampling.Temperature), o.Prompt != "biased"}, nil
		},
		Doctor: func(_ context.Context, o app.DoctorOptions, progress func(string)) (app.Report, error) {
			progress("examining")
			if o.Config.Model.Target != "" {
				return nil, errNoModel
			}
			return fakeFinding{fmt.Sprintf("seconds %g gammamax %d\n", o.Seconds, o.Config.Speculation.GammaMax), o.Config.Device.Threads != 13}, nil
		},
		Audit: func(_ context.Context, o app.AuditOptions, progress func(done, total int)) (app.Report, error) {
			progress(1, 1)
			return fakeFinding{fmt.Sprintf("audit %s beside %s, %d prompts, %d tokens\n", o.Config.Remote.URL, o.Plain, o.Count, o.Config.Sampling.MaxTokens), o.Plain != "http://other"}, nil
		},
		EvalPair: func(_ context.Context, o app.PairOptions, progress func(done, total int)) (app.Report, error) {
			progress(1, 1)
			return fakeFinding{fmt.Sprintf("holdout %s goals %v threads %d\n", o.Holdout, o.Goals, o.Config.Device.Threads), o.Goals["program"] < 0.9}, nil
		},
		MakeWeights: func(_ context.Context, shape, weightType, path string) error {
			if shape == "cube" {
				return errors.New("there is no shape cube")
			}
			fmt.Fprintln(t.Stdout, "weights", shape, weightType, path)
			return nil
		},
		TimePasses: func(_ context.Context, o app.PassOptions) (any, error) { return o, nil },
		Describe: func(_ context.Context, path string) ([]event.Table, error) {
			if path != "good.gguf" {
				return nil, fmt.Errorf("%s: %w", path, errNoModel)
			}
			return []event.Table{{Rows: [][]string{{"format", "GGUF v3"}, {"name", "evil\x1b[31m name"}}},
				{Title: "metadata", Rows: [][]string{{"a", "u32", "7"}, {"longer", "string", "\"x\""}}}}, nil
		},
		ExitCode: func(err error) int {
			switch {
			case errors.Is(err, errNoModel):
				return ExitModel
			case errors.Is(err, errNoDevice):
				return ExitDevice
			}
			return 0
		},
	}
}

// fakeFinding is a report with a text.
type fakeFinding struct {
	text  string
	sound bool
}

func (f fakeFinding) Matched() bool { return f.sound }
func (f fakeFinding) WriteTable(w io.Writer) error {
	_, err := io.WriteString(w, f.text)
	return err
}
func (f fakeFinding) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"lossless": f.sound})
}

type fakeReport app.BenchOptions

func (r fakeReport) Matched() bool { return r.GenTokens != 13 }
func (r fakeReport) WriteTable(w io.Writer) error {
	_, err := fmt.Fprintf(w, "prompts %d tokens %d gamma %d rule %s\nmodel evil\x1b[2J\n", r.Count, r.GenTokens, r.Config.Speculation.Gamma, r.Config.Speculation.Rule)
	return err
}
func (r fakeReport) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"prompts": r.Count, "text": r.PromptText, "gsm8k": r.GSM8K})
}

// fakeSession answers word by word, one round each, and obeys a few prompts.
type fakeSession struct {
	config config.Config
	closed bool
}

func (s *fakeSession) Change(name, value string) error {
	values, _, err := config.Imply([]config.Value{{Name: name, Text: value}})
	if err != nil {
		return err
	}
	return s.config.SetAll(values...)
}

func (s *fakeSession) Settings() config.Config { return s.config }
func (s *fakeSession) Close() error            { s.closed = true; return nil }

// fakeRace lets a session answer twice.
type fakeRace struct {
	*fakeSession
	prompt string
}

func (s *fakeSession) Race(_ context.Context, _ [2]race.Lane, _ bool) (race.Race, error) {
	return &fakeRace{fakeSession: s}, nil
}

// fakeRaceScreen runs a race as the screen does. With the prompt "quit" the user closes the screen
// after the first round; with "early", while the models are read.
func fakeRaceScreen(o ui.Options) error {
	if o.Race.Prompt == "early" {
		return nil
	}
	r := &fakeRace{fakeSession: &fakeSession{config: o.Config}}
	failure := ""
	for lane, e := range r.Run(context.Background(), []engine.Message{{Role: "user", Content: o.Race.Prompt}}) {
		o.Race.Record(lane, e)
		if f, failed := e.(event.Failed); failed {
			failure = f.Error
		}
		if _, round := e.(event.Round); round && o.Race.Prompt == "quit" {
			break
		}
	}
	o.Race.Over(r.Outcome(), failure)
	return nil
}

func (r *fakeRace) Run(ctx context.Context, messages []engine.Message) iter.Seq2[int, event.Event] {
	r.prompt = messages[0].Content
	return func(yield func(int, event.Event) bool) {
		for lane := range 2 {
			for e := range r.Generate(ctx, engine.Request{Messages: messages}) {
				if !yield(lane, e) {
					return
				}
			}
		}
	}
}

func (r *fakeRace) Outcome() event.RaceOutcome {
	if r.prompt == "differ" {
		return event.RaceOutcome{Compared: true, Position: 2, Why: "as asked"}
	}
	return event.RaceOutcome{Compared: true, Same: true, Why: "as asked", Position: -1}
}

func (s *fakeSession) Generate(ctx context.Context, request engine.Request) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		messages := request.Messages
		prompt := messages[len(messages)-1].Content
		text := fmt.Sprintf("%d messages, t=%g: %s", len(messages), s.config.Sampling.Temperature, prompt)
		ended := event.ReplyEnded{Reply: 1, Reason: "stop"}
		if !yield(event.ReplyStarted{Reply: 1, Prompt: prompt}) {
			return
		}
		if prompt == "refuse" {
			ended.Reason = "error"
			_ = yield(event.Failed{Error: "the conversation has 9 tokens and the context holds 8"}) && yield(ended)
			return
		}
		for i, word := range strings.SplitAfter(text, " ") {
			if prompt == "interrupt" && i == 2 {
				// Send a real signal, and wait for its effect.
				self, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = self.Signal(os.Interrupt)
				}
				if err != nil {
					panic(err)
				}
				<-ctx.Done()
				ended.Reason = "cancelled"
				break
			}
			q := 0.5
			round := event.Round{Index: i, Gamma: 1, Tested: 1, Commit: &event.Token{ID: 1, Text: word, Verdict: event.Resampled},
				Draft: []event.Token{{ID: 2, Text: "WRONG", Q: &q, Verdict: event.Rejected}}, DraftMS: 1, VerifyMS: 1}
			ended.Text += word
			ended.Totals.Tokens++
			ended.Totals.Rounds++
			ended.Totals.Tested++
			ended.Totals.VerifyMS += 100
			if !yield(round) {
				return
			}
		}
		if prompt == "fail" || prompt == "lose" || prompt == "damaged" {
			ended.Reason = "error"
			if !yield(event.Failed{Error: "the model's scores are not finite", Device: prompt == "lose", Model: prompt == "damaged"}) {
				return
			}
		}
		yield(ended)
	}
}
