//go:build cuda && linux && cgo

package gpu_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A form of the reply costs no row: masks go to the device, and it judges the draft there, also under guidance and
// with penalties. Text and inspection are those of a host that judges whole rows.
func TestFormedRoundsAreOneWait(t *testing.T) {
	e := demo(t, open(t))
	const schema = `{"type":"object","properties":{"name":{"type":"string","maxLength":12},"age":{"type":"integer"}},"required":["name","age"]}`
	for _, c := range []struct {
		name, proposer string
		settings       []string
		path           string
		rowBytes       int64
	}{
		{"greedy, n-grams", "ngram", []string{"temperature", "0"}, "greedy", 4},
		{"greedy, a draft model", "draft", []string{"temperature", "0"}, "greedy", 4},
		{"greedy, guided and penalised", "ngram", []string{"temperature", "0", "guidance", "1.5", "repeat-penalty", "1.2"}, "greedy", 4},
		{"sampled, a draft model", "draft", []string{"temperature", "0.8"}, "stochastic", 8},
		{"sampled, a draft model, guided", "draft", []string{"temperature", "1.2", "guidance", "1.5", "repeat-penalty", "1.2", "ban", `["7"]`}, "stochastic", 8},
		{"sampled, n-grams", "ngram", []string{"temperature", "0.8"}, "stochastic", 8},
		{"sampled, guided", "suffix", []string{"temperature", "0.8", "guidance", "1.5"}, "stochastic", 8},
		{"sampled, bad words", "ngram", []string{"temperature", "0.8", "bad-word", `["Ann"]`, "ban", `["7"]`}, "stochastic", 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sampledSession(t, e, append([]string{"max-tokens", "24", "schema", schema, "proposer", c.proposer}, c.settings...)...)
			const prompt = `say {"name":"Ann","age":7} and {"name":"Ann","age":7}`
			r := ask(t, s, prompt)
			drafted := 0
			for _, round := range r.rounds {
				if most := c.rowBytes * int64(round.Gamma+1); round.Path != c.path || round.Syncs != 1 || round.BytesMoved > most ||
					!strings.Contains(round.PathWhy, "the device changes the scores by") || !strings.Contains(round.PathWhy, "JSON schema") {
					t.Errorf("round %d: %s (%s), %d waits and %d bytes; want %s, 1 and at most %d", round.Index, round.Path,
						round.PathWhy, round.Syncs, round.BytesMoved, c.path, most)
				}
				drafted += len(round.Draft)
			}
			if r.failed != "" || drafted == 0 || !json.Valid([]byte(r.text)) {
				t.Errorf("%q with %d draft tokens, %s", r.text, drafted, r.failed)
			}
			seen := inspect(t, s, prompt)
			if seen.text != r.text {
				t.Errorf("%q, inspected %q", r.text, seen.text)
			}
			for _, round := range seen.rounds {
				for _, rule := range round.Rules {
					if c.path == "stochastic" && rule.Rule == "token" && rule.Accepted != round.Accepted {
						t.Errorf("round %d kept %d, and by the host's distributions %d", round.Index, round.Accepted, rule.Accepted)
					}
				}
			}
			if set(t, s, wholeRows...); c.path == "greedy" {
				if by := ask(t, s, prompt); by.text != r.text || by.rounds[0].Path != "fallback" {
					t.Errorf("%q, on the path %s %q", r.text, by.rounds[0].Path, by.text)
				}
			}
		})
	}
}

// Where nothing may be written, a device's reply ends with the error of the host. Where only the end may be
// written, and another setting forbids it, the reply ends, as on the host.
func TestRowsOfWhichNothingIsAllowed(t *testing.T) {
	e := demo(t, open(t))
	for _, c := range [][2]string{{"0", "ngram"}, {"0.8", "ngram"}, {"0", "draft"}, {"0.8", "draft"}} {
		temperature := c[0]
		s := sampledSession(t, e, "temperature", temperature, "proposer", c[1], "max-tokens", "8", "regex", "yes|no", "min-tokens", "5")
		r := ask(t, s, "hello")
		if r.failed != "" || r.text != "yes" && r.text != "no" {
			t.Errorf("temperature %s: %q %s", temperature, r.text, r.failed)
		}
		set(t, s, "min-tokens", "0", "bad-word", `["y","n"]`)
		r = ask(t, s, "hello")
		if want := fmt.Sprintf("all are forbidden by %s and %s", "bad words", "regular expression"); !strings.Contains(r.failed, want) {
			t.Errorf("temperature %s: %q %q, want %q", temperature, r.text, r.failed, want)
		}
	}
}
