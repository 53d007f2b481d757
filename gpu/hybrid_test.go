//go:build cuda && linux && cgo

package gpu_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model/modeltest"
)

// hybridEngine loads a tiny model with states, with the same model as its draft if asked for.
func hybridEngine(t *testing.T, b compute.Backend, name string, draft bool) *engine.Engine {
	t.Helper()
	source := engine.Source{Name: name, Embedded: modeltest.Unpack(t, "../engine/model/testdata/architectures/"+name+".gguf.gz")}
	o := engine.Options{Config: config.Default(), Backend: b, Now: time.Now, CalibrationTime: time.Millisecond, NewSeed: func() int64 { return 1 }, Target: source}
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
// of a draft model that has states itself, and of n-grams; also in later replies of a session, whose prompts go
// back in its caches.
func TestHybridsWriteTheSameWithDrafts(t *testing.T) {
	const replies = 3 // a pass of the emulator takes long
	b := open(t)
	for _, c := range []struct {
		name, proposer string
		draft          bool
	}{{"qwen35-mtp", "mtp", false}, {"qwen35", "draft", true}, {"lfm2", "ngram", false}} {
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
			for i := range replies {
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
