package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/host"
	"specula/engine/sample"
	"specula/engine/spec"
	"specula/tokenizer/chat"
)

func guidedSession(t *testing.T, settings ...string) *Session {
	t.Helper()
	return guidedSessionKeeping(t, "auto", settings...)
}

// guidedSessionKeeping opens a guided session with caches of the given type.
func guidedSessionKeeping(t *testing.T, cache string, settings ...string) *Session {
	t.Helper()
	c := config.Default()
	c.Context.Cache = cache
	e, err := Load(t.Context(), Options{
		Config:  c,
		Target:  Source{Name: "target", Embedded: assets.Target()},
		Draft:   Source{Name: "draft", Embedded: assets.Draft()},
		Backend: host.New(1), Now: time.Now, NewSeed: func() int64 { return 42 },
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for pair := range slices.Chunk(append(settings, "max-tokens", "24", "seed", "7", "gamma-rule", "fixed"), 2) {
		if err := s.Change(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// replyIDs writes a reply and returns its tokens and rounds.
func replyIDs(t *testing.T, s *Session, prompt string, watch func(event.Round)) (ids []int32, rounds []event.Round) {
	t.Helper()
	for e := range s.Generate(t.Context(), Request{Messages: []Message{{Role: "user", Content: prompt}}}) {
		switch e := e.(type) {
		case event.Round:
			rounds = append(rounds, e)
			if watch != nil {
				watch(e)
			}
		case event.Failed:
			t.Fatalf("%q: %s", prompt, e.Error)
		case event.ReplyEnded:
			ids = e.IDs
		}
	}
	return ids, rounds
}

// slowGuidance writes greedily by guided scores in the simplest way: for each token it reads both whole
// sequences again.
func slowGuidance(t *testing.T, e *Engine, prompt, negative []int32, scale float64, tokens int) (ids []int32) {
	t.Helper()
	read := func(context []int32) []float32 {
		cache, err := e.target.NewCache()
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
		logits, err := e.target.Prefill(t.Context(), cache, context, nil)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, logits.Vocab())
		if err := logits.Row(0, row); err != nil {
			t.Fatal(err)
		}
		return row
	}
	for len(ids) < tokens {
		with, without := read(slices.Concat(prompt, ids)), read(slices.Concat(negative, ids))
		for i := range with {
			with[i] = without[i] + float32(float32(scale)*(with[i]-without[i]))
		}
		best, err := sample.Argmax(with)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, best)
		if e.stops[best] {
			break
		}
	}
	return ids
}

func TestGuidedReplyEqualsTwoSlowReadings(t *testing.T) {
	for _, tt := range []struct {
		name, negative, scale, prompt, cache string
	}{
		{"negative prompt", "You talk about colours only.", "1.8", "What is speculative decoding?", "auto"},
		{"no negative prompt", "", "2.5", "How do I quit?", "auto"},
		{"scale below 1", "Answer with one word.", "0.4", "What does the graph show?", "auto"},
		{"scale 0: the negative prompt alone", "Answer with one word.", "0", "What does the graph show?", "auto"},
		{"in half precision", "You talk about colours only.", "1.8", "What is speculative decoding?", "f16"},
		{"in blocks", "You talk about colours only.", "1.8", "What is speculative decoding?", "q8_0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := guidedSessionKeeping(t, tt.cache, "temperature", "0", "guidance", tt.scale, "negative", tt.negative)
			got, rounds := replyIDs(t, s, tt.prompt, nil)
			message := []chat.Message{{Role: "user", Content: tt.prompt}}
			prompt, err := s.engine.encode(s.engine.template, message)
			if err != nil {
				t.Fatal(err)
			}
			without := []chat.Message{{Role: "user"}}
			if tt.negative != "" {
				without = append([]chat.Message{{Role: "system", Content: tt.negative}}, message...)
			}
			negative, err := s.engine.encode(s.engine.template, without)
			if err != nil {
				t.Fatal(err)
			}
			want := slowGuidance(t, s.engine, prompt, negative, rounds[0].GuidanceScale, len(got))
			if !slices.Equal(got, want) {
				t.Errorf("guided reply %v\nslow reading %v", got, want)
			}
			accepted := 0
			for _, round := range rounds {
				accepted += round.Accepted
				if round.Syncs == 0 || round.Path != "fallback" || !strings.Contains(round.PathWhy, "guidance") {
					t.Errorf("round %d: path %s, because %q, %d waits; want the path fallback, because of guidance, and a wait",
						round.Index, round.Path, round.PathWhy, round.Syncs)
				}
			}
			if accepted == 0 {
				t.Error("nothing was accepted: the test says nothing about speculation")
			}
		})
	}
}

// While guidance is switched on, off and on again in mid-reply, the companion's cache has as many tokens as Holds
// lists. Reset empties it.
func TestGuidanceChangesInMidReply(t *testing.T) {
	s := guidedSession(t, "temperature", "0.8", "negative", "You talk about colours only.")
	scales := []string{"2", "1", "1.5", "1", "3"}
	guidedRounds := 0
	for _, prompt := range []string{"What is speculative decoding?", "What is a residual?"} {
		ids, _ := replyIDs(t, s, prompt, func(round event.Round) {
			if round.GuidanceScale != 0 {
				guidedRounds++
				if n := s.companion.Companion.Len(); n != len(s.companion.Holds) {
					t.Errorf("round %d: the companion's cache has %d tokens, %d are known", round.Index, n, len(s.companion.Holds))
				}
			}
			if err := s.Change("guidance", scales[round.Index%len(scales)]); err != nil {
				t.Error(err)
			}
		})
		if len(ids) == 0 {
			t.Error("no reply")
		}
	}
	if guidedRounds < 4 {
		t.Errorf("only %d rounds were guided", guidedRounds)
	}
	if err := s.Reset(); err != nil || s.companion.Companion.Len() != 0 {
		t.Errorf("after Reset the companion holds %d tokens, error %v", s.companion.Companion.Len(), err)
	}
}

func TestANegativePromptThatDoesNotFitFailsTheReply(t *testing.T) {
	long := make([]byte, 8000)
	for i := range long {
		long[i] = "ab "[i%3]
	}
	s := guidedSession(t, "guidance", "2", "negative", string(long))
	var failed string
	for e := range s.Generate(t.Context(), Request{Messages: []Message{{Role: "user", Content: "Hello"}}}) {
		if e, ok := e.(event.Failed); ok {
			failed = e.Error
		}
	}
	if failed == "" {
		t.Fatal("the reply did not fail")
	}
	if err := s.Change("guidance", "1"); err != nil {
		t.Fatal(err)
	}
	if ids, _ := replyIDs(t, s, "Hello", nil); len(ids) == 0 {
		t.Error("no reply afterwards")
	}
}

// When the effect of a setting ends in mid-reply (here min-tokens), later rounds cost something else. So what they
// teach is kept separately.
func TestRoundsTeachOfTheirOwnKind(t *testing.T) {
	s := guidedSession(t, "temperature", "0", "min-tokens", "9")
	if err := s.Change("seed", "-1"); err != nil {
		t.Fatal(err)
	}
	_, rounds := replyIDs(t, s, "What is speculative decoding?", nil)
	want := map[kind]int{}
	for _, round := range rounds {
		want[kind{path: spec.Path(round.Path), greedy: true, proposer: "draft"}]++
	}
	if len(want) != 2 || len(s.lessons) != 2 {
		t.Errorf("rounds of %d kinds taught about %d, want 2", len(want), len(s.lessons))
	}
	for k, rounds := range want {
		l := s.lessons[k]
		if l == nil {
			t.Errorf("%d rounds of the path %s taught nothing about it", rounds, k.path)
			continue
		}
		nothing := gamma.New(s.gammaOptions(s.resolve(s.Settings()))).Next(gamma.Outlook{}).Acceptance[0]
		if l.gamma.Next(gamma.Outlook{}).Acceptance[0] == nothing {
			t.Errorf("%d rounds of the path %s taught nothing about acceptance on it", rounds, k.path)
		}
	}
}

// With a template that adds nothing, an empty negative prompt has no token. The reply then fails and names the setting.
func TestANegativePromptWithoutTokensIsRefused(t *testing.T) {
	s := guidedSession(t, "guidance", "2")
	template, err := chat.Choose(chat.Options{Source: "{% for m in messages %}{{ m.content }}{% endfor %}", Prefer: "file"})
	if err != nil {
		t.Fatal(err)
	}
	s.engine.template = template
	failure := ""
	for e := range s.Generate(t.Context(), Request{Messages: []chat.Message{{Role: "user", Content: "hello"}}}) {
		if e, ok := e.(event.Failed); ok {
			failure = e.Error
		}
	}
	if !strings.Contains(failure, "guidance.negative has no tokens") {
		t.Errorf("failed with %q", failure)
	}
}
