package engine_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model/modeltest"
	"specula/tokenizer/chat"
)

// replies is how many replies each family writes in TestChangesInMidReplyInEveryFamily.
var replies = flag.Int("replies", 4, "number of replies that each family writes")

// family loads a tiny model of a family, with random weights and no draft model. If there is a drafter for it, in
// a file of its own, family loads that, too.
func family(t testing.TB, path string) *engine.Engine {
	t.Helper()
	o := options(host.New(1))
	o.Draft, o.Heads = engine.Source{}, nil
	o.Target = engine.Source{Name: path, Embedded: modeltest.Unpack(t, path)}
	if drafter := filepath.Join(assistants, filepath.Base(path)); exists(drafter) {
		o.Draft = engine.Source{Name: drafter, Embedded: modeltest.Unpack(t, drafter)}
	}
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const withMTP = "model/testdata/architectures/*-mtp.gguf.gz"

// assistants is the folder of drafters in files of their own; each has the name of its target.
const assistants = "model/testdata/assistants"

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func families(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no models %s: %v", pattern, err)
	}
	return paths
}

// letters draws a text of tokens that the tiny models know.
func letters(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(byte('A' + rng.IntN(26)))
	}
	return b.String()
}

// If no proposer is chosen, the head in a target's file, or the drafter made for a target, drafts. It also drafts
// several tokens in a round, each from its own output for the token before. The text is the target's alone. This
// holds for later chats of a session and after cancelled replies, too.
func TestAutoDraftsByTheHeadInTheFile(t *testing.T) {
	paths := families(t, withMTP)
	for _, drafter := range families(t, assistants+"/*.gguf.gz") {
		paths = append(paths, filepath.Join("model/testdata/architectures", filepath.Base(drafter)))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			e := family(t, path)
			rng := rand.New(rand.NewPCG(5, 1))
			settings := []string{"temperature", "0", "max-tokens", "24", "gamma-rule", "fixed", "gamma", "4"}
			s, plain := session(t, e, settings...), session(t, e, append(settings, "speculate", "off")...)
			if auto := s.Ready().Auto; auto == nil || auto.Proposer != "mtp" || s.Ready().Heads == "" {
				t.Fatalf("auto is %+v, heads %q", auto, s.Ready().Heads)
			}
			longest := 0
			for i := range 12 {
				messages := user(letters(rng, 5+rng.IntN(20)))
				if i%4 == 3 {
					ctx, cancel := context.WithCancel(t.Context())
					writeContext(t, ctx, s, user(letters(rng, 9)), func(ev event.Event) {
						if round, ok := ev.(event.Round); ok && round.Index == 1 {
							cancel()
						}
					})
					cancel()
				}
				got, want := write(t, s, messages, nil), write(t, plain, messages, nil)
				if got.failed != "" || !slices.Equal(got.ended.IDs, want.ended.IDs) {
					t.Errorf("reply %d: error %q, wrote %q, want %q", i, got.failed, got.ended.Text, want.ended.Text)
				}
				for _, round := range got.rounds {
					if longest = max(longest, len(round.Draft)); len(round.Draft) > 0 && round.Proposer != "mtp" {
						t.Errorf("round %d was drafted by %s", round.Index, round.Proposer)
					}
				}
			}
			if longest != 4 {
				t.Errorf("the longest draft has %d tokens, want 4", longest)
			}
		})
	}
}

// A head that has not drafted keeps the hidden states of the turns before. So the target reads as little
// again in the next turn as without a head.
func TestAnIdleHeadCostsNoReadingInTheNextTurn(t *testing.T) {
	for _, path := range families(t, withMTP) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			e := family(t, path)
			settings := []string{"temperature", "0", "max-tokens", "16", "gamma-rule", "fixed", "gamma", "0"}
			s, plain := session(t, e, settings...), session(t, e, append(settings, "speculate", "off")...)
			rng := rand.New(rand.NewPCG(11, 1))
			messages, most := user(letters(rng, 12)), 0
			for range 3 {
				got, want := write(t, s, messages, nil), write(t, plain, messages, nil)
				if n := want.started.ReusedTokens; got.started.ReusedTokens != n {
					t.Errorf("%d of %d tokens are reused, %d without the head", got.started.ReusedTokens, got.started.PromptTokens, n)
				}
				most = max(most, want.started.ReusedTokens)
				messages = append(messages, chat.Message{Role: "assistant", Content: got.ended.Text}, user(letters(rng, 5))[0])
			}
			if most == 0 {
				t.Error("no turn reuses any token")
			}
		})
	}
}

// Greedy replies of every family are the target's text, even if proposer, gamma and acceptance rule change
// from round to round.
func TestChangesInMidReplyInEveryFamily(t *testing.T) {
	for _, path := range families(t, "model/testdata/architectures/*.gguf.gz") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			e := family(t, path)
			rng := rand.New(rand.NewPCG(7, uint64(len(path))))
			s := session(t, e, "temperature", "0", "max-tokens", "20", "gamma-rule", "fixed", "trust", "0.1")
			plain := session(t, e, "temperature", "0", "max-tokens", "20", "speculate", "off")
			var names []string
			for _, p := range s.Ready().Proposers {
				if p.Refused == "" {
					names = append(names, p.Name)
				}
			}
			rules := []string{"token", "block", "exact"}
			drafted, differing := map[string]int{}, 0
			for i := range *replies {
				messages := user(strings.Repeat(letters(rng, 3+rng.IntN(6)), 2))
				got := write(t, s, messages, func(ev event.Event) {
					if _, ok := ev.(event.Round); ok {
						change(t, s, "proposer", names[rng.IntN(len(names))], "gamma", fmt.Sprint(1+rng.IntN(6)), "acceptance", rules[rng.IntN(3)],
							"speculate", fmt.Sprint(rng.IntN(8) > 0))
					}
				})
				for _, round := range got.rounds {
					if len(round.Draft) > 0 {
						drafted[round.Proposer] += len(round.Draft)
					}
				}
				if want := write(t, plain, messages, nil); got.failed != "" || !slices.Equal(got.ended.IDs, want.ended.IDs) {
					differing++
					t.Errorf("reply %d to %q: error %q, wrote %q, want %q", i, messages[0].Content, got.failed, got.ended.Text, want.ended.Text)
				}
			}
			if len(drafted) == 0 {
				t.Error("nothing was drafted")
			}
			t.Logf("%d replies, %d differ; drafted tokens: %v", *replies, differing, drafted)
		})
	}
}
