package ui

import (
	"cmp"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
)

// alt+o switches between two presets of settings: "watch", where the target rejects some draft
// tokens, and "fast".
func TestTheOtherOpening(t *testing.T) {
	s := open(t, nil)
	s.press("alt+o")
	if c := s.engine.Settings(); !c.OpensToWatch() {
		t.Errorf("%+v", c.Speculation)
	}
	s.mustShow("to watch: proposer eagle, gamma 3, gamma_rule fixed, temperature 0.9")
	s.ask("hello")
	s.press("alt+o")
	if c := s.engine.Settings(); c.OpensToWatch() || c.Speculation.Proposer != "auto" || c.Speculation.Rule != "cost-aware" {
		t.Errorf("%+v", c.Speculation)
	}
}

// A first reply of the embedded pair shows refusals and a speed-up, whatever its seed: the answer to the
// first question that tab offers has them in twenty cold starts.
func TestTheFirstReplyShowsRefusals(t *testing.T) {
	c := config.Default()
	if err := c.OpenToWatch(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	backend := host.New(0)
	defer backend.Close()
	var heads []engine.HeadSource
	for _, h := range assets.Heads() {
		heads = append(heads, engine.HeadSource(h))
	}
	for seed := range int64(20) {
		c.Sampling.Seed = seed
		e, err := engine.Load(t.Context(), engine.Options{
			Config: c, Backend: backend, Now: time.Now, NewSeed: func() int64 { return seed },
			Target: engine.Source{Name: "target", Embedded: assets.Target()}, Draft: engine.Source{Name: "draft", Embedded: assets.Draft()},
			Heads: heads,
		}, func(event.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.NewSession(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		refused, speedup := 0, 0.0
		for ev := range s.Generate(t.Context(), engine.Request{Messages: []engine.Message{{Role: "user", Content: "What is speculative decoding?"}}}) {
			if r, ok := ev.(event.Round); ok {
				refused += r.Tested - r.Accepted
				speedup = cmp.Or(r.Speedup, speedup) // as the screen does: it keeps the last one that was told
			}
		}
		if refused < 2 || speedup <= 0 {
			t.Errorf("seed %d: %d refused tokens, speed-up %g", seed, refused, speedup)
		}
		s.Close()
	}
}
