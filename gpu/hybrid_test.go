//go:build cuda && linux && cgo

package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model/modeltest"
	"specula/engine/proof"
)

// hybridEngine loads a tiny model with states, with the same model as its draft if asked for.
func hybridEngine(t *testing.T, b compute.Backend, name string, draft bool) *engine.Engine {
	t.Helper()
	source := engine.Source{Name: name, Embedded: modeltest.Unpack(t, "../engine/model/testdata/architectures/"+name+".gguf.gz")}
	o := engine.Options{Config: config.Default(), Backend: b, Now: time.Now, NewSeed: func() int64 { return 1 }, Target: source}
	if draft {
		o.Draft = source
	}
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func letters(rng *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('A' + rng.IntN(26))
	}
	return string(text)
}

// Greedy replies of models with states are those without speculation, with drafts of the head in their file,
// of a draft model that has states itself, and of what was written before; in later turns and after a prompt
// that goes back, too.
func TestHybridsWriteTheSameWithDrafts(t *testing.T) {
	b := open(t)
	for _, c := range []struct {
		name, proposer string
		draft          bool
	}{{"qwen35-mtp", "mtp", false}, {"qwen35", "model", true}, {"lfm2", "ngram", false}} {
		t.Run(c.name, func(t *testing.T) {
			e := hybridEngine(t, b, c.name, c.draft)
			settings := []string{"temperature", "0", "max-tokens", "16", "gamma-rule", "fixed", "gamma", "4"}
			var sessions [2]*engine.Session
			for i := range sessions {
				s, err := e.NewSession(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				set(t, s, append(settings, []string{"proposer", c.proposer, "speculate", "false"}[2*i:][:2]...)...)
				sessions[i] = s
			}
			rng := rand.New(rand.NewPCG(5, 1))
			drafted, accepted := 0, 0
			for i := range fewer(10) {
				prompt := letters(rng, 5+rng.IntN(20))
				if c.proposer == "ngram" {
					prompt += prompt
				}
				got, want := ask(t, sessions[0], prompt), ask(t, sessions[1], prompt)
				if got.failed != "" || !slices.Equal(got.ids, want.ids) {
					t.Errorf("reply %d: error %q, wrote %v, want %v", i, got.failed, got.ids, want.ids)
				}
				for _, round := range got.rounds {
					drafted, accepted = drafted+len(round.Draft), accepted+round.Accepted
					if round.Path != "greedy" {
						t.Errorf("reply %d, round %d: the path is %s: %s", i, round.Index, round.Path, round.PathWhy)
					}
				}
			}
			if t.Logf("%d tokens were drafted, %d kept", drafted, accepted); drafted == 0 {
				t.Error("nothing was drafted")
			}
		})
	}
}

// Sampled replies of models with states have the target's distribution on the device, too.
func TestSampledRepliesOfHybrids(t *testing.T) {
	b := open(t)
	for _, name := range []string{"qwen35-mtp", "granitehybrid"} {
		t.Run(name, func(t *testing.T) {
			s, err := hybridEngine(t, b, name, false).NewSession(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			set(t, s, "temperature", "1", "max-tokens", "10", "gamma-rule", "fixed", "gamma", "3", "suffix-trust", "0")
			r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: "SPECULATESPECULATE", Options: proof.Options{Seconds: 3600, Replies: fewer(5), Seed: 1, Now: time.Now}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			tested := 0
			for _, c := range r.Cases {
				if tested += c.Tested; c.Verdict == proof.Differs {
					t.Errorf("%s with rule %s: %s", c.Proposer, c.Rule, c.Why)
				}
			}
			if t.Log(fmt.Sprintf("%d combinations match, %d draft tokens on trial", r.Tested, tested)); !r.Matched() || tested == 0 {
				t.Errorf("matched %v, %d draft tokens on trial", r.Matched(), tested)
			}
		})
	}
}
