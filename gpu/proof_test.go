//go:build cuda && linux && cgo

package gpu_test

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/proof"
	"specula/engine/weights/random"
)

// The proof that a user can ask for, on replies that the device draws and judges, with two small
// models. The emulator is slow, so most of what it can test is in TestLawOfSampledRounds.
// SPECULA_PROOF sets the number of replies, and uses the demo pair.
func TestProofOnTheDevice(t *testing.T) {
	replies, longer := 4, false
	if n, err := strconv.Atoi(os.Getenv("SPECULA_PROOF")); err == nil {
		replies, longer = n, true
	}
	target, draft := assets.Target(), assets.Draft()
	if !longer {
		target, draft = smallModel(t, 2), smallModel(t, 1)
	}
	e, err := engine.Load(t.Context(), engine.Options{
		Config: config.Default(), Backend: open(t), Now: time.Now, NewSeed: func() int64 { return 1 },
		Target: engine.Source{Name: "target", Embedded: target},
		Draft:  engine.Source{Name: "draft", Embedded: draft},
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	s := sampledSession(t, e)
	if err := s.Change("max-tokens", "24"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r, err := s.VerifyDist(t.Context(), engine.ProofOptions{
		Options: proof.Options{Seconds: 3600, Replies: replies, Seed: 1, Now: time.Now},
		Prompt:  "Tell me a story.", Proposers: []string{"draft"}, Rules: engine.RulesOnTrial("token"),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Cases[0]
	t.Logf("%s in %d replies of %d tokens, %d of %d drafted tokens accepted, p %.3f, would have noticed %.3f, %v", c.Verdict, c.Replies,
		c.Tokens, c.Accepted, c.Drafted, c.SmallestP, c.Notices, time.Since(began).Round(time.Second/10))
	if !r.Matched() || c.Drafted == 0 || c.Replies != replies {
		t.Errorf("matched %v: %+v", r.Matched(), r.Cases)
	}
}

// smallModel is a model of random weights. Another number of layers gives another model.
func smallModel(t *testing.T, layers int) []byte {
	shape := random.Shape{Name: "small", Layers: layers, Dim: 64, FFN: 64, Heads: 2, KVHeads: 1,
		HeadDim: 32, Vocab: 1024}
	var file bytes.Buffer
	if err := random.Write(t.Context(), &file, shape, compute.Q8_0); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}
