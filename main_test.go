package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"specula/assets"
	"specula/engine"
	"specula/engine/app"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/engine/weights/gguf"
	"specula/ui/chats"
	"specula/ui/cli"
	"specula/ui/export"
	"specula/ui/state"
)

// The scripts run the whole program with the pair inside it.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"specula": main})
}

func TestProgram(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "ui/cli/testdata/pair",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
				env.Setenv("XDG_"+name+"_HOME", env.WorkDir+"/"+name)
			}
			return nil
		},
	})
}

func TestAWrongShapeIsAWrongUsage(t *testing.T) {
	for _, args := range [][2]string{{"nothing", "Q8_0"}, {"tiny", "Q9"}} {
		err := app.MakeWeights(t.Context(), args[0], args[1], t.TempDir()+"/x.gguf")
		if code := exitCode(err); code != cli.ExitUsage {
			t.Errorf("%v: error %v, exit code %d, want %d", args, err, code, cli.ExitUsage)
		}
	}
}

// Of a file with a sound header, info says whether it can be loaded, and if not, why.
func TestInfoSaysWhatAFileIsGoodFor(t *testing.T) {
	unnamed := bytes.Replace(assets.Target(), []byte("tokenizer.ggml.pre"), []byte("tokenizer.ggml.was"), 1)
	projector := (&gguf.Builder{}).Set("general.architecture", "clip").Set("general.type", "mmproj").Bytes()
	for _, c := range []struct {
		file  []byte
		label string // of a row
		says  string
	}{
		{assets.Target(), "chat template", "built-in ChatML: gives the same text"},
		{assets.Target(), "can be loaded", "yes"},
		{unnamed, "warning", "tokenizer: the target's file does not say which pre-tokenizer"},
		{unnamed, "tokenizer", "gpt2, pre-tokenizer not named"},
		{projector, "cannot be loaded", "it is a projector (mmproj)"},
	} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		sections, err := app.Describe(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		rows := sections[len(sections)-1].Rows
		for _, row := range rows {
			if row[0] == c.label {
				said = row[1]
			}
		}
		if last := rows[len(rows)-1][0]; !strings.HasSuffix(last, "be loaded") {
			t.Errorf("the last row is %q: the verdict must stay on the screen", last)
		}
		if !strings.Contains(said, c.says) {
			t.Errorf("%q is %q, want %q in it", c.label, said, c.says)
		}
	}
}

// The seed of a reply was drawn, and the clock decided how long the drafts were. Still, the command that an
// export shows under the reply writes the same text again.
func TestAnExportedReplyIsWrittenAgain(t *testing.T) {
	c := config.Default()
	if err := c.SetAll(config.Value{Name: "temperature", Text: "1"}, config.Value{Name: "max-tokens", Text: "80"}); err != nil {
		t.Fatal(err)
	}
	session, err := program().Open(t.Context(), c, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for range 3 {
		const prompt = "I have two dogs and I love to hike."
		s := state.New()
		for e := range session.Generate(t.Context(), engine.Request{Messages: []engine.Message{{Role: "user", Content: prompt}}, Inspect: true}) {
			s.Apply(e)
		}
		var chat chats.Chat
		for turn := range s.Turns() {
			saved := chats.Turn{Role: turn.Role, Text: turn.Raw}
			if r := turn.Record; r.Started != nil {
				saved.Record = &chats.Record{Started: *r.Started, Drafts: r.Drafts}
			}
			chat.Turns = append(chat.Turns, saved)
		}
		var markdown strings.Builder
		if err := export.Markdown(&markdown, chat); err != nil {
			t.Fatal(err)
		}
		_, command, _ := strings.Cut(markdown.String(), "    specula ")
		flags, _, found := strings.Cut(command, " -p '"+prompt+"'\n")
		if want := chat.Turns[1].Text; !found || answer(t, append(strings.Fields(flags), "-p", prompt)...) != want {
			t.Errorf("%s\ndid not write %q again", flags, want)
		}
	}
}

// answer runs the program and returns the text of its first reply.
func answer(t *testing.T, args ...string) string {
	t.Helper()
	p := program()
	var stdout, stderr bytes.Buffer
	recording := t.TempDir() + "/trace.jsonl"
	p.Terminal.Stdout, p.Terminal.Stderr, p.Terminal.ConfigHome = &stdout, &stderr, t.TempDir()
	p.Terminal.Getenv = func(string) string { return "" }
	if code := p.Run(t.Context(), append(args, "--trace", recording)); code != 0 {
		t.Fatalf("%q ended with %d: %s", args, code, stderr.String())
	}
	f, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range trace.Read(bytes.NewReader(f)) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.Event.(event.ReplyEnded); ok {
			return e.Text
		}
	}
	t.Fatal("no reply")
	return ""
}

// net/http writes to the standard log what a server sent without being asked.
func TestTheStandardLogStaysOffTheScreen(t *testing.T) {
	before := log.Writer()
	defer log.SetOutput(before)
	silenceLog()
	if w := log.Writer(); w != io.Discard {
		t.Errorf("the standard log writes to a %T, into the middle of the screen; want io.Discard", w)
	}
}
