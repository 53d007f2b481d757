package engine_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
)

// everyFeature has settings for the features that change scores. Each forces the path fallback.
func everyFeature() map[string][]string {
	return map[string][]string{
		"penalties":      {"repeat-penalty", "1.3", "frequency-penalty", "0.4", "presence-penalty", "0.3"},
		"DRY":            {"dry-multiplier", "2", "dry-allowed", "1"},
		"logit bias":     {"logit-bias", `[" I=3",".=-2"]`},
		"banned tokens":  {"ban", `[" I"," you",","]`},
		"allowed tokens": {"allow", `[" I"," you",","," a"," the","."," can"," help"]`},
		"bad words":      {"bad-word", `["help","you "," a "]`},
		"min tokens":     {"min-tokens", "60"},
	}
}

// The text is the same with and without drafts: at temperature 0, and with a seed under the rule exact.
func TestShapedTextIsThatOfPlainRounds(t *testing.T) {
	features := everyFeature()
	var all []string
	for _, name := range []string{"penalties", "DRY", "logit bias", "bad words", "min tokens"} {
		all = append(all, features[name]...)
	}
	features["together"] = all
	for name, settings := range features {
		for _, base := range [][]string{
			{"temperature", "0", "acceptance", "token"},
			{"temperature", "0.9", "seed", "5", "acceptance", "exact", "temperature-last", "on", "top-p", "0.95"},
		} {
			base := append(slices.Clone(base), "max-tokens", "60", "gamma-rule", "fixed", "gamma", "5")
			plain := write(t, session(t, pair(), slices.Concat(base, settings, []string{"speculate", "off"})...), user("How are you? you you you"), nil)
			for _, proposer := range []string{"draft", "ngram"} {
				got := write(t, session(t, pair(), slices.Concat(base, settings, []string{"proposer", proposer})...), user("How are you? you you you"), nil)
				if got.failed != "" || plain.failed != "" || !slices.Equal(got.ended.IDs, plain.ended.IDs) {
					t.Errorf("%s, %v, %s: %q %s; without drafts %q %s", name, base, proposer, got.ended.Text, got.failed, plain.ended.Text, plain.failed)
				}
				for _, round := range got.rounds {
					if round.Path != "fallback" || name != "together" && (!slices.Equal(round.Shaped, []string{name}) || !strings.Contains(round.PathWhy, name)) {
						t.Fatalf("%s: a round on the path %s, %s, shaped by %v", name, round.Path, round.PathWhy, round.Shaped)
					}
				}
			}
		}
	}
}

// A change in mid-reply holds from the next round on, and a penalty also counts the tokens from before it. When the
// change is taken back, the next reply is as if it had never been made.
func TestShapingChangesInMidReply(t *testing.T) {
	base := []string{"temperature", "0", "max-tokens", "40", "gamma-rule", "fixed", "gamma", "3"}
	s := session(t, pair(), base...)
	var before []int32
	r := write(t, s, user("What is speculative decoding?"), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok && round.Index == 2 {
			change(t, s, "presence-penalty", "6", "penalty-last", "-1", "ban", ",")
		}
		if round, ok := ev.(event.Round); ok && round.Index <= 2 {
			for _, token := range round.Committed() {
				before = append(before, token.ID)
			}
		}
	})
	if r.rounds[2].Path != "greedy" || r.rounds[3].Path != "fallback" {
		t.Fatalf("paths %s and %s, want greedy and fallback", r.rounds[2].Path, r.rounds[3].Path)
	}
	seen := map[int32]bool{}
	for _, id := range before {
		seen[id] = true
	}
	again := 0
	for _, id := range r.ended.IDs[len(before):] {
		if seen[id] {
			again++
		}
		seen[id] = true
	}
	if rest := len(r.ended.IDs) - len(before); again > rest/4 {
		t.Errorf("%d of %d tokens were written before, in spite of a presence penalty of 6: %q", again, rest, r.ended.Text)
	}
	if i := slices.IndexFunc(r.rounds[3:], func(e event.Round) bool {
		return slices.ContainsFunc(e.Committed(), func(tok event.Token) bool { return tok.Text == "," })
	}); i >= 0 {
		t.Errorf("a comma was written in round %d, where it was banned", i+3)
	}
	change(t, s, "presence-penalty", "0", "ban", "[]")
	plain := write(t, session(t, pair(), base...), user("hello"), nil)
	if got := write(t, s, user("hello"), nil); !slices.Equal(got.ended.IDs, plain.ended.IDs) || got.rounds[0].Path != "greedy" {
		t.Errorf("after the change was taken back: %q on the path %s, want %q on greedy", got.ended.Text, got.rounds[0].Path, plain.ended.Text)
	}
}

func TestLogProbsAreThoseOfRawScores(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "logprobs", "3", "max-tokens", "20", "gamma-rule", "fixed", "ban", "Hello")
	r := write(t, s, user("hello"), nil)
	for _, round := range r.rounds {
		for _, token := range round.Committed() {
			if token.LogProb == nil || len(token.LogProbs) != 3 || *token.LogProb > token.LogProbs[0].P || token.LogProbs[0].P > 0 {
				t.Fatalf("%q has the log-probability %v and %v", token.Text, token.LogProb, token.LogProbs)
			}
		}
		for _, token := range round.Draft[round.Accepted:] {
			if token.LogProb != nil {
				t.Errorf("%q is no part of the reply and has a log-probability", token.Text)
			}
		}
	}
	first := r.rounds[0].Committed()[0]
	if first.LogProbs[0].Text != "Hello" || first.ID == first.LogProbs[0].ID || math.Exp(first.LogProbs[0].P) < 0.1 {
		t.Errorf("the first token %q beside %v: want raw scores, in which the banned token comes first", first.Text, first.LogProbs)
	}
	change(t, s, "logprobs", "0", "ban", "[]")
	for _, round := range write(t, s, user("hello"), nil).rounds {
		for _, token := range round.Committed() {
			if token.LogProb != nil || token.LogProbs != nil || round.Path != "greedy" {
				t.Fatalf("%q has a log-probability that nobody asked for, on the path %s", token.Text, round.Path)
			}
		}
	}
}

func TestNamesOfTokensAreCheckedWhenAsked(t *testing.T) {
	s := session(t, pair())
	for _, c := range []struct{ name, value, says string }{
		{"ban", "speculative decoding", "is not one token but"},
		{"allow", "999999", "ids go from 0 to"},
		{"logit-bias", "Hello", "write TOKEN=BIAS"},
		{"bias", "Hello=much", "has to be a number"},
	} {
		if err := s.Change(c.name, c.value); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %q: error %v, want %q", c.name, c.value, err, c.says)
		}
	}
	o := options(host.New(1))
	o.Config.Tokens.Banned = []string{"speculative decoding"}
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.NewSession(t.Context()); err == nil || !strings.Contains(err.Error(), "tokens.banned") {
		t.Errorf("a session with a token that does not exist: error %v", err)
	}
}

// Settings that forbid every token end the reply with an error that names them. When they are taken back, the next
// reply is not affected.
func TestContradictionsEndTheReply(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "30", "allow", "Hello", "ban", "Hello", "min-tokens", "5")
	r := write(t, s, user("hello"), nil)
	if r.ended.Reason != "error" || !strings.Contains(r.failed, "banned tokens, allowed tokens and min tokens") {
		t.Errorf("reason %q, error %q", r.ended.Reason, r.failed)
	}
	change(t, s, "allow", "[]", "ban", "[]", "min-tokens", "0")
	want := write(t, session(t, pair(), "temperature", "0", "max-tokens", "30"), user("hello"), nil)
	if got := write(t, s, user("hello"), nil); got.ended.Text != want.ended.Text {
		t.Errorf("then %q, want %q", got.ended.Text, want.ended.Text)
	}
}
