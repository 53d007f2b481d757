package assets_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"specula/assets"
	"specula/engine/exam"
)

func papers(t *testing.T) map[string]exam.Paper {
	t.Helper()
	read := map[string]exam.Paper{}
	for _, p := range assets.Exam() {
		paper, err := exam.Read(p.Name, p.Text)
		if err != nil {
			t.Fatal(err)
		}
		read[p.Name] = paper
	}
	return read
}

func TestExamHasItsQuestions(t *testing.T) {
	counted := map[int]bool{}
	conversations := map[string]string{}
	for name, p := range papers(t) {
		want := map[string]int{"program": 100, "general": 100, "copying": 20, "counting": 4}[name]
		if len(p.Questions) != want {
			t.Errorf("%s has %d questions, want %d", name, len(p.Questions), want)
		}
		for _, q := range p.Questions {
			var all []string
			for _, turn := range q.Turns {
				all = append(all, plain(turn.Content))
			}
			text := strings.Join(all, "|")
			if other, twice := conversations[text]; twice {
				t.Errorf("%s and %s ask the same: %s", q.ID, other, text)
			}
			conversations[text] = q.ID
			counted[q.Count] = true
			if words := len(strings.Fields(q.Copy)); words > 12 || name == "copying" && (words < 4 || !strings.HasSuffix(q.Asked(), q.Copy)) {
				t.Errorf("%s: the sentence must have 4 to 12 words and end the question: %q", q.ID, q.Copy)
			}
		}
	}
	if !counted[10] || !counted[20] {
		t.Errorf("questions ask to count to %v, want 10 and 20 among these", counted)
	}
}

// plain returns the words of a text in lower case, without punctuation. Texts that are equal then ask the same.
func plain(text string) string {
	text = strings.ToLower(strings.NewReplacer("'", "", "’", "").Replace(text))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// A model cannot be examined on what it was trained on. So the training text may hold no last line of
// a question and no sentence to copy.
func TestExamWasNotTrainedOn(t *testing.T) {
	trained := trainingLines(t)
	for name, p := range papers(t) {
		for _, q := range p.Questions {
			if where := trained[plain(q.Asked())]; where != "" {
				t.Errorf("%s, %s: %q stands in %s", name, q.ID, q.Asked(), where)
			}
			if where := trained[plain(q.Copy)]; q.Copy != "" && where != "" {
				t.Errorf("%s, %s: %q stands in %s", name, q.ID, q.Copy, where)
			}
		}
	}
}

func TestBenchmarkWasNotTrainedOn(t *testing.T) {
	trained := trainingLines(t)
	for _, prompt := range assets.Prompts() {
		if where := trained[plain(prompt)]; where != "" {
			t.Errorf("%q stands in %s", prompt, where)
		}
	}
	known := 0
	for _, prompt := range assets.TrainedPrompts() {
		if trained[plain(prompt)] != "" {
			known++
		}
	}
	if known < 25 {
		t.Errorf("only %d of the trained prompts stand in the training text", known)
	}
}

// trainingLines maps each line that a user or an assistant says in the training text, as plain returns it, to its file.
func trainingLines(t *testing.T) map[string]string {
	t.Helper()
	const dir = "training/text"
	lines := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			switch field, said, _ := strings.Cut(strings.TrimSpace(line), ":"); field {
			case "q", "a", "user", "assistant":
				lines[plain(said)] = path
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 1000 {
		t.Errorf("only %d lines were found in %s", len(lines), dir)
	}
	return lines
}
