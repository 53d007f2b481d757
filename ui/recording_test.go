package ui

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"specula/engine/event"
	"specula/engine/trace"
)

func TestARecordingBeginsWithThePast(t *testing.T) {
	s := open(t, nil)
	s.ask("first")
	s.ask("/record talk.jsonl")
	s.mustShow("recording to talk.jsonl, with all since the start")
	s.m.flash, s.m.stale = "", true
	s.mustShow("recording  ")
	s.ask("second")
	s.ask("/record")
	s.mustShow("talk.jsonl")
	s.ask("third")
	data, err := os.ReadFile(filepath.Join(s.m.options.Folder, "talk.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var prompts []string
	for r, err := range trace.Read(bytes.NewReader(data)) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.Event.(event.ReplyStarted); ok {
			prompts = append(prompts, e.Prompt)
		}
	}
	if strings.Join(prompts, " ") != "first second" {
		t.Errorf("recorded %q", prompts)
	}
	s.ask("/record talk.jsonl")
	s.mustShow("recording: open")
	s.ask("/record off")
	s.mustShow("nothing is being recorded")
}

func TestEveryFormatCanBeExported(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	for _, name := range []string{"a.html", "a.cast", "a.v3.cast", "a.film.svg", "a.svg", "a.png", "a.jsonl", "a.md", "a.json", "a.rounds.json", "a.csv", "a.tokens.csv"} {
		s.ask("/export " + name)
		s.mustShow("exported to " + name)
		if info, err := os.Stat(filepath.Join(s.m.options.Folder, name)); err != nil || info.Size() < 100 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// One key writes a picture of the screen, whatever stands on it.
func TestAPictureTakesOneKey(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	for i, before := range []string{"", "f1", "esc", "tab"} {
		if before != "" {
			s.press(before)
		}
		s.press("ctrl+p")
		list, err := filepath.Glob(filepath.Join(s.m.options.Folder, "*.png"))
		if err != nil || len(list) != i+1 {
			t.Fatalf("after %q there are %v, %v", before, list, err)
		}
		f, err := os.Open(list[i])
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(f)
		if err != nil || picture.Bounds().Dx() != 2*(120*9+24) {
			t.Errorf("picture %d: %v", i, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
