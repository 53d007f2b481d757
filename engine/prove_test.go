package engine_test

import (
	"os"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/proof"
)

func TestVerifyDistTry(t *testing.T) {
	s := session(t, pair(), "temperature", "0")
	r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: "Tell me a story.", Options: proof.Options{Seconds: 8, Trials: 100_000, Seed: 1, Now: time.Now}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.WriteTable(os.Stdout)
}
