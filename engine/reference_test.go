package engine_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights/widen"
)

// nearTie is a lead of the best score over the second best. Below it, float32 arithmetic in another order
// may choose the second best.
const nearTie = 1e-3

// reference is the output of a separate float32 forward pass of the demo pair
// (assets/training/reference.py). The pair's Q8_0 weights were dequantised and then rounded to F16.
type reference struct {
	Cases []struct {
		Prompt string
		IDs    []int32
		Target struct {
			Greedy       []int32
			Top1MinusTop []float64 `json:"top1_minus_top2"`
		}
	}
}

func TestGreedyTextEqualsTheReference(t *testing.T) {
	data, err := os.ReadFile("../assets/reference/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var want reference
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	target, err := widen.ToF16(assets.Target())
	if err != nil {
		t.Fatal(err)
	}
	draft, err := widen.ToF16(assets.Draft())
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Load(t.Context(), engine.Options{
		Config:  config.Default(),
		Target:  engine.Source{Embedded: target, Name: "target F16"},
		Draft:   engine.Source{Embedded: draft, Name: "draft F16"},
		Backend: host.New(2), Now: time.Now, CalibrationTime: briefly,
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, e, "temperature", "0", "max-tokens", "48", "seed", "1", "gamma-rule", "fixed")
	compared := 0
	for _, c := range want.Cases {
		r := write(t, s, user(c.Prompt), nil)
		if r.failed != "" {
			t.Fatalf("%q: %s", c.Prompt, r.failed)
		}
		if r.started.PromptTokens != len(c.IDs) {
			t.Errorf("%q: %d prompt tokens, the reference has %d", c.Prompt, r.started.PromptTokens, len(c.IDs))
		}
		for i, id := range c.Target.Greedy {
			if i >= len(r.ended.IDs) || r.ended.IDs[i] != id {
				if c.Target.Top1MinusTop[i] >= nearTie {
					t.Errorf("%q: token %d of %v differs from the reference's %v", c.Prompt, i, r.ended.IDs, c.Target.Greedy)
				}
				break
			}
			compared++
		}
	}
	t.Logf("%d prompts, %d tokens equal", len(want.Cases), compared)
	if compared < 400 {
		t.Errorf("only %d tokens could be compared", compared)
	}
}
