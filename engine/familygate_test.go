package engine_test

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/proof"
)

var (
	gateFamilies = flag.String("gate-families", "deepseek2,gemma4-shared,granitehybrid,lfm2,qwen35moe-mtp,qwen3moe",
		"tiny models whose sampled replies are judged, without .gguf.gz; all: every one")
	gateReplies = flag.Int("gate-replies", 6, "how many replies each proposer writes with each rule at most")
)

// judged are the files of the models whose sampled replies are judged.
func judged(t *testing.T) []string {
	t.Helper()
	all := families(t, "model/testdata/architectures/*.gguf.gz")
	if *gateFamilies == "all" {
		return all
	}
	var some []string
	for name := range strings.SplitSeq(*gateFamilies, ",") {
		at := slices.IndexFunc(all, func(path string) bool { return filepath.Base(path) == name+".gguf.gz" })
		if at < 0 {
			t.Fatalf("there is no tiny model %s", name)
		}
		some = append(some, all[at])
	}
	return some
}

// Whole sampled replies have the target's distribution with each proposer and each exact rule, whatever the layers
// are: recurrent, with compressed keys, with the keys of other layers, or mixtures.
func TestSampledRepliesOfFamilies(t *testing.T) {
	for _, path := range judged(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".gguf.gz"), func(t *testing.T) {
			e := family(t, path)
			for _, temperature := range []string{"0.7", "1"} {
				s := session(t, e, "temperature", temperature, "max-tokens", "24", "gamma-rule", "fixed", "gamma", "4", "suffix-trust", "0")
				prompt := strings.Repeat("SPECULATE", min(3, s.Ready().Target.ContextLength/32)) // leaves room for the reply
				r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: prompt,
					Options: proof.Options{Seconds: 3600, Replies: *gateReplies, Seed: 1, Now: time.Now}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				tokens, tested := map[string]int{}, map[string]int{}
				for _, c := range r.Cases {
					if c.Tested > 0 {
						tokens[c.Proposer], tested[c.Proposer] = tokens[c.Proposer]+c.Tokens, tested[c.Proposer]+c.Tested
					}
					if c.Verdict == proof.Differs {
						t.Errorf("temperature %s, %s with rule %s: %s", temperature, c.Proposer, c.Rule, c.Why)
					}
				}
				if !r.Matched() || len(tested) == 0 {
					t.Errorf("temperature %s: matched %v, draft tokens on trial: %v", temperature, r.Matched(), tested)
				}
				t.Logf("temperature %s: %d combinations match; tokens %v, draft tokens on trial %v", temperature, r.Tested, tokens, tested)
			}
		})
	}
}
