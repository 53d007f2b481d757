package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/weights/gguf"
	"specula/tokenizer/chat"
)

func TestLoweringTheLengthInMidReplyEndsIt(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "3")
	written := 0
	r := write(t, s, user("What is speculative decoding?"), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok && round.Index == 3 {
			for _, previous := range []string{"40", "5"} {
				change(t, s, "max-tokens", previous)
			}
		}
	})
	for _, round := range r.rounds[:4] {
		written += len(round.Committed())
	}
	if len(r.rounds) != 4 || len(r.ended.IDs) != written || r.ended.Reason != "length" {
		t.Errorf("%d rounds, %d tokens, reason %q; want the reply to end with the 4 rounds and %d tokens it had",
			len(r.rounds), len(r.ended.IDs), r.ended.Reason, written)
	}
}

func TestNgramLengthsHoldFromTheNextReply(t *testing.T) {
	const repeating = "one two three four one two three four one two three four one two"
	drafted := func(longest string) int {
		s := session(t, pair(), "temperature", "0", "max-tokens", "30", "proposer", "ngram", "gamma-rule", "fixed")
		write(t, s, user("hello"), nil)
		change(t, s, "ngram-max", longest, "ngram-min", longest)
		return write(t, s, user(repeating), nil).ended.Totals.Drafted
	}
	if short, long := drafted("1"), drafted("16"); short <= long {
		t.Errorf("matches of 1 token drafted %d tokens, matches of 16 drafted %d; want fewer", short, long)
	}
}

func TestASeedRepeatsWithNominalCosts(t *testing.T) {
	s := session(t, pair(), "temperature", "1", "seed", "42", "costs", "nominal", "max-tokens", "50")
	first := write(t, s, user(unsure()[0]), nil).ended.IDs
	write(t, s, user("who are you?"), nil)
	if again := write(t, s, user(unsure()[0]), nil).ended.IDs; !slices.Equal(first, again) {
		t.Errorf("first %v, then %v", first, again)
	}
}

func TestChangesDoNotPileUp(t *testing.T) {
	s := session(t, pair())
	for i := range 5000 {
		if err := s.Change("gamma", fmt.Sprint(i%8)); err != nil {
			t.Fatalf("change %d: %v", i, err)
		}
	}
	// Values that are only valid together are put in force together.
	change(t, s, "gamma-max", "16", "gamma", "12", "temperature", "0", "max-tokens", "4")
	r := write(t, s, user("hello"), nil)
	if r.started.Settings.Gamma != 12 || r.started.Settings.GammaMax != 16 {
		t.Errorf("γ %d of %d, want 12 of 16", r.started.Settings.Gamma, r.started.Settings.GammaMax)
	}
}

// Setting γ makes the rule fixed. Choosing cost-aware later lets the rule choose, up to the earlier gamma_max.
func TestNamingGammaFixesIt(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "12")
	for _, step := range []struct{ name, value, rule, gammas string }{
		{"gamma", "4", "fixed", "4 of 8"}, // 4 is the default, too
		{"gamma-rule", "cost-aware", "cost-aware", "4 of 8"},
		{"gamma", "6", "fixed", "6 of 8"},
		{"gamma-max", "3", "fixed", "3 of 3"},
	} {
		change(t, s, step.name, step.value)
		r := write(t, s, user("hello"), nil).started.Settings
		if gammas := fmt.Sprintf("%d of %d", r.Gamma, r.GammaMax); r.GammaRule != step.rule || gammas != step.gammas {
			t.Errorf("after %s %s: rule %s, γ %s; want %s, %s", step.name, step.value, r.GammaRule, gammas, step.rule, step.gammas)
		}
	}
	// Changes that wait for the same round.
	change(t, s, "gamma-max", "8", "gamma", "6", "gamma-rule", "cost-aware", "gamma", "5", "gamma-max", "4")
	if r := write(t, s, user("hello"), nil).started.Settings; r.Gamma != 4 || r.GammaMax != 4 || r.GammaRule != "fixed" {
		t.Errorf("γ %d of %d, rule %s; want 4 of 4, fixed", r.Gamma, r.GammaMax, r.GammaRule)
	}
}

func TestAnswerLeavesTheRuleAsItWas(t *testing.T) {
	s := session(t, pair())
	_, err := s.Answer(t.Context(), user("hello"), "sampling.max_tokens", "4", "speculation.gamma_rule", "fixed", "speculation.gamma", "2")
	if c := s.Settings().Speculation; err != nil || c.Rule != "cost-aware" || c.Gamma != 4 {
		t.Errorf("error %v, rule %s, γ %d, want cost-aware, 4", err, c.Rule, c.Gamma)
	}
}

// withContextLength returns a copy of a model file whose context length is tokens.
func withContextLength(t *testing.T, file []byte, tokens uint32) []byte {
	t.Helper()
	key := "qwen3.context_length"
	at := strings.Index(string(file), key) + len(key) + 4 // after the value's type
	if gguf.ValueType(file[at-4]) != gguf.Uint32 {
		t.Fatalf("%s is not a uint32", key)
	}
	changed := slices.Clone(file)
	for i := range 4 {
		changed[at+i] = byte(tokens >> (8 * i))
	}
	return changed
}

func TestADraftWithAShorterContextStopsDrafting(t *testing.T) {
	o := options(host.New(1))
	o.Draft.Embedded = withContextLength(t, assets.Draft(), 48)
	var ready event.Ready
	e, err := engine.Load(t.Context(), o, func(ev event.Event) {
		if r, ok := ev.(event.Ready); ok {
			ready = r
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if ready.Draft == nil || ready.Draft.ContextLength != 48 {
		t.Fatalf("the draft is %+v, want one with 48 tokens of context", ready.Draft)
	}
	settings := []string{"temperature", "0", "max-tokens", "80", "gamma-rule", "fixed", "proposer", "draft"}
	r := write(t, session(t, e, settings...), user("What is speculative decoding?"), nil)
	plain := write(t, session(t, pair(), append(settings, "speculate", "off")...), user("What is speculative decoding?"), nil)
	if r.failed != "" || !slices.Equal(r.ended.IDs, plain.ended.IDs) {
		t.Errorf("error %q, text %q, want %q", r.failed, r.ended.Text, plain.ended.Text)
	}
	if last := r.rounds[len(r.rounds)-1]; !strings.Contains(last.DraftStop, "context full") {
		t.Errorf("the last round says %q about its draft, want that the draft's context is full", last.DraftStop)
	}
}

func TestTheContextBoundsTheDraftToo(t *testing.T) {
	o := options(host.New(1))
	o.Config.Context.Length = 96
	if _, err := engine.Load(t.Context(), o, func(ev event.Event) {
		if r, ok := ev.(event.Ready); ok && r.Draft.ContextLength != 96 {
			t.Errorf("the draft has %d tokens of context, want 96", r.Draft.ContextLength)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestALongChatLosesNoTurnTooMany(t *testing.T) {
	var messages []chat.Message
	for range 400 {
		messages = append(messages, chat.Message{Role: "user", Content: strings.Repeat("tell me more. ", 8)},
			chat.Message{Role: "assistant", Content: strings.Repeat("no. ", 20)})
	}
	messages = append(messages, chat.Message{Role: "user", Content: "hello"})
	r := write(t, session(t, pair(), "overflow", "drop-oldest", "temperature", "0", "max-tokens", "8"), messages, nil)
	if r.failed != "" || r.started.PromptTokens+8 > r.started.ContextTokens {
		t.Fatalf("error %q, %d prompt tokens", r.failed, r.started.PromptTokens)
	}
	// With one turn fewer dropped, the chat would still have been too long.
	fewer := messages[2*(r.started.DroppedTurns-1):]
	if over := write(t, session(t, pair(), "overflow", "drop-oldest", "temperature", "0", "max-tokens", "8"), fewer, nil); over.started.DroppedTurns != 1 {
		t.Errorf("dropped %d turns, and of a chat one turn longer than what was left another %d, want 1",
			r.started.DroppedTurns, over.started.DroppedTurns)
	}
}
