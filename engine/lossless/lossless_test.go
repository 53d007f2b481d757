// Package lossless_test tests the loop that writes replies: over models that are tables, whose
// distributions are known exactly, and over the built-in pair, with the proof that "specula
// verify-dist" shows. Bugs are planted to check that they are noticed. These are the longest tests
// of the engine, so they have a package of their own.
package lossless_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model/modeltest"
	"specula/engine/proof"
	"specula/engine/spec"
)

// openSession opens a session on the built-in pair. settings are names and values in turn.
func openSession(t *testing.T, settings ...string) *engine.Session {
	t.Helper()
	backend := &timed{Backend: host.New(1)}
	t.Cleanup(func() { _ = backend.Backend.Close() })
	return openSessionOn(t, engine.Source{Name: "target", Embedded: assets.Target()}, backend, func() time.Time { return backend.now }, settings...)
}

// openSessionOn opens a session on another target, with the built-in draft model and heads.
func openSessionOn(t *testing.T, target engine.Source, backend compute.Backend, now func() time.Time, settings ...string) *engine.Session {
	t.Helper()
	var heads []engine.HeadSource
	for _, h := range assets.Heads() {
		heads = append(heads, engine.HeadSource(h))
	}
	e, err := engine.Load(t.Context(), engine.Options{
		Config:  config.Default(),
		Target:  target,
		Draft:   engine.Source{Name: "draft", Embedded: assets.Draft()},
		Heads:   heads,
		Backend: backend, Now: now, NewSeed: func() int64 { return 42 },
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

// prove lets each case write so many replies, whatever time this takes. The replies are the same in each run.
func prove(t *testing.T, replies int, o engine.ProofOptions, settings ...string) *proof.Report {
	t.Helper()
	o.Prompt = "I have two dogs and I love to hike." // the training texts have no fixed answer to this
	return proveBy(t, openSession(t, settings...), replies, o)
}

func proveBy(t *testing.T, s *engine.Session, replies int, o engine.ProofOptions) *proof.Report {
	t.Helper()
	o.Options = proof.Options{Seconds: 600, Replies: replies, Seed: *firstSeed << 32, Now: time.Now}
	r, err := s.VerifyDist(t.Context(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pair is a case of TestPair.
type pair struct {
	name     string
	o        engine.ProofOptions
	replies  int
	settings []string
}

func pairs() []pair {
	return []pair{
		{"draft", engine.ProofOptions{Proposers: []string{"draft"}, Rules: []spec.Rule{spec.Token}}, 100, []string{"temperature", "0.8", "gamma-rule", "fixed"}},
		{"filtered", engine.ProofOptions{Proposers: []string{"draft", "skip", "suffix"}, Rules: []spec.Rule{spec.Token}}, 30,
			[]string{"temperature", "1.2", "top-k", "50", "top-p", "0.95", "min-p", "0.01"}},
		{"heads", engine.ProofOptions{Proposers: []string{"eagle", "medusa"}, Rules: []spec.Rule{spec.Token}}, 30, []string{"temperature", "1"}},
		{"guided", engine.ProofOptions{Proposers: []string{"draft"}, Rules: []spec.Rule{spec.Block}}, 100,
			[]string{"temperature", "1", "guidance", "3", "negative", "You are rude.", "gamma-rule", "fixed"}},
		{"shaped", engine.ProofOptions{Proposers: []string{"combined"}, Rules: []spec.Rule{spec.Token}}, 40,
			[]string{"temperature", "0.8", "repeat-penalty", "1.2", "dry-multiplier", "0.8", "min-tokens", "20", "logit-bias", list(" I=1"),
				"bad-word", list("dog"), "system", "You are kind."}},
		{"greedy", engine.ProofOptions{}, 4, []string{"temperature", "0"}},
	}
}

// TestPair proves the built-in pair lossless. It covers what tables do not have: caches that
// matter, heads, and settings that shape and guide real text.
func TestPair(t *testing.T) {
	for _, c := range pairs() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := prove(t, c.replies, c.o, append(c.settings, "max-tokens", "48")...)
			var b strings.Builder
			if err := r.WriteTable(&b); err != nil {
				t.Fatal(err)
			}
			if !r.Matched() {
				t.Error("not found lossless")
			}
			t.Log(b.String())
		})
	}
}

// TestHeadInTheFile proves targets lossless that have a head of MTP in their file: tiny models with
// random weights, with recurrent layers, with experts, and with both.
func TestHeadInTheFile(t *testing.T) {
	for _, name := range []string{"qwen35-mtp", "qwen35moe-mtp", "glm4moe-mtp"} {
		for _, temperature := range []string{"0.7", "1"} {
			t.Run(name+" at "+temperature, func(t *testing.T) {
				t.Parallel()
				target := engine.Source{Name: name, Embedded: modeltest.Unpack(t, "../model/testdata/architectures/"+name+".gguf.gz")}
				backend := host.New(1)
				t.Cleanup(func() { _ = backend.Close() })
				s := openSessionOn(t, target, backend, time.Now, "temperature", temperature, "max-tokens", "20", "gamma-rule", "fixed", "gamma", "3")
				r := proveBy(t, s, 50, engine.ProofOptions{Prompt: "ABCABC", Proposers: []string{"mtp"}})
				if !r.Matched() || r.Tested == 0 {
					t.Errorf("%d tested: %+v", r.Tested, r.Cases)
				}
			})
		}
	}
}

// Every proposer is proven at a temperature above 0, and every rule, too.
func TestEveryProposerAndRuleIsProven(t *testing.T) {
	proven := map[string]bool{"token": true}
	for _, p := range plays() {
		if !slices.Contains(p.settings, "temperature") || p.settings[slices.Index(p.settings, "temperature")+1] != "0" {
			for _, value := range p.settings {
				proven[value] = true
			}
		}
	}
	for _, p := range pairs() {
		for _, name := range p.o.Proposers {
			proven[name] = true
		}
	}
	setting, _ := config.Lookup("speculation.proposer")
	proven["mtp"] = true                       // TestHeadInTheFile
	for _, name := range setting.Choices[1:] { // after auto
		if !proven[name] {
			t.Errorf("the proposer %s: add it to plays or pairs", name)
		}
	}
	for _, rule := range spec.Rules {
		if !rule.Changes && !proven[string(rule.Rule)] {
			t.Errorf("the rule %s: add it to plays", rule.Rule)
		}
	}
}

func TestALossyRuleSaysSo(t *testing.T) {
	t.Parallel()
	r := prove(t, 80, engine.ProofOptions{Proposers: []string{"draft"}, Rules: engine.RulesOnTrial("typical-lossy")}, "temperature", "1", "gamma-rule", "fixed")
	if c := r.Cases[0]; c.Verdict != proof.Changed || c.SmallestP > 1e-6 || !r.Matched() || r.Lossless {
		t.Errorf("typical acceptance is %+v", c)
	}
}

// A proof names the settings in force.
func TestAProofNamesTheSettingsInForce(t *testing.T) {
	t.Parallel()
	r := prove(t, 2, engine.ProofOptions{Proposers: []string{"ngram"}}, "temperature", "0.8", "repeat-penalty", "1.2", "min-tokens", "5", "seed", "7")
	want := []string{"sampling.temperature = 0.8", "sampling.min_tokens = 5", "penalties.repeat = 1.2"}
	if !slices.Equal(r.Settings, want) {
		t.Errorf("settings %q, want %q", r.Settings, want)
	}
}
