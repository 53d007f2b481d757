package engine_test

import (
	"testing"
	"time"

	"specula/engine"
	"specula/engine/proof"
)

// A draft model with another vocabulary keeps the text exact: with drafts of common tokens, and with
// drafts whose text is tokenised again.
func TestATranslatedDraftIsFoundLossless(t *testing.T) {
	draft := strange(t, func(text string) bool { return len(text) > 6 })
	for _, way := range []string{"tokens", "text"} {
		s := session(t, translated(t, draft, way), "temperature", "0.7")
		r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: unsure()[0], Proposers: []string{"draft"},
			Options: proof.Options{Seconds: 600, Replies: 12, Seed: 1, Now: time.Now}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Matched() || r.Tested != 3 || r.Cases[0].Accepted == 0 {
			t.Errorf("%s: %+v", way, r.Cases)
		}
	}
}

// In a proof as in a reply, passes of the target feed the heads.
func TestHeadsAreFoundLossless(t *testing.T) {
	for name, kind := range kindsOfHeads(t, echo(t)) {
		s := session(t, withHeads(t, kind.path), "temperature", "1")
		r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: unsure()[0], Proposers: []string{kind.proposer},
			Options: proof.Options{Seconds: 600, Replies: 12, Seed: 1, Now: time.Now}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Matched() || r.Tested != 3 || r.Cases[0].Tested == 0 {
			t.Errorf("%s: %+v", name, r.Cases)
		}
	}
}

// A cascade that is written as a list is not in the register of proposers. It is on trial all the same if it is
// in force, and comes first, or if it is asked for.
func TestACascadeIsOnTrial(t *testing.T) {
	const cascade = "ngram,suffix"
	for _, tt := range []struct {
		name, inForce string
		asked         []string
		cases         int
	}{
		{"in force, with all others", cascade, nil, len(engine.Registered()) + 1},
		{"in force, by auto", cascade, []string{"auto"}, 1},
		{"asked for", "draft", []string{cascade}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := session(t, pair(), "temperature", "1", "max-tokens", "8", "proposer", tt.inForce)
			r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: unsure()[0], Proposers: tt.asked, Rules: engine.RulesOnTrial("token"),
				Options: proof.Options{Seconds: 600, Replies: 1, Seed: 1, Now: time.Now}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if first := r.Cases[0]; len(r.Cases) != tt.cases || first.Proposer != cascade || first.Replies != 1 {
				t.Errorf("%d cases, the first of them %+v; want %d, with one reply by %s first", len(r.Cases), first, tt.cases, cascade)
			}
		})
	}
}
