package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights/safetensors"
)

// headGuess is one draft step as computed by an independent float32 forward pass over the F16
// files; see assets/training.
type headGuess struct {
	Best   int32     `json:"best"`
	Margin float64   `json:"top1_minus_top2"`
	Logits []float64 `json:"logits"` // some of them, at equal distances
}

type headCase struct {
	IDs    []int32     `json:"ids"`
	Eagle  []headGuess `json:"eagle"`
	Medusa []headGuess `json:"medusa"`
}

func headCases(t *testing.T) []headCase {
	t.Helper()
	data, err := os.ReadFile("../../assets/reference/heads.json")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no heads are built in: assets/training makes them, and what they are compared with")
	}
	var file struct{ Cases []headCase }
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// guesser is the state of a head of any kind.
type guesser interface {
	Tap() *compute.Tap
	Keep(at, rows int, fresh bool) error
	NewCache() (compute.Cache, error)
	Prefill(ctx context.Context, cache compute.Cache, ids []int32, progress func(done, total int)) (compute.Logits, error)
}

// The built-in heads compute the same here as in PyTorch, after real passes of the target. This
// tests which hidden states they read, how states and tokens are paired, and how a draft continues
// from the head's own states.
func TestBuiltInHeadsAgainstPyTorch(t *testing.T) {
	cases := headCases(t)
	backend := newBackend(t, 1)
	target := openWide(t, backend, wideTarget, model.Options{MaxTokens: 256, MaxRows: 8, PrefillRows: 128})
	for name, guesses := range map[string]func(c headCase) []headGuess{
		"eagle": func(c headCase) []headGuess { return c.Eagle }, "medusa": func(c headCase) []headGuess { return c.Medusa },
	} {
		t.Run(name, func(t *testing.T) {
			file, err := safetensors.Open(t.Context(), "../../assets/pair/heads/"+name, nil)
			if err != nil {
				t.Fatal(err)
			}
			head, err := model.LoadHead(t.Context(), target, file)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i, c := range cases {
				compared += compareGuesses(t, i, target, head, c.IDs, guesses(c))
			}
			t.Logf("%d guesses equal", compared)
			if compared < 2*len(cases) {
				t.Errorf("only %d guesses after %d texts could be compared", compared, len(cases))
			}
		})
	}
}

// compareGuesses compares the draft steps after a text and counts the equal ones.
func compareGuesses(t *testing.T, number int, target *model.Model, head *model.Head, ids []int32, want []headGuess) (compared int) {
	t.Helper()
	const tolerance, nearTie = 1e-2, 1e-2
	s := newGuesser(t, head)
	readBy(t, target, s, ids)
	cache, err := s.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	unread := ids
	for step, w := range want {
		logits, err := s.Prefill(t.Context(), cache, unread, nil)
		if err != nil {
			t.Fatalf("text %d, step %d: %v", number, step, err)
		}
		row, best := make([]float32, logits.Vocab()), make([]int32, 1)
		if err := errors.Join(logits.Row(0, row), logits.Argmax(best)); err != nil {
			t.Fatal(err)
		}
		for i, x := range w.Logits {
			if got := float64(row[i*len(row)/len(w.Logits)]); !(math.Abs(got-x) <= tolerance*max(1, math.Abs(x))) {
				t.Fatalf("text %d, step %d: score %d is %g, PyTorch has %g", number, step, i, got, x)
			}
		}
		if best[0] != w.Best {
			if w.Margin > nearTie {
				t.Errorf("text %d, step %d: best is %d, PyTorch has %d", number, step, best[0], w.Best)
			}
			return compared
		}
		compared++
		unread = best
	}
	return compared
}

func newGuesser(t *testing.T, head *model.Head) (s guesser) {
	t.Helper()
	var err error
	if head.Layer != nil {
		s, err = head.Layer.NewState()
	} else {
		s, err = head.Medusa.NewState()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readBy lets the target read a text except its last token, and s keep the hidden states.
func readBy(t *testing.T, target *model.Model, s guesser, ids []int32) {
	t.Helper()
	target.Attach(s.Tap())
	defer target.Attach(nil)
	cache := newCache(t, target)
	if _, err := target.Prefill(t.Context(), cache, ids[:len(ids)-1], nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Keep(0, len(ids)-1, true), cache.Close()); err != nil {
		t.Fatal(err)
	}
}
