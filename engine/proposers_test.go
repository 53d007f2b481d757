package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/tokenizer/chat"
)

// available are the proposers that a session on the embedded pair can choose.
func available(t testing.TB) []string {
	t.Helper()
	s := session(t, pair())
	var names []string
	for _, p := range s.Ready().Proposers {
		if p.Refused == "" {
			names = append(names, p.Name)
		}
	}
	return names
}

func TestEveryProposerIsKnown(t *testing.T) {
	setting, _ := config.Lookup("speculation.proposer")
	names := []string{"auto"}
	for _, p := range session(t, pair()).Ready().Proposers {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, setting.Choices) {
		t.Errorf("the engine knows %q, the setting allows %q", names, setting.Choices)
	}
	built := map[string]bool{}
	for _, h := range assets.Heads() {
		built[h.Name] = true
	}
	for _, p := range engine.Registered() {
		if got, want := slices.Contains(available(t), p.Name), !p.Hidden() || built[p.Name]; got != want {
			t.Errorf("%s is available: %t, want %t", p.Name, got, want)
		}
	}
}

// cascades end with a lookup, a draft model and heads.
var cascades = []string{"suffix,ngram", "ngram,draft", "ngram,suffix,eagle"}

// recalling returns the proposers that keep text of earlier chats.
func recalling() (names []string) {
	for _, p := range engine.Registered() {
		if p.FindsChats {
			names = append(names, p.Name)
		}
	}
	return names
}

// repeating are settings with which a reply repeats one word. So even a proposer that seldom drafts can
// guess it.
var repeating = []string{"allow", `[" the"]`, "min-tokens", "20"}

// greedyTokens is the greatest length of the plain replies that all proposers must give.
const greedyTokens = 24

func plainReplies(t *testing.T) map[string][]int32 {
	t.Helper()
	s := session(t, pair(), "temperature", "0", "max-tokens", fmt.Sprint(greedyTokens), "speculate", "off")
	replies := map[string][]int32{}
	for _, p := range assets.Prompts() {
		replies[p] = write(t, s, user(p), nil).ended.IDs
	}
	return replies
}

func TestEveryProposerWritesThePlainText(t *testing.T) {
	want := plainReplies(t)
	if len(want) < 50 {
		t.Fatalf("only %d prompts", len(want))
	}
	plain := session(t, pair(), append(repeating, "temperature", "0", "max-tokens", fmt.Sprint(greedyTokens), "speculate", "off")...)
	repeated := write(t, plain, user("hello"), nil).ended.IDs
	if len(repeated) < 20 || repeated[0] != repeated[19] {
		t.Fatalf("a reply of one word over and over is %v", repeated)
	}
	for _, name := range append(available(t), cascades...) {
		t.Run(name, func(t *testing.T) {
			s := session(t, pair(), "temperature", "0", "max-tokens", fmt.Sprint(greedyTokens), "proposer", name, "gamma-rule", "fixed", "gamma", "5", "trust", "0.1")
			equal, drafted, accepted := 0, 0, 0
			for _, p := range assets.Prompts() {
				r := write(t, s, user(p), nil)
				if !slices.Equal(r.ended.IDs, want[p]) {
					t.Errorf("%q: wrote %q", p, r.ended.Text)
					continue
				}
				equal++
				drafted, accepted = drafted+r.ended.Totals.Drafted, accepted+r.ended.Totals.Accepted
			}
			t.Logf("%d of %d texts equal, %d of %d drafted tokens accepted", equal, len(want), accepted, drafted)
			change(t, s, repeating...)
			r := write(t, s, user("hello"), nil)
			if !slices.Equal(r.ended.IDs, repeated) {
				t.Errorf("in a reply that repeats itself: wrote %q", r.ended.Text)
			}
			if accepted+r.ended.Totals.Accepted == 0 {
				t.Errorf("nothing of %d drafted tokens was accepted, nor of %d in a reply that repeats itself", drafted, r.ended.Totals.Drafted)
			}
		})
	}
}

func TestSwitchingProposersInMidReply(t *testing.T) {
	// "pair" has trained heads for eagle and medusa. "eagle alone" has random heads for eagle and none
	// for medusa, so medusa cannot draft there.
	for name, e := range map[string]*engine.Engine{"pair": pair(), "eagle alone": withHeads(t, eagleFile(t, false, noise(6)))} {
		t.Run(name, func(t *testing.T) { switchInMidReply(t, e) })
	}
}

func switchInMidReply(t *testing.T, e *engine.Engine) {
	t.Helper()
	names := slices.Compact(append(append(available(t), "eagle", "medusa"), cascades...))
	rng := rand.New(rand.NewPCG(3, 1))
	settings := []string{"temperature", "0", "max-tokens", "70"}
	plain := session(t, e, append(settings, "speculate", "off")...)
	s := session(t, e, append(settings, "gamma-rule", "fixed", "gamma", "4", "trust", "0.1")...)
	for _, p := range assets.Prompts()[:8] {
		used := map[string]bool{}
		r := write(t, s, user(p), func(ev event.Event) {
			if round, ok := ev.(event.Round); ok {
				used[round.Proposer] = true
				change(t, s, "proposer", names[rng.IntN(len(names))], "speculate", fmt.Sprint(rng.IntN(6) > 0))
			}
		})
		if want := write(t, plain, user(p), nil); r.failed != "" || !slices.Equal(r.ended.IDs, want.ended.IDs) {
			t.Errorf("%q: error %q, wrote %q, want %q", p, r.failed, r.ended.Text, want.ended.Text)
		}
		if len(r.rounds) > 20 && len(used) < 3 {
			t.Errorf("%q: only %v drafted", p, used)
		}
	}
}

// A proposer that was replaced for two rounds, by one that cannot draft, then reads what it missed: about as many of
// its tokens are accepted as without the detour.
func TestAProposerCatchesUpAfterADetour(t *testing.T) {
	settings := []string{"temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "3"}
	detour := session(t, withHeads(t, ""), settings...)
	r := write(t, detour, user("What is speculative decoding?"), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok {
			change(t, detour, "proposer", map[bool]string{true: "eagle", false: "draft"}[round.Index == 3 || round.Index == 4])
		}
	})
	straight := write(t, session(t, pair(), settings...), user("What is speculative decoding?"), nil)
	share := func(t event.Totals) float64 { return float64(t.Accepted) / float64(t.Tested) }
	if r.rounds[4].DraftWhy == "" || r.rounds[4].Gamma != 0 || !strings.Contains(r.rounds[4].DraftWhy, "--heads") {
		t.Errorf("round 4 by an unavailable proposer: γ %d, why %q", r.rounds[4].Gamma, r.rounds[4].DraftWhy)
	}
	if got, want := share(r.ended.Totals), share(straight.ended.Totals); got < want-0.1 {
		t.Errorf("after the detour %.2f were accepted, without it %.2f", got, want)
	}
	for _, round := range r.rounds[6:] {
		if len(round.Draft) == 0 { // there was room for no more than the target's token: the draft need not have read on
			continue
		}
		if round.DraftLen > round.TargetLen || round.DraftLen < round.TargetLen-1 {
			t.Errorf("round %d: the draft's cache has %d tokens, the target's %d", round.Index, round.DraftLen, round.TargetLen)
		}
	}
}

func TestAProposerThatIsUnavailableLeavesPlainRounds(t *testing.T) {
	o := options(host.New(1))
	o.Draft, o.Heads = engine.Source{}, nil
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range map[string]string{"draft": "no draft model", "combined": "no draft model", "medusa": "--heads"} {
		r := write(t, session(t, e, "temperature", "0", "max-tokens", "5", "proposer", name), user("hello"), nil)
		for _, round := range r.rounds {
			if round.Proposer != "none" || !strings.Contains(round.DraftWhy, why) {
				t.Errorf("%s: round by %s, why %q", name, round.Proposer, round.DraftWhy)
			}
		}
	}
}

func TestSkipLayersAreThoseOfTheTarget(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "20", "gamma-rule", "fixed", "gamma", "3", "proposer", "skip")
	for _, wrong := range []string{"8", "-1", "x", "4-3", "0-7", "1,9"} {
		if err := s.Change("skip-layers", wrong); err == nil || !strings.Contains(err.Error(), "0 to 7") {
			t.Errorf("layers %q: error %v", wrong, err)
		}
	}
	accepted := func(layers string) int {
		change(t, s, "skip-layers", layers)
		r := write(t, s, user("What is speculative decoding?"), nil)
		if r.failed != "" {
			t.Fatal(r.failed)
		}
		return r.ended.Totals.Accepted
	}
	if few, most := accepted("2"), accepted(`["0-4","5, 7"]`); few <= most {
		t.Errorf("without 1 layer %d tokens were accepted, without 7 %d", few, most)
	}
	o := options(host.New(1))
	o.Config.Speculation.SkipLayers = []string{"8"}
	if _, err := engine.Load(t.Context(), o, func(event.Event) {}); err == nil || !strings.Contains(err.Error(), "skip_layers") {
		t.Errorf("loading with a layer too many: error %v", err)
	}
}

// An earlier chat is recalled in the next one, unless a reply must be repeatable.
func TestEarlierChatsAreRecalled(t *testing.T) {
	for _, name := range recalling() {
		t.Run(name, func(t *testing.T) {
			settings := []string{"temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "4", "proposer", name}
			s := session(t, pair(), settings...)
			first := write(t, s, user("tell me a story about a dragon"), nil).ended.Totals
			write(t, s, user("hello"), nil)
			again := write(t, s, user("tell me a story about a dragon"), nil).ended.Totals
			if again.Accepted <= first.Accepted || again.Rounds >= first.Rounds {
				t.Errorf("at first %d tokens accepted in %d rounds, again %d in %d", first.Accepted, first.Rounds, again.Accepted, again.Rounds)
			}
			seeded := append(settings, "temperature", "1", "seed", "5", "costs", "nominal")
			want := write(t, session(t, pair(), seeded...), user("tell me a joke"), nil).ended.IDs
			change(t, s, seeded...)
			for range 2 {
				if got := write(t, s, user("tell me a joke"), nil).ended.IDs; !slices.Equal(got, want) {
					t.Errorf("the same seed wrote %v and %v", want, got)
				}
			}
		})
	}
}

// The drafts of a repeatable reply do not depend on what the session wrote before.
func TestNoProposerDraftsARepeatableReplyFromEarlierChats(t *testing.T) {
	fresh := []string{"temperature", "0", "max-tokens", "40", "gamma-rule", "fixed", "gamma", "4", "trust", "0"}
	seeded := []string{"temperature", "1", "seed", "5", "costs", "nominal"}
	drafts := func(r record) (all []int32) {
		for _, round := range r.rounds {
			for _, token := range round.Draft {
				all = append(all, token.ID)
			}
			all = append(all, -1)
		}
		return all
	}
	for _, name := range available(t) {
		alone := session(t, pair(), append(fresh, "proposer", name)...)
		change(t, alone, seeded...)
		want := write(t, alone, user("tell me a joke"), nil)
		s := session(t, pair(), append(fresh, "proposer", name)...)
		for _, before := range []string{"tell me a joke", "tell me a story about a dragon"} {
			write(t, s, user(before), nil)
		}
		change(t, s, seeded...)
		got := write(t, s, user("tell me a joke"), nil)
		if !slices.Equal(got.ended.IDs, want.ended.IDs) || !slices.Equal(drafts(got), drafts(want)) {
			t.Errorf("%s drafts from earlier chats, and the same seed wrote %q and %q: set FindsChats in its row of drafters",
				name, want.ended.Text, got.ended.Text)
		}
	}
}

func TestCombinedSaysWhoDrafted(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "4", "proposer", "combined")
	prompt := user("tell me a story about a dragon")
	by := map[string]int{}
	for range 2 { // the second time it has all been said before
		for _, round := range write(t, s, prompt, nil).rounds {
			by[round.Proposer]++
			if len(round.Draft) > 0 && round.ProposerWhy == "" {
				t.Errorf("round %d does not say why %s drafted", round.Index, round.Proposer)
			}
		}
	}
	if by["suffix"] == 0 || by["draft"] == 0 || by["combined"] > 0 {
		t.Errorf("rounds by proposer: %v, want both suffix and draft", by)
	}
}

// After a cancellation at a random event, the next reply has the same text with every proposer.
func TestEveryProposerSurvivesACancel(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for _, name := range available(t) {
		settings := []string{"temperature", "0", "max-tokens", "24", "proposer", name, "gamma-rule", "fixed", "gamma", "3"}
		want := write(t, session(t, pair(), settings...), user("who are you?"), nil).ended.IDs
		s := session(t, pair(), settings...)
		messages := user("tell me a story about a dragon")
		for range 4 {
			ctx, cancel := context.WithCancel(t.Context())
			at, seen := rng.IntN(12), 0
			writeContext(t, ctx, s, messages, func(event.Event) {
				if seen++; seen > at {
					cancel()
				}
			})
			cancel()
			if got := write(t, s, user("who are you?"), nil).ended.IDs; !slices.Equal(got, want) {
				t.Fatalf("%s: after a cancel at event %d: %v, want %v", name, at, got, want)
			}
			messages = append(messages, chat.Message{Role: "assistant", Content: "no."}, chat.Message{Role: "user", Content: "why?"})
		}
	}
}

func TestNominalCostsOfEveryProposer(t *testing.T) {
	// With nominal costs a controller that thinks a draft as dear as the target never drafts, so the
	// costs show in γ.
	for _, name := range available(t) {
		s := session(t, pair(), "temperature", "0", "costs", "nominal", "max-tokens", "60", "proposer", name)
		drafted := 0
		for _, p := range assets.Prompts()[:3] {
			drafted += write(t, s, user(p), nil).ended.Totals.Drafted
		}
		change(t, s, repeating...)
		if drafted += write(t, s, user("hello"), nil).ended.Totals.Drafted; drafted == 0 {
			t.Errorf("%s: nothing was drafted, not even in a reply that repeats itself", name)
		}
	}
}

// The speed-up of a round is that of the current proposer. After a change there is no speed-up until the
// new proposer has drafted.
func TestTheSpeedUpIsTheProposersOwn(t *testing.T) {
	s := session(t, withHeads(t, ""), "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "1")
	r := write(t, s, user("Tell me a story."), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok && round.Index == 17 {
			change(t, s, "proposer", "eagle") // which cannot draft
		}
	})
	if r.failed != "" || len(r.rounds) < 20 {
		t.Fatalf("%d rounds, error %q", len(r.rounds), r.failed)
	}
	for i, round := range r.rounds {
		if i >= 15 && i <= 17 && round.Speedup == 0 || i > 17 && round.Speedup != 0 {
			t.Errorf("round %d by %s: speed-up %g", i, round.Proposer, round.Speedup)
		}
	}
}
