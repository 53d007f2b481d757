//go:build cuda && linux && cgo

package gpu_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights/widen"
	"specula/gpu/driver/emulated"
	"specula/tokenizer/chat"
)

// demo loads the demo pair onto a backend.
func demo(t *testing.T, b compute.Backend) *engine.Engine {
	t.Helper()
	e, err := engine.Load(t.Context(), engine.Options{
		Config: config.Default(), Backend: b, Now: time.Now, NewSeed: func() int64 { return 1 },
		Target: engine.Source{Name: "demo target", Embedded: assets.Target()},
		Draft:  engine.Source{Name: "demo draft", Embedded: assets.Draft()},
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// reply is what a session wrote, and its rounds.
type reply struct {
	ids    []int32
	text   string
	reason string
	failed string
	device bool // failed with an error of the device
	rounds []event.Round

	notices []string
}

func ask(t *testing.T, s *engine.Session, prompt string) reply {
	t.Helper()
	return write(t, s, engine.Request{Messages: []chat.Message{{Role: "user", Content: prompt}}})
}

func inspect(t *testing.T, s *engine.Session, prompt string) reply {
	t.Helper()
	return write(t, s, engine.Request{Messages: []chat.Message{{Role: "user", Content: prompt}}, Inspect: true})
}

func write(t *testing.T, s *engine.Session, request engine.Request) (r reply) {
	t.Helper()
	for e := range s.Generate(t.Context(), request) {
		switch e := e.(type) {
		case event.Round:
			r.rounds = append(r.rounds, e)
		case event.Failed:
			r.failed, r.device = e.Error, e.Device
		case event.Notice:
			r.notices = append(r.notices, e.Text)
		case event.ReplyEnded:
			r.ids, r.text, r.reason = e.IDs, e.Text, e.Reason
		}
	}
	return r
}

func set(t *testing.T, s *engine.Session, settings ...string) {
	t.Helper()
	for i := 0; i < len(settings); i += 2 {
		if err := s.Change(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
}

// The text is the same with and without speculation. A round at temperature 0 has one wait and
// moves four bytes per row.
func TestChatOnTheDevice(t *testing.T) {
	s, err := demo(t, open(t)).NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	set(t, s, "temperature", "0", "max-tokens", "20", "gamma-rule", "fixed", "gamma", "3")
	drafted := ask(t, s, "who are you?")
	set(t, s, "speculate", "false")
	plain := ask(t, s, "who are you?")
	if drafted.failed != "" || !slices.Equal(drafted.ids, plain.ids) || len(plain.ids) < 8 {
		t.Errorf("with speculation %q %v, without %q", drafted.text, drafted.failed, plain.text)
	}
	onProcessor, err := demo(t, host.New(1)).NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer onProcessor.Close()
	set(t, onProcessor, "temperature", "0", "max-tokens", "20")
	if same := ask(t, onProcessor, "who are you?"); !slices.Equal(same.ids, plain.ids) {
		t.Errorf("on the device %q, on the processor %q", plain.text, same.text)
	}
	t.Logf("%q in %d rounds instead of %d", drafted.text, len(drafted.rounds), len(plain.rounds))
	for _, r := range slices.Concat(drafted.rounds, plain.rounds) {
		// A draft that ends the reply is shown without its end; Gamma still counts all of it.
		if want := int64(4 * (r.Gamma + 1)); r.Path != "greedy" || r.Syncs != 1 || r.BytesMoved != want {
			t.Errorf("round %d of %d draft tokens by the path %s moved %d bytes with %d waits, want %d with 1", r.Index, r.Gamma, r.Path, r.BytesMoved, r.Syncs, want)
		}
	}
}

// nearTie is a lead of the best score over the second. Below it, another order of summation may
// pick the other token.
const nearTie = 1e-3

// The demo pair in F16 writes what an independent float32 implementation wrote. See
// assets/reference.
func TestGreedyTextEqualsTheReference(t *testing.T) {
	data, err := os.ReadFile("../assets/reference/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Cases []struct {
			Prompt string
			Target struct {
				Greedy       []int32
				Top1MinusTop []float64 `json:"top1_minus_top2"`
			}
		}
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	b := open(t)
	prompts, tokens := 1, 12
	if os.Getenv("SPECULA_ALL_PROMPTS") != "" || !emulated.Emulated() {
		prompts, tokens = len(want.Cases), 48
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
		Config: config.Default(), Backend: b, Now: time.Now, NewSeed: func() int64 { return 1 },
		Target: engine.Source{Embedded: target, Name: "target F16"},
		Draft:  engine.Source{Embedded: draft, Name: "draft F16"},
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	set(t, s, "temperature", "0", "max-tokens", fmt.Sprint(tokens), "gamma-rule", "fixed", "gamma", "4")
	compared := 0
	for _, c := range want.Cases[:prompts] {
		got := ask(t, s, c.Prompt)
		if got.failed != "" {
			t.Fatalf("%q: %s", c.Prompt, got.failed)
		}
		for i, id := range c.Target.Greedy[:min(tokens, len(c.Target.Greedy))] {
			if i >= len(got.ids) || got.ids[i] != id {
				if c.Target.Top1MinusTop[i] >= nearTie {
					t.Errorf("%q: token %d of %v differs from the reference's %v", c.Prompt, i, got.ids,
						c.Target.Greedy)
				}
				break
			}
			compared++
		}
	}
	t.Logf("%d prompts, %d tokens equal", prompts, compared)
	if compared < prompts*8 {
		t.Errorf("only %d tokens could be compared", compared)
	}
}
