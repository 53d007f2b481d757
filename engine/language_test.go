package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/tokenizer/chat"
)

// patched returns the built-in target with bytes replaced: pairs of old and new bytes of equal length.
func patched(t testing.TB, replace ...string) []byte {
	t.Helper()
	file := slices.Clone(assets.Target())
	for pair := range slices.Chunk(replace, 2) {
		if len(pair[0]) != len(pair[1]) || bytes.Count(file, []byte(pair[0])) != 1 {
			t.Fatalf("cannot replace %q by %q: it is there %d times", pair[0], pair[1], bytes.Count(file, []byte(pair[0])))
		}
		file = bytes.Replace(file, []byte(pair[0]), []byte(pair[1]), 1)
	}
	return file
}

// Patches of the target's file.
var (
	unnamedPre = []string{"tokenizer.ggml.pre", "tokenizer.ggml.was"}
	noTemplate = []string{"tokenizer.chat_template", "tokenizer.was_a_template"[:23]}
	// In the vocabulary, byte 04 is a string of two bytes, Ą.
	noToken04 = []string{"\x02\x00\x00\x00\x00\x00\x00\x00\u0104", "\x02\x00\x00\x00\x00\x00\x00\x00~|"}
)

// badTemplate changes the beginning of the file's template so that no parser accepts it.
func badTemplate(t testing.TB) []string {
	t.Helper()
	file, err := weights.Parse("target", assets.Target())
	if err != nil {
		t.Fatal(err)
	}
	const bad = "{{ (((((1 }}"
	source := file.ChatTemplate()
	length := string(binary.LittleEndian.AppendUint64(nil, uint64(len(source))))
	return []string{length + source, length + bad + source[len(bad):]}
}

func TestWhatAFileDoesNotSayIsWarnedOf(t *testing.T) {
	backend := host.New(1)
	defer backend.Close()
	for _, c := range []struct {
		name    string
		replace []string
		about   []string
		parts   []string // of the warnings' texts
	}{
		{"as it is", nil, nil, nil},
		{"no template", noTemplate, []string{"template"}, []string{"a guess", "has no template", "<|im_start|>"}},
		{"a template that cannot be used", badTemplate(t), []string{"template"}, []string{"a guess", "cannot be used", "built-in ChatML"}},
		{"no pre-tokenizer", unnamedPre, []string{"tokenizer"}, []string{"target's file", "gpt-2 is assumed"}},
		{"neither", slices.Concat(noTemplate, unnamedPre), []string{"template", "tokenizer"}, []string{"has no template", "gpt-2 is assumed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(backend)
			o.Target.Embedded, o.Heads = patched(t, c.replace...), nil
			o.Draft = engine.Source{}
			var ready event.Ready
			if _, err := engine.Load(t.Context(), o, func(e event.Event) {
				if r, ok := e.(event.Ready); ok {
					ready = r
				}
			}); err != nil {
				t.Fatal(err)
			}
			var about []string
			var text strings.Builder
			for _, w := range ready.Warnings {
				about = append(about, w.About)
				text.WriteString(w.Text)
				if w.Do == "" {
					t.Errorf("%q does not say what to do", w.Text)
				}
			}
			if !slices.Equal(about, c.about) {
				t.Errorf("warnings are about %q, want %q", about, c.about)
			}
			for _, part := range c.parts {
				if !strings.Contains(text.String(), part) {
					t.Errorf("%q does not say %q", text.String(), part)
				}
			}
			// The header alone tells the same.
			file, err := weights.Parse("target", o.Target.Embedded)
			if err != nil {
				t.Fatal(err)
			}
			studied, err := engine.Study(file)
			if err != nil || studied.Template != ready.Template || !slices.Equal(studied.Warnings, ready.Warnings) {
				t.Errorf("the header tells %+v, %v", studied, err)
			}
		})
	}
}

// The draft's own tokenizer is used only if the vocabularies differ. Then its file should name its
// pre-tokenizer, too.
func TestADraftOfAnotherVocabularyIsWarnedOf(t *testing.T) {
	backend := host.New(1)
	defer backend.Close()
	for _, other := range []bool{false, true} {
		o := options(backend)
		o.Heads = nil
		o.Draft.Embedded = patched(t, unnamedPre...)
		if other {
			o.Draft.Embedded = patched(t, slices.Concat(unnamedPre, noToken04)...)
		}
		var ready event.Ready
		if _, err := engine.Load(t.Context(), o, func(e event.Event) {
			if r, ok := e.(event.Ready); ok {
				ready = r
			}
		}); err != nil {
			t.Fatal(err)
		}
		if ready.Warned("tokenizer") != other {
			t.Errorf("another vocabulary %v: warnings %+v", other, ready.Warnings)
		}
	}
}

// Bytes that have no token in the vocabulary are left out of what the model reads. The first reply
// for which this happens emits a Notice about it. Later replies emit none.
func TestLostBytesAreToldOnce(t *testing.T) {
	backend := host.New(1)
	defer backend.Close()
	o := options(backend)
	o.Target.Embedded, o.Heads, o.Draft = patched(t, noToken04...), nil, engine.Source{}
	var ready event.Ready
	e, err := engine.Load(t.Context(), o, func(e event.Event) {
		if r, ok := e.(event.Ready); ok {
			ready = r
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if ready.Unspelled != "0x04" || ready.Warnings != nil {
		t.Errorf("without a token are %q; warnings %+v", ready.Unspelled, ready.Warnings)
	}
	s := session(t, e, "max-tokens", "2", "temperature", "0", "proposer", "suffix")
	notices := func(messages []chat.Message) (texts []string) {
		for _, ev := range write(t, s, messages, nil).events {
			if n, ok := ev.(event.Notice); ok {
				texts = append(texts, n.Level+": "+n.Text)
			}
		}
		return texts
	}
	if got := notices(user("hello")); got != nil {
		t.Errorf("nothing is lost, but there is the notice %q", got)
	}
	got := notices(user("\x04he\x04llo"))
	if len(got) != 1 || !strings.HasPrefix(got[0], "warning: 2 bytes of the conversation") || !strings.Contains(got[0], "0x04") {
		t.Errorf("notices %q", got)
	}
	if got := notices(user("\x04hello")); got != nil {
		t.Errorf("a second time: %q", got)
	}
	change(t, s, "system", "be\x04brief")
	if got := notices(user("hello")); got != nil {
		t.Errorf("a third time: %q", got)
	}
}

// For a file that is no complete model, the error says what the file is, before anything is found missing and before
// the weights are read.
func TestLoadSaysWhatAFileIs(t *testing.T) {
	backend := host.New(1)
	defer backend.Close()
	for _, c := range []struct {
		file *gguf.Builder
		want string
	}{
		{(&gguf.Builder{}).Set("general.architecture", "clip").Set("general.type", "mmproj"), "it is a projector (mmproj)"},
		{(&gguf.Builder{}).Set("general.architecture", "gemma3").Set("tokenizer.ggml.model", "unheard"), `architecture "gemma3"`},
		{(&gguf.Builder{}).Set("general.architecture", "qwen3").Set("split.count", uint16(3)), "part 1 of 3"},
	} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := os.WriteFile(path, c.file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"target", "draft"} {
			o := options(backend)
			o.Heads = nil
			if what == "target" {
				o.Target = engine.Source{Path: path}
			} else {
				o.Draft = engine.Source{Path: path}
			}
			_, err := engine.Load(t.Context(), o, func(e event.Event) {
				if l, ok := e.(event.Loading); ok && l.What == what {
					t.Errorf("%d of %d bytes of a %s were read that cannot be loaded", l.DoneBytes, l.TotalBytes, what)
				}
			})
			if !errors.Is(err, engine.ErrModel) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		}
	}
}
