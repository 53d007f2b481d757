package model_test

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"specula/engine/model"
	"specula/engine/weights"
)

var recipe = flag.String("recipe", "", "folder with NAME-f32.gguf and NAME-reference.json (assets/training)")

// recipeCase is a prompt with the scores of a float32 forward pass by PyTorch, and what the head drafts
// after it (assets/training/hybridreference.py).
type recipeCase struct {
	Prompt  string      `json:"prompt"`
	IDs     []int32     `json:"ids"`
	Rows    [][]float64 `json:"rows"`
	Drafted []int32     `json:"drafted"`
	Guesses [][]float64 `json:"guesses"`
}

// Models that the recipe trained compute what PyTorch computes, and so do their heads. They are too
// large for the repository: the test takes those in the folder that -recipe names.
func TestModelsOfTheRecipeAgainstPyTorch(t *testing.T) {
	if *recipe == "" {
		t.Skip("-recipe names no folder of models: assets/training makes them, and what they are compared with")
	}
	files, err := filepath.Glob(filepath.Join(*recipe, "*-reference.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no NAME-reference.json in %q: %v", *recipe, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var reference struct {
			Every int          `json:"every"`
			Cases []recipeCase `json:"cases"`
		}
		if err := json.Unmarshal(data, &reference); err != nil || len(reference.Cases) == 0 {
			t.Fatalf("%s: no cases: %v", name, err)
		}
		file, err := weights.Open(t.Context(), name[:len(name)-len("-reference.json")]+"-f32.gguf", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			m := loadModel(t, newBackend(t, 1), file, model.Options{MaxTokens: 128, MaxRows: 128, PrefillRows: 128, Head: true})
			head, why, err := m.Head()
			if err != nil || head == nil {
				t.Fatalf("no head: %q, %v", why, err)
			}
			worst := 0.0
			for _, c := range reference.Cases {
				worst = max(worst, c.compareRows(t, m, reference.Every), c.compareGuesses(t, m, head, reference.Every))
			}
			t.Logf("largest difference of a score: %.2g", worst)
		})
	}
}

const recipeTolerance = 2e-3 // float32 in another order; scores are about ten

// compareRows compares the scores after every few tokens of the prompt; it returns the largest difference.
func (c *recipeCase) compareRows(t *testing.T, m *model.Model, every int) float64 {
	t.Helper()
	cache := newCache(t, m)
	defer func() { _ = cache.Close() }()
	logits, err := m.Forward(t.Context(), cache, c.IDs)
	if err != nil {
		t.Fatal(err)
	}
	worst, row := 0.0, make([]float32, logits.Vocab())
	for i, want := range c.Rows {
		if err := logits.Row(i*every, row); err != nil {
			t.Fatal(err)
		}
		worst = max(worst, scoreDifference(t, c.Prompt, row, want, every))
	}
	return worst
}

// compareGuesses compares the scores of a draft after the prompt.
func (c *recipeCase) compareGuesses(t *testing.T, m *model.Model, head *model.Head, every int) float64 {
	t.Helper()
	s := newGuesser(t, head)
	readBy(t, m, s, c.IDs)
	cache, err := s.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cache.Close() }()
	worst, unread := 0.0, c.IDs
	for i, want := range c.Guesses {
		logits, err := s.Prefill(t.Context(), cache, unread, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, logits.Vocab())
		if err := logits.Row(0, row); err != nil {
			t.Fatal(err)
		}
		worst = max(worst, scoreDifference(t, c.Prompt, row, want, every))
		unread = c.Drafted[i : i+1]
	}
	return worst
}

// scoreDifference is the largest difference between some scores of a row and those wanted.
func scoreDifference(t *testing.T, prompt string, row []float32, want []float64, every int) float64 {
	t.Helper()
	worst := 0.0
	for i, w := range want {
		diff := math.Abs(float64(row[i*every]) - w)
		if !(diff <= recipeTolerance) {
			t.Fatalf("%q: score %d is %v, want %v", prompt, i*every, row[i*every], w)
		}
		worst = max(worst, diff)
	}
	return worst
}
