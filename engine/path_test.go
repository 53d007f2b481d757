package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"specula/engine/event"
)

// The path that is shown is the one that ran, with the reason.
func TestPathAndReason(t *testing.T) {
	sampled := "temperature 0.8, and no filter depends on earlier tokens"
	best := "temperature 0: the best token of each row decides"
	for _, c := range []struct {
		settings  []string
		path, why string
	}{
		{nil, "stochastic", sampled},
		{[]string{"temperature", "0"}, "greedy", best},
		{[]string{"acceptance", "block"}, "fallback", "the rule block needs whole rows"},
		{[]string{"acceptance", "exact"}, "fallback", "the rule exact needs whole rows"},
		{[]string{"acceptance", "typical-lossy"}, "fallback", "the rule typical-lossy needs whole rows"},
		{[]string{"acceptance", "block", "temperature", "0"}, "greedy", best},
		{[]string{"guidance", "1.8"}, "fallback", "guidance 1.8: two rows for each token"},
		{[]string{"guidance", "1.8", "temperature", "0"}, "fallback", "guidance 1.8: two rows for each token"},
		{[]string{"guidance", "1.8", "acceptance", "block", "ban", ","}, "fallback",
			"scores are changed by banned tokens; guidance 1.8: two rows for each token; the rule block needs whole rows"},
	} {
		s := session(t, pair(), append([]string{"temperature", "0.8", "seed", "3", "max-tokens", "12", "gamma-rule", "fixed"}, c.settings...)...)
		r := write(t, s, user("What is speculative decoding?"), nil)
		for _, round := range r.rounds {
			if round.Path != c.path || round.PathWhy != c.why {
				t.Fatalf("%v: %s: %s; want %s: %s", c.settings, round.Path, round.PathWhy, c.path, c.why)
			}
		}
		if r.failed != "" || len(r.rounds) == 0 {
			t.Errorf("%v: %d rounds, %s", c.settings, len(r.rounds), r.failed)
		}
	}
}

// Once the least number of tokens is reached, rounds take the path that they have without the setting. The text is
// the same as on the path fallback, which log-probabilities force for comparison.
func TestMinTokensHoldAsLongAsTheyChangeSomething(t *testing.T) {
	const least, most = 7, 40
	for _, c := range []struct {
		settings []string
		path     string // once the least number is reached
	}{
		{[]string{"temperature", "0"}, "greedy"},
		{[]string{"temperature", "0.9", "acceptance", "token"}, "stochastic"},
		{[]string{"temperature", "0.9", "acceptance", "block"}, "fallback"},
		{[]string{"temperature", "0.9", "acceptance", "exact"}, "fallback"},
	} {
		crossed := 0
		for i, proposer := range available(t) {
			gamma := 2 + 3*i%7
			what := fmt.Sprintf("%v, %s, γ = %d", c.settings, proposer, gamma)
			settings := append([]string{"seed", "5", "max-tokens", fmt.Sprint(most), "gamma-rule", "fixed", "gamma", fmt.Sprint(gamma),
				"proposer", proposer, "min-tokens", fmt.Sprint(least)}, c.settings...)
			s := session(t, pair(), settings...)
			got := write(t, s, user("hello hello hello hello"), nil)
			whole := write(t, session(t, pair(), append(settings, "logprobs", "1")...), user("hello hello hello hello"), nil)
			if got.failed != "" || !slices.Equal(got.ended.IDs, whole.ended.IDs) {
				t.Errorf("%s: %q %s; on the fallback path %q", what, got.ended.Text, got.failed, whole.ended.Text)
			}
			if n := len(got.ended.IDs); n <= least {
				t.Errorf("%s: the reply ended after %d tokens: %s", what, n, got.ended.Reason)
			}
			crossed += checkEnd(t, what, got.rounds, least, c.path)
			again := write(t, s, user("hello"), nil)
			checkEnd(t, what+", the next reply", again.rounds, least, c.path)
		}
		if crossed == 0 {
			t.Errorf("%v: no round began below %d tokens and ended above", c.settings, least)
		}
	}
}

// checkEnd requires that «min tokens» shapes the rounds until the reply has least tokens, and that later
// rounds take the given path. It returns how many rounds began below least tokens and ended above.
func checkEnd(t *testing.T, what string, rounds []event.Round, least int, path string) (crossed int) {
	t.Helper()
	written := 0
	for _, round := range rounds {
		short := written < least
		if slices.Contains(round.Shaped, "min tokens") != short || strings.Contains(round.PathWhy, "min tokens") != short {
			t.Errorf("%s: after %d tokens %s: %s, shaped by %v", what, written, round.Path, round.PathWhy, round.Shaped)
		}
		if want := map[bool]string{true: "fallback", false: path}[short]; round.Path != want {
			t.Errorf("%s: after %d tokens the path %s, want %s", what, written, round.Path, want)
		}
		written += len(round.Committed())
		if short && written > least {
			crossed++
		}
	}
	return crossed
}

// If the setting «min tokens» changes in mid-reply, the tokens written before count, too.
func TestMinTokensChangeInMidReply(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "2", "min-tokens", "3")
	written := 0
	var paths []string
	r := write(t, s, user("What is speculative decoding?"), func(ev event.Event) {
		round, ok := ev.(event.Round)
		if !ok {
			return
		}
		paths = append(paths, round.Path)
		written += len(round.Committed())
		switch round.Index {
		case 4:
			change(t, s, "min-tokens", fmt.Sprint(written))
		case 5:
			change(t, s, "min-tokens", fmt.Sprint(written+1))
		}
	})
	if r.failed != "" || len(paths) < 8 {
		t.Fatalf("%d rounds, %s", len(paths), r.failed)
	}
	if paths[0] != "fallback" || paths[4] != "greedy" || paths[5] != "greedy" || paths[6] != "fallback" || paths[7] != "greedy" {
		t.Errorf("paths %v: want fallback, and again for one round after the change in round 5", paths)
	}
}
