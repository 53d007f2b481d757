package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// noon is when the expected texts in testdata/golden were made.
func noon() time.Time { return time.Date(2026, 9, 7, 13, 5, 9, 0, time.UTC) }

type golden struct {
	source, bos, eos string
	cases            []goldenCase
}

type goldenCase struct {
	Conversation        string
	AddGenerationPrompt bool
	Text                *string
	Error               string
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func conversations(t testing.TB) map[string][]Message {
	var all map[string][]Message
	readJSON(t, "testdata/golden/conversations.json", &all)
	return all
}

// goldens returns the templates in testdata/golden by name.
func goldens(t testing.TB) map[string]golden {
	paths, err := filepath.Glob("testdata/golden/*.jinja")
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d templates, want at least 15; %v", len(paths), err)
	}
	all := map[string]golden{}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			BOS, EOS string
			Cases    []goldenCase
		}
		readJSON(t, strings.TrimSuffix(path, ".jinja")+".json", &file)
		name := strings.TrimSuffix(filepath.Base(path), ".jinja")
		all[name] = golden{string(source), file.BOS, file.EOS, file.Cases}
	}
	return all
}

// Every template of testdata/golden, run from its source, writes what Hugging Face's renderer
// writes.
func TestFileTemplatesMatchHuggingFace(t *testing.T) {
	messages := conversations(t)
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			template, err := Choose(Options{Source: g.source, Prefer: "file", BOS: g.bos, EOS: g.eos, Now: noon})
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, template, g, messages)
		})
	}
}

func compareGolden(t *testing.T, template *Template, g golden, messages map[string][]Message) {
	t.Helper()
	for _, c := range g.cases {
		segments, err := template.Render(messages[c.Conversation], c.AddGenerationPrompt)
		switch {
		case c.Text == nil && err == nil:
			t.Errorf("%s: wrote %q; Hugging Face says %s", c.Conversation, plain(segments), c.Error)
		case c.Text != nil && err != nil:
			t.Errorf("%s: %v", c.Conversation, err)
		case c.Text != nil && plain(segments) != *c.Text:
			t.Errorf("%s\ngot  %q\nwant %q", c.Conversation, plain(segments), *c.Text)
		}
	}
}

// A built-in family is chosen exactly for the templates that it copies, and then writes the same
// text.
func TestAutoChoosesBuiltIn(t *testing.T) {
	messages := conversations(t)
	want := map[string]string{"chatml": "ChatML", "llama-3": "Llama-3", "mistral-7b-v0.2": "Mistral", "llama-2-chat": "Llama-2"}
	for name, g := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			template, err := Choose(Options{Source: g.source, BOS: g.bos, EOS: g.eos, Now: noon})
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := want[name]; ok {
				g = withoutDegenerate(g)
			}
			if family, ok := want[name]; ok != strings.HasPrefix(template.Name(), "built-in") || !strings.Contains(template.Name(), family) {
				t.Errorf("name %q, want family %q", template.Name(), family)
			}
			compareGolden(t, template, g, messages)
		})
	}
}

// Gemma 3 writes what Gemma 2 writes, and has a place for a system message, which Gemma 2 refuses.
func TestGemmaWritesAsItsTemplate(t *testing.T) {
	template, err := Choose(Options{Prefer: "gemma", BOS: "<bos>", EOS: "<eos>"})
	if err != nil {
		t.Fatal(err)
	}
	g := withoutDegenerate(goldens(t)["gemma-2"])
	g.cases = slices.DeleteFunc(g.cases, func(c goldenCase) bool { return c.Text == nil })
	if len(g.cases) < 5 {
		t.Fatalf("%d conversations; there should be at least 5", len(g.cases))
	}
	compareGolden(t, template, g, conversations(t))
	segments, err := template.Render([]Message{{"system", "Be brief."}, {"user", " Hi "}, {"assistant", "Hello"}, {"user", "Bye"}}, true)
	want := "<bos><start_of_turn>user\nBe brief.\n\nHi<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n" +
		"<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n"
	if err != nil || plain(segments) != want {
		t.Errorf("%v\n got %q\nwant %q", err, plain(segments), want)
	}
}

// withoutDegenerate drops the conversations without a question. There a built-in family differs on
// purpose: it refuses to drop a lone system message, and an empty Llama-3 prompt still begins a
// document.
func withoutDegenerate(g golden) golden {
	g.cases = slices.DeleteFunc(slices.Clone(g.cases), func(c goldenCase) bool {
		return c.Conversation == "no messages" || c.Conversation == "system only"
	})
	return g
}
