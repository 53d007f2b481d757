package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"specula/engine/config"
	"specula/ui/command"
	"specula/ui/keys"
)

// The demo model learns the program's keys, commands and settings from assets/training/text/program.
// These texts use placeholders, such as {key:gamma-up}, {slash:gamma} and {default:speculation.gamma},
// which are resolved from placeholders.json. This test makes that file from the real tables, so that
// the model does not learn a key that does not exist.

var update = flag.Bool("update", false, "write what is generated: the placeholders of the training texts")

const (
	trainingText = "../../assets/training/text"
	placeholders = trainingText + "/placeholders.json"
)

// keyNames are the names of the keys in the training texts.
var keyNames = map[keys.Focus]map[keys.Action]string{
	keys.Everywhere: {
		keys.GammaUp: "gamma-up", keys.GammaDown: "gamma-down", keys.GammaAuto: "gamma-auto", keys.GammaRule: "gamma-rule",
		keys.TemperatureUp: "warmer", keys.TemperatureDown: "colder", keys.TopK: "top-k", keys.TopP: "top-p", keys.MinP: "min-p",
		keys.Seed: "seed", keys.Proposer: "proposer", keys.Acceptance: "acceptance", keys.Speculate: "speculate",
		keys.Help: "help", keys.Pace: "pace", keys.PaceFaster: "faster", keys.PaceSlower: "slower", keys.View: "view",
		keys.Rejected: "rejected", keys.Regenerate: "regenerate", keys.EditLast: "edit", keys.CopyReply: "copy",
		keys.NewChat: "new", keys.OpenChat: "open", keys.Race: "race", keys.Tradeoff: "tradeoff", keys.Demo: "demo", keys.Opening: "opening", keys.Mouse: "mouse", keys.Picture: "picture",
		keys.PageUp:   "page-up",
		keys.PageDown: "page-down", keys.Stop: "stop", keys.Interrupt: "interrupt", keys.Suspend: "suspend", keys.Redraw: "redraw",
	},
	keys.Compose: {
		keys.Send: "send", keys.Newline: "newline", keys.Complete: "complete", keys.ToTranscript: "to-reply",
		keys.HistoryBack: "history-back", keys.HistoryForward: "history-forward", keys.Step: "step", keys.StepBack: "step-back",
		keys.RoundBack: "round-back", keys.RoundForth: "round-forth", keys.TenthBack: "tenth-back", keys.TenthForth: "tenth-forth",
		keys.RecordingStart: "recording-start", keys.RecordingEnd: "recording-end", keys.QuitIfEmpty: "quit", keys.HelpIfEmpty: "help-if-empty",
	},
	keys.Read: {
		keys.ToComposer: "to-prompt", keys.Left: "left", keys.Right: "right", keys.Up: "up", keys.Down: "down", keys.Top: "first",
		keys.Bottom: "last", keys.Inspect: "inspect", keys.Step: "reply-step", keys.StepBack: "reply-step-back", keys.CopyReply: "reply-copy",
		keys.CopyChat: "copy-chat", keys.Mouse: "reply-mouse", keys.Theme: "theme", keys.Picture: "reply-picture", keys.Help: "reply-help",
	},
}

// editNames are the names of the keys that edit the prompt (keys.Editing), in the order of the table.
var editNames = []string{"line", "word", "delete"}

// resolved makes the table of placeholders, from the text inside the braces to its replacement.
func resolved(t *testing.T) map[string]string {
	t.Helper()
	table := map[string]string{}
	put := func(name, value string) {
		if old, twice := table[name]; twice && old != value {
			t.Errorf("the placeholder %s means %q and %q", name, old, value)
		}
		table[name] = value
	}
	edits := 0
	for _, b := range keys.Bindings() {
		name := keyNames[b.Focus][b.Action]
		if b.Focus == keys.Editing && edits < len(editNames) {
			name = editNames[edits]
			edits++
		}
		if name == "" {
			t.Errorf("the key %v (%s) has no name for the training texts: give it one in keyNames", b.Keys, b.Does)
			continue
		}
		all := make([]string, len(b.Keys))
		for i, k := range b.Keys {
			all[i] = sign(k)
			number := ""
			if i > 0 {
				number = fmt.Sprint(":", i+1)
			}
			put("key:"+name+number, sign(k))                            // as on the screen: alt+↑
			put("typed:"+name+number, k)                                // as people write it: alt+up
			put("spaced:"+name+number, strings.ReplaceAll(k, "+", " ")) // alt up
			put("dashed:"+name+number, strings.ReplaceAll(k, "+", "-")) // alt-up
			put("capital:"+name+number, capital(k))                     // Alt+Up
		}
		put("keys:"+name, strings.Join(all, " or "))
	}
	for _, c := range command.Table() {
		put("slash:"+c.Name, "/"+c.Name)
	}
	for _, s := range config.Settings() {
		put("setting:"+s.Name, s.Name)
		put("default:"+s.Name, s.Default)
		put("allowed:"+s.Name, s.Allowed())
		put("flag:"+s.Flag, "--"+s.Flag)
	}
	root := (&invocation{Program: fakeProgram(Terminal{})}).rootCommand()
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	each(root, func(c *cobra.Command) {
		if c != root {
			put("command:"+strings.TrimPrefix(c.CommandPath(), "specula "), c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) { put("flag:"+f.Name, "--"+f.Name) })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { put("flag:"+f.Name, "--"+f.Name) })
	})
	return table
}

func each(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		each(sub, visit)
	}
}

// sign writes the arrow keys as the help does.
func sign(k string) string {
	for name, arrow := range map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→"} {
		if head, ok := strings.CutSuffix(k, name); ok && (head == "" || strings.HasSuffix(head, "+")) {
			return head + arrow
		}
	}
	return k
}

func capital(k string) string {
	parts := strings.Split(k, "+")
	for i, p := range parts {
		parts[i] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "+")
}

func TestPlaceholdersAreCurrent(t *testing.T) {
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(resolved(t)); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(placeholders, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(placeholders)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is not that of the keys, commands and settings: run make generate", filepath.Base(placeholders))
	}
}

// topic is one block of a training text.
type topic struct {
	file, id           string
	questions, answers []string
}

// topics reads every training text about the program, and fails if one is not in the format. Further
// questions, in separate files, are added to the topics with the same ids.
func topics(t *testing.T) []topic {
	t.Helper()
	files, err := filepath.Glob(trainingText + "/program/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no training texts were found: %v", err)
	}
	var list []topic
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if lines := bytes.Count(text, []byte("\n")); lines > maxTextLines {
			t.Errorf("%s has %d lines; at most %d", name, lines, maxTextLines)
		}
		now := topic{file: name}
		for i, line := range strings.Split(string(text)+"\n", "\n") {
			kind, rest, _ := strings.Cut(line, ": ")
			switch {
			case strings.HasPrefix(line, "#"):
			case line == "":
				if now.id != "" {
					list = append(list, now)
				}
				now = topic{file: name}
			case rest != strings.TrimSpace(rest) || rest == "":
				t.Errorf("%s:%d: %q has no text, or spaces around it", name, i+1, line)
			case kind == "id" && now.id == "":
				now.id = rest
			case kind == "q" && now.id != "":
				now.questions = append(now.questions, rest)
			case kind == "a" && now.id != "":
				now.answers = append(now.answers, rest)
			default:
				t.Errorf("%s:%d: %q is not a line of a topic, which is id, questions, answers", name, i+1, line)
			}
		}
	}
	return withFurtherWays(t, list)
}

// furtherWays is part of the names of files whose blocks add questions to topics of other files.
const furtherWays = "-asked"

func withFurtherWays(t *testing.T, list []topic) []topic {
	t.Helper()
	var whole, further []topic
	for _, topic := range list {
		if strings.Contains(topic.file, furtherWays) {
			further = append(further, topic)
		} else {
			whole = append(whole, topic)
		}
	}
	for _, f := range further {
		i := slices.IndexFunc(whole, func(topic topic) bool { return topic.id == f.id })
		if i < 0 || len(f.answers) > 0 {
			t.Errorf("%s: %s: want questions alone, for a topic of another file", f.file, f.id)
			continue
		}
		whole[i].questions = append(whole[i].questions, f.questions...)
	}
	return whole
}

const (
	maxTextLines    = 400
	fewestTopics    = 350
	fewestQuestions = 8
	mostAnswers     = 2
	mostWords       = 55 // of an answer
)

var (
	placeholder = regexp.MustCompile(`\{[^}]*\}?`)
	rawKey      = regexp.MustCompile(`(?i)\b((ctrl|alt|shift)[+-]\S+|f([1-9]|1[0-2])|esc|pgup|pgdown|pgdn)\b`)
	rawCommand  = regexp.MustCompile(`(^|[\s(])(/[a-z]\w*|--[a-z][\w-]*)`)
	rawProgram  = regexp.MustCompile(`\bspecula ([a-z-]+)`)
	rawPath     = regexp.MustCompile(`[\w./~-]+\.(go|toml|md|gguf|txt|jsonl?|safetensors|bin|pt)\b`)
)

// examples are file names that stand for files of the user.
var examples = []string{"big.gguf", "small.gguf", "hello.jsonl", "model.gguf", "person.json", "prompts.txt", "notes.md", "mine.toml"}

// outside are names of files that the program reads, refuses or writes, but that are not in the repository.
var outside = []string{"~/.config/specula/config.toml", "model.safetensors", "pytorch_model.bin", "config.json", "history.jsonl", ".json", ".pt"}

func TestTrainingTextsNameOnlyWhatThereIs(t *testing.T) {
	table := resolved(t)
	list := topics(t)
	if len(list) < fewestTopics {
		t.Errorf("there are %d topics, want %d", len(list), fewestTopics)
	}
	ids, asked := map[string]string{}, map[string]string{}
	for _, topic := range list {
		at := topic.file + ": " + topic.id
		if other, twice := ids[topic.id]; twice {
			t.Errorf("%s: that id is in %s as well", at, other)
		}
		ids[topic.id] = topic.file
		if len(topic.questions) < fewestQuestions || len(topic.answers) == 0 || len(topic.answers) > mostAnswers {
			t.Errorf("%s: has %d questions and %d answers", at, len(topic.questions), len(topic.answers))
		}
		for _, text := range slices.Concat(topic.questions, topic.answers) {
			for _, complaint := range complaints(text, table) {
				t.Errorf("%s: %s: %s", at, text, complaint)
			}
		}
		for _, q := range topic.questions {
			plain := strings.TrimRight(strings.ToLower(resolve(q, table)), "?.! ")
			if other, twice := asked[plain]; twice && other != topic.id {
				t.Errorf("%s: %q is asked by %s as well", at, q, other)
			}
			asked[plain] = topic.id
		}
		for _, a := range topic.answers {
			if n := len(strings.Fields(resolve(a, table))); n > mostWords {
				t.Errorf("%s: the answer has %d words, at most %d", at, n, mostWords)
			}
		}
	}
}

func resolve(text string, table map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string { return table[strings.Trim(p, "{}")] })
}

// complaints lists the names in a text that are not in the tables, or that should be placeholders.
func complaints(text string, table map[string]string) []string {
	var out []string
	for _, p := range placeholder.FindAllString(text, -1) {
		if _, known := table[strings.Trim(p, "{}")]; !known || !strings.HasSuffix(p, "}") {
			out = append(out, p+" is no placeholder")
		}
	}
	bare := placeholder.ReplaceAllString(text, "_")
	for _, k := range rawKey.FindAllString(bare, -1) {
		out = append(out, k+": name keys by {key:…}")
	}
	for _, c := range rawCommand.FindAllString(bare, -1) {
		out = append(out, strings.TrimSpace(c)+": name commands and flags by {slash:…} and {flag:…}")
	}
	for _, c := range rawProgram.FindAllStringSubmatch(bare, -1) {
		if _, is := table["command:"+c[1]]; is {
			out = append(out, c[0]+": name commands by {command:…}")
		}
	}
	for _, path := range rawPath.FindAllString(bare, -1) {
		if slices.Contains(examples, path) || slices.Contains(outside, path) {
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
			out = append(out, path+" is neither in the repository nor a known example")
		}
	}
	return out
}

func TestWrongNamesInTrainingTextsAreFound(t *testing.T) {
	table := map[string]string{"key:help": "f1", "command:bench": "specula bench"}
	for text, want := range map[string]int{
		"Press {key:help}. If u·q < p the token stays, and p/q is 1. See config.toml.": 0,
		"Press {key:nowhere}.":    1,
		"Press {key:help":         1,
		"Press f3 or Alt+X.":      2,
		"Type /gamma 4.":          1,
		"Use --gamma.":            1,
		"Run specula bench.":      1,
		"Open {command:bench}":    0,
		"It is in engine/no.go.":  1,
		"It is in assets/pair/x.": 0, // not a name of a file
	} {
		if got := complaints(text, table); len(got) != want {
			t.Errorf("%s: %q, want %d complaints", text, got, want)
		}
	}
}
