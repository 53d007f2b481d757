package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/config"
	"specula/engine/remote"
)

// A real llama-server speculates by itself. The sums over the watched rounds equal its own counters, and
// the text equals the one that it writes without speculation.
func TestWatchedRoundsAddUpToTheCountersOfARealServer(t *testing.T) {
	path := llamaServer()
	if _, err := exec.LookPath(path); err != nil {
		t.Skip("SKIPPED: there is no llama-server; make bench-peer builds one, and LLAMA_SERVER names one")
	}
	draft := filepath.Join(t.TempDir(), "draft.gguf")
	if err := os.WriteFile(draft, assets.Draft(), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := opened(t, "remote", startReal(t, path, "-np", "1"), "watch", "true", "temperature", "0", "max-tokens", "60")
	for name, flags := range map[string][]string{
		"draft model": {"-np", "1", "-md", draft, "--spec-type", "draft-simple", "--spec-draft-n-max", "4"},
		"n-gram":      {"-np", "1", "--spec-type", "ngram-simple", "--spec-ngram-simple-size-n", "2", "--spec-ngram-simple-size-m", "6"},
	} {
		url := startReal(t, path, flags...)
		watched := opened(t, "remote", url, "watch", "true", "temperature", "0", "max-tokens", "60")
		server, err := remote.Connect(t.Context(), remote.Options{URL: url, Limit: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		before, err := server.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var sum remote.Metrics
		tokens, merged := 0, 0
		for _, prompt := range slices.Concat(assets.Prompts()[:12], []string{"Write this list again: apples, oranges, pears, plums, apples, oranges, pears, plums.", "Write a line of 日本語 and → arrows ↑."}) {
			got, rounds := ended(t, watched, prompt)
			want, _ := ended(t, plain, prompt)
			if !slices.Equal(got.IDs, want.IDs) {
				t.Errorf("%s: %q: %q, without its speculation %q", name, prompt, got.Text, want.Text)
			}
			told := 0
			for _, r := range rounds {
				switch {
				case r.Server == nil || r.Path != "reported":
					t.Fatalf("%s: round %+v", name, r)
				case r.Server.Merged > 1: // a character's token ends a round, and has no piece of its own
					merged++
				case r.Server.Drafted != len(r.Draft):
					t.Errorf("%s: round %+v with %d draft tokens", name, r.Server, len(r.Draft))
				case r.Server.Drafted > 0:
					sum.Drafts++
				}
				sum.Drafted += float64(r.Server.Drafted)
				sum.Accepted += float64(r.Server.Kept)
				told += len(r.Committed())
			}
			if tokens += told; told != len(got.IDs) || got.Totals.Tokens != told {
				t.Errorf("%s: rounds have %d tokens, the reply %d, its totals %d", name, told, len(got.IDs), got.Totals.Tokens)
			}
		}
		after, err := server.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counted := after.Since(before)
		if merged == 0 && counted.Drafts != sum.Drafts || counted.Drafted != sum.Drafted || counted.Accepted != sum.Accepted || sum.Drafted == 0 {
			t.Errorf("%s: rounds add up to %+v, the server counted %+v", name, sum, counted)
		}
		if merged > 5 {
			t.Errorf("%s: %d rounds could not be told apart", name, merged)
		}
		t.Logf("%s: %d tokens, %v, %d merged", name, tokens, sum, merged)
	}
}

// A speculating server is compared with a plain one, and with itself when asked for one token per request.
func TestAuditOfARealServer(t *testing.T) {
	path := llamaServer()
	if _, err := exec.LookPath(path); err != nil {
		t.Skip("SKIPPED: there is no llama-server; make bench-peer builds one, and LLAMA_SERVER names one")
	}
	url := startReal(t, path, "-np", "1", "--spec-type", "ngram-simple", "--spec-ngram-simple-size-n", "2", "--spec-ngram-simple-size-m", "6")
	c := config.Default()
	c.Remote.URL, c.Sampling.MaxTokens = url, 30
	for _, other := range []string{"", startReal(t, path, "-np", "1")} {
		r, err := (&App{Now: time.Now}).Audit(t.Context(), AuditOptions{Config: c, Plain: other, Count: 6}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if r.WriteTable(&text) != nil || !r.Matched() || !strings.Contains(text.String(), "equal: ") || strings.Contains(text.String(), "speed-up") != (other != "") {
			t.Error(text.String())
		}
	}
	if _, err := (&App{Now: time.Now}).Audit(t.Context(), AuditOptions{Config: c, Plain: url, Count: 1}, nil); err == nil {
		t.Error("a plain side that speculates was accepted")
	}
}
