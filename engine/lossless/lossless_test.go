// Package lossless_test puts the engine on trial by its own proof, "specula verify-dist": every exact rule with every proposer has to be found
// lossless, and what is not has to be found out. These are the longest tests of the engine, and so they are a package of their own.
package lossless_test

import (
	"slices"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/proof"
)

// opened opens a session on the pair inside the program with settings, given as name and value in turn.
func opened(t *testing.T, settings ...string) *engine.Session {
	t.Helper()
	backend := host.New(2)
	t.Cleanup(func() { _ = backend.Close() })
	var heads []engine.HeadSource
	for _, h := range assets.Heads() {
		heads = append(heads, engine.HeadSource(h))
	}
	e, err := engine.Load(t.Context(), engine.Options{
		Config:  config.Default(),
		Target:  engine.Source{Name: "target", Embedded: assets.Target()},
		Draft:   engine.Source{Name: "draft", Embedded: assets.Draft()},
		Heads:   heads,
		Backend: backend, Now: time.Now, NewSeed: func() int64 { return 42 },
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for setting := range slices.Chunk(settings, 2) {
		if err := s.Change(setting[0], setting[1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// prove compares so many trials of each case, whatever time it takes: the same ones on every run. Nothing in the pair's training has one answer to
// the prompt, so there is a distribution to be told from others.
func prove(t *testing.T, trials int, o engine.ProofOptions, settings ...string) *proof.Report {
	t.Helper()
	o.Prompt = "I have two dogs and I love to hike."
	o.Options = proof.Options{Seconds: 600, Trials: trials, Seed: 1, Now: time.Now}
	r, err := opened(t, settings...).VerifyDist(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryExactRuleIsFoundLossless(t *testing.T) {
	for _, settings := range [][]string{
		{"temperature", "0.7"},
		{"temperature", "1.2", "top-k", "50", "top-p", "0.95", "min-p", "0.01"},
		{"temperature", "0"},
	} {
		r := prove(t, 600, engine.ProofOptions{}, settings...)
		if !r.Matched() || r.Tested < 6 {
			t.Errorf("%v: lossless %v of %d cases: %+v", settings, r.Matched(), r.Tested, r.Cases)
		}
		for _, c := range r.Cases {
			if settings[1] != "0" && c.Verdict == proof.Same && (c.Notices <= 0 || c.Notices > 0.5 || c.Trials != 600) {
				t.Errorf("%v: %s with %s in %d trials would have noticed %g", settings, c.Proposer, c.Rule, c.Trials, c.Notices)
			}
		}
	}
}

func TestAProofNamesWhatItLeavesOut(t *testing.T) {
	r := prove(t, 100, engine.ProofOptions{Proposers: []string{"ngram"}}, "temperature", "0.7", "repeat-penalty", "1.2", "min-tokens", "5")
	if want := []string{"sampling.min_tokens", "penalties.repeat"}; !slices.Equal(r.LeftOut, want) {
		t.Errorf("left out %q, want %q", r.LeftOut, want)
	}
}

func TestALossyRuleSaysSo(t *testing.T) {
	r := prove(t, 1000, engine.ProofOptions{Proposers: []string{"draft"}, Rules: engine.RulesOnTrial("typical-lossy")}, "temperature", "0.7")
	if c := r.Cases[0]; c.Verdict != proof.Changed || c.PearsonP > 1e-6 || !r.Matched() {
		t.Errorf("typical acceptance is %+v", c)
	}
}
