package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui"
)

// start runs a command line in this process and returns what it printed.
func start(ctx context.Context, stdout io.Writer, args ...string) (code int, stderr string) {
	var errOut bytes.Buffer
	p := fakeProgram(Terminal{Stdin: strings.NewReader(""), Stdout: stdout, Stderr: &errOut, Getenv: func(string) string { return "" }})
	return p.Run(ctx, args), errOut.String()
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name string
		args string
		want int
	}{
		{"fine", "run -p hi", ExitOK},
		{"version", "--version", ExitOK},
		{"help", "run --help", ExitOK},
		{"engine fails", "run -p fail", ExitRuntime},
		{"device fails", "run -p lose", ExitDevice},
		{"weights are damaged", "run -p damaged", ExitModel},
		{"bench differs", "bench --gen-tokens 13", ExitRuntime},
		{"no such shape", "make-weights cube Q8_0 f", ExitRuntime},
		{"nothing to time", "time-passes --decode-tokens 0 f", ExitUsage},
		{"pair is good enough", "eval-pair --min program=0.8", ExitOK},
		{"pair misses a goal", "eval-pair --min program=0.95", ExitRuntime},
		{"goal without value", "eval-pair --min program", ExitUsage},
		{"goal that is no number", "eval-pair --min program=NaN", ExitUsage},
		{"goal twice", "eval-pair --min program=1 --min program=0", ExitUsage},
		{"unknown flag", "run --nope", ExitUsage},
		{"unknown command", "nope", ExitUsage},
		{"unknown command below config", "config nope", ExitUsage},
		{"flag without value", "run -p", ExitUsage},
		{"missing argument", "make-weights", ExitUsage},
		{"value out of range", "run -p hi --temperature 9", ExitUsage},
		{"too many tokens for bench", "bench --gen-tokens 2000000", ExitUsage},
		{"no tokens for bench", "bench --gen-tokens 0", ExitUsage},
		{"color", "--color red run -p hi", ExitUsage},
		{"no configuration", "run -p hi --config /does/not/exist", ExitUsage},
		{"model", "run -p hi --target x.gguf", ExitModel},
		{"model of info", "info x.gguf", ExitModel},
		{"device", "run -p hi --device cuda", ExitDevice},
		{"interrupted", "run -p interrupt", ExitInterrupted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, stderr := start(t.Context(), io.Discard, strings.Fields(tt.args)...)
			if code != tt.want {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tt.want, stderr)
			}
			if failed := code != ExitOK && code != ExitInterrupted; failed != strings.Contains(stderr, "specula: ") {
				t.Errorf("exit code %d with stderr %q", code, stderr)
			}
		})
	}
}

func TestInterruptKeepsWhatThereIs(t *testing.T) {
	var out bytes.Buffer
	code, stderr := start(t.Context(), &out, "run", "-p", "interrupt")
	if code != ExitInterrupted || out.String() != "1 messages, \n" || !strings.Contains(stderr, "ended by cancelled") {
		t.Errorf("code %d, stdout %q, stderr %q", code, out.String(), stderr)
	}
}

func TestCancelledContextIsAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _ := start(ctx, io.Discard, "run", "-p", "hi"); code != ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestStdoutThatCannotBeWrittenFails(t *testing.T) {
	for _, args := range []string{"run -p hi", "run -p hi --json", "run -p hi --plain", "info good.gguf", "info", "bench", "config --print-default", "config", "config check"} {
		if code, stderr := start(t.Context(), fullDisk{}, strings.Fields(args)...); code != ExitRuntime || !strings.Contains(stderr, errFull.Error()) {
			t.Errorf("%s: exit code %d, stderr %q", args, code, stderr)
		}
	}
}

func TestEveryLossyRuleIsWarnedOf(t *testing.T) {
	setting, _ := config.Lookup("speculation.acceptance")
	for _, rule := range setting.Choices {
		_, stderr := start(t.Context(), io.Discard, "run", "-p", "hi", "--temperature", "1", "--acceptance", rule)
		lossy := !slices.Contains(config.LosslessRules(), rule)
		if warned := strings.Contains(stderr, "acceptance "+rule+" is lossy"); warned != lossy {
			t.Errorf("%s: lossy %t, stderr %q", rule, lossy, stderr)
		}
	}
}

func TestStatistics(t *testing.T) {
	tests := []struct {
		name string
		in   event.ReplyEnded
		want string
	}{
		{"nothing happened", event.ReplyEnded{Reason: "cancelled"},
			"0 tokens · – tokens/s · – tokens per target pass · acceptance – % (0 of 0) · speed-up – · prompt – · ended by cancelled"},
		{"measured", event.ReplyEnded{Reason: "stop", Totals: event.Totals{Tokens: 30, Rounds: 12, Tested: 20, Accepted: 15, VerifyMS: 900, DraftMS: 100,
			PrefillMS: 50, Speedup: 2.5}},
			"30 tokens · 30.0 tokens/s · 2.50 tokens per target pass · acceptance 75 % (15 of 20) · speed-up ×2.50 · prompt 50 ms"},
		{"estimated", event.ReplyEnded{Reason: "length", Totals: event.Totals{Tokens: 1, Rounds: 1, OtherMS: 1000, Speedup: 1.239, SpeedupEstimated: true}},
			"1 tokens · 1.0 tokens/s · 1.00 tokens per target pass · acceptance – % (0 of 0) · speed-up ≈×1.24 · prompt – · ended by length"},
		{"an estimated loss", event.ReplyEnded{Reason: "length", Totals: event.Totals{Tokens: 1, Rounds: 1, OtherMS: 1000, Speedup: 0.52, SpeedupEstimated: true}},
			"1 tokens · 1.0 tokens/s · 1.00 tokens per target pass · acceptance – % (0 of 0) · speed-up ≈×0.52, slower than without speculation · prompt – · ended by length"},
		{"a loss", event.ReplyEnded{Reason: "length", Totals: event.Totals{Tokens: 1, Rounds: 1, OtherMS: 1000, Speedup: 0.52}},
			"1 tokens · 1.0 tokens/s · 1.00 tokens per target pass · acceptance – % (0 of 0) · speed-up ×0.52, slower than without speculation · prompt – · ended by length"},
	}
	for _, tt := range tests {
		if got := statistics(tt.in); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestEscapeJSON(t *testing.T) {
	for _, text := range []string{"plain é ⟨", "c1 \u009b31m del \u007f", "bidi \u202e tag \U000e0041", "newline \n \x1b[2J"} {
		line, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		escaped := escapeJSON(string(line))
		if strings.IndexFunc(escaped, invisible) >= 0 {
			t.Errorf("%q still holds an invisible character", escaped)
		}
		var back string
		if err := json.Unmarshal([]byte(escaped), &back); err != nil || back != text {
			t.Errorf("%q came back as %q (%v)", text, back, err)
		}
	}
}

// The end of an answer includes text that was held back and an unfinished sequence.
func TestTailIsPrinted(t *testing.T) {
	for _, plain := range []bool{false, true} {
		var out bytes.Buffer
		p := fakeProgram(Terminal{Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }})
		o, err := (&invocation{Program: p}).newOutput(config.Default(), runFlags{plain: plain})
		if err != nil {
			t.Fatal(err)
		}
		o.put(event.Round{Commit: &event.Token{Text: "a\xe2\x82", Verdict: event.Plain}})
		o.put(event.ReplyEnded{Reason: "stop", Tail: "\xac!"})
		if o.err != nil || out.String() != "a€!\n" {
			t.Errorf("plain %v: printed %q (%v)", plain, out.String(), o.err)
		}
	}
}

// The answer goes to stdout alone, and the exit code is returned.
func ExampleProgram_Run() {
	p := fakeProgram(Terminal{Stdout: os.Stdout, Stderr: io.Discard, Getenv: func(string) string { return "" }})
	fmt.Println(p.Run(context.Background(), []string{"run", "--temperature", "0", "-p", "hello"}))
	// Output:
	// 1 messages, t=0: hello
	// 0
}

// The commands that measure pass their options on, and print the report that they get.
func TestMeasuringCommands(t *testing.T) {
	for args, want := range map[string]string{
		"bench --kernels --gamma 3":                                 "prompts -1 tokens 0 gamma 3",
		"eval-pair --holdout h.jsonl --min general=0.5 --threads 3": "holdout h.jsonl goals map[general:0.5] threads 3\n",
		"bench --kernels --json":                                    `"prompts": -1`,
		"make-weights tiny F16 f":                                   "weights tiny F16 f\n",
		"time-passes --threads 2 --prompt-tokens 9 f":               `{"Path":"f","Threads":2,"PromptTokens":9,"DecodeTokens":64}`,
	} {
		var out bytes.Buffer
		code, stderr := start(t.Context(), &out, strings.Fields(args)...)
		if code != ExitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit code %d, %q, stderr %q; want %q", args, code, out.String(), stderr, want)
		}
	}
}

// A recording contains a chat: only its owner may read it, even if it replaces another file. A
// recording without events is removed.
func TestARecordingIsPrivate(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"new.jsonl", "old.jsonl"} {
		if name == "old.jsonl" {
			if err := os.WriteFile(name, []byte("precious"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if code, stderr := start(t.Context(), io.Discard, "run", "-p", "hi", "--trace", name, "--force"); code != ExitOK {
			t.Fatalf("%s: exit code %d, %s", name, code, stderr)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 100 {
			t.Errorf("%s: %v, %d bytes, %v", name, info.Mode(), info.Size(), err)
		}
	}
	if code, _ := start(t.Context(), io.Discard, "run", "-p", "hi", "--device", "cuda", "--trace", "none.jsonl"); code != ExitDevice {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat("none.jsonl"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty recording stays: %v", err)
	}
}

// Without a usable home, the screen starts and says that nothing is saved.
func TestTheScreenStartsWithoutAHome(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{"", file} {
		var o ui.Options
		p := fakeProgram(Terminal{
			Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, StdinTTY: true, StdoutTTY: true,
			ConfigHome: home, DataHome: home, StateHome: home,
		})
		p.Screen = func(_ context.Context, given ui.Options) error { o = given; return nil }
		if code := p.Run(t.Context(), nil); code != ExitOK || o.Chats != nil || o.History != nil {
			t.Errorf("home %q: exit code %d, saved to %v", home, code, o.Chats)
		}
		for _, want := range []string{"chats are not saved", "prompts are not remembered"} {
			if !strings.Contains(o.Warning, want) {
				t.Errorf("home %q: the warning is %q, want %q in it", home, o.Warning, want)
			}
		}
		if _, err := o.Load(t.Context(), func(event.Event) {}); err != nil {
			t.Errorf("home %q: %v", home, err)
		}
	}
}

// With --save=false nothing is written into the user's folders.
func TestNothingIsSavedUnlessWanted(t *testing.T) {
	home := t.TempDir()
	var o ui.Options
	p := fakeProgram(Terminal{
		Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, StdinTTY: true, StdoutTTY: true,
		DataHome: home, StateHome: home,
	})
	p.Screen = func(_ context.Context, given ui.Options) error { o = given; return nil }
	if code := p.Run(t.Context(), []string{"--save=false"}); code != ExitOK || o.Chats != nil || o.History != nil || o.Warning != "" {
		t.Errorf("exit code %d, saved to %v, warning %q", code, o.Chats, o.Warning)
	}
	if made, err := os.ReadDir(home); err != nil || len(made) != 0 {
		t.Errorf("the folder holds %v, error %v", made, err)
	}
}

// A folder is taken for a model even if it holds none: the error is then about the folder, not about commands.
func TestAFolderIsTheTarget(t *testing.T) {
	folder := t.TempDir()
	var o ui.Options
	p := fakeProgram(Terminal{
		Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, StdinTTY: true, StdoutTTY: true,
	})
	p.Screen = func(_ context.Context, given ui.Options) error { o = given; return nil }
	if code := p.Run(t.Context(), []string{folder}); code != ExitOK || o.Config.Model.Target != folder {
		t.Errorf("exit code %d, target %q", code, o.Config.Model.Target)
	}
}

// On the built-in pair the screen begins with a draft to watch, unless something else is asked for.
func TestTheScreenOpensToWatch(t *testing.T) {
	for _, c := range []struct {
		args  []string
		watch bool
	}{
		{nil, true}, {[]string{"--pace", "full"}, true}, {[]string{"--opening", "fast"}, false}, {[]string{"--temperature", "0.7"}, false},
		{[]string{"--target", "own.gguf"}, false},
	} {
		var o ui.Options
		p := fakeProgram(Terminal{
			Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, StdinTTY: true, StdoutTTY: true,
		})
		p.Screen = func(_ context.Context, given ui.Options) error { o = given; return nil }
		if code := p.Run(t.Context(), c.args); code != ExitOK || o.Config.OpensToWatch() != c.watch {
			t.Errorf("%q: exit code %d, opens to watch %v", c.args, code, o.Config.OpensToWatch())
		}
	}
}
