package engine_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/tokenizer/chat"
)

// embedded loads the pair inside the program on a backend.
func embedded(t testing.TB, backend compute.Backend) *engine.Engine {
	t.Helper()
	e, err := engine.Load(t.Context(), options(backend), func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// briefly limits the calibration in tests that need no measured costs.
const briefly = 10 * time.Millisecond

func options(backend compute.Backend) engine.Options {
	return engine.Options{
		Config:  config.Default(),
		Target:  engine.Source{Name: "target", Embedded: assets.Target()},
		Draft:   engine.Source{Name: "draft", Embedded: assets.Draft()},
		Heads:   builtIn(),
		Backend: backend, Now: time.Now, CalibrationTime: briefly, NewSeed: func() int64 { return 42 },
	}
}

// builtIn are the heads inside the program.
func builtIn() (list []engine.HeadSource) {
	for _, h := range assets.Heads() {
		list = append(list, engine.HeadSource(h))
	}
	return list
}

// One thread computes, because in models as small as the built-in pair several threads mostly wait for each other.
// Under the race detector it is two.
var threads = flag.Int("threads", 1, "number of threads that compute the built-in pair")

// pair is loaded once for all tests that do not change it.
var pair = sync.OnceValue(func() *engine.Engine {
	e, err := engine.Load(context.Background(), options(host.New(*threads)), func(event.Event) {})
	if err != nil {
		panic(err)
	}
	return e
})

// session opens a session on e with settings, given as name and value in turn.
func session(t testing.TB, e *engine.Engine, settings ...string) *engine.Session {
	t.Helper()
	s, err := e.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	change(t, s, settings...)
	return s
}

func change(t testing.TB, s *engine.Session, settings ...string) {
	t.Helper()
	for pair := range slices.Chunk(settings, 2) {
		if err := s.Change(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
}

func user(text string) []chat.Message { return []chat.Message{{Role: "user", Content: text}} }

// record is everything one reply yielded.
type record struct {
	events  []event.Event
	rounds  []event.Round
	started event.ReplyStarted
	ended   event.ReplyEnded
	failed  string
}

func write(t testing.TB, s *engine.Session, messages []chat.Message, watch func(event.Event)) record {
	t.Helper()
	return writeContext(t, t.Context(), s, messages, watch)
}

func writeContext(t testing.TB, ctx context.Context, s *engine.Session, messages []chat.Message, watch func(event.Event)) record {
	t.Helper()
	var r record
	for ev := range s.Generate(ctx, engine.Request{Messages: messages, Inspect: true}) {
		r.events = append(r.events, ev)
		switch ev := ev.(type) {
		case event.Round:
			r.rounds = append(r.rounds, ev)
		case event.ReplyStarted:
			r.started = ev
		case event.ReplyEnded:
			r.ended = ev
		case event.Failed:
			r.failed = ev.Error
		}
		if watch != nil {
			watch(ev)
		}
	}
	if r.ended.Reason == "" {
		t.Fatalf("the reply did not end: %d events", len(r.events))
	}
	return r
}

// text is the reply as spelled by its events, which must equal ReplyEnded.Text.
func (r record) text() string {
	var b strings.Builder
	for _, round := range r.rounds {
		for _, token := range round.Committed() {
			b.WriteString(token.Text)
		}
	}
	return b.String() + r.ended.Tail
}

func TestSpeculationNeverChangesGreedyText(t *testing.T) {
	prompts := assets.Prompts()[:6]
	for _, proposer := range []string{"draft", "ngram"} {
		for _, rule := range []string{"fixed", "windowed", "cost-aware"} {
			t.Run(proposer+"/"+rule, func(t *testing.T) {
				plain := session(t, pair(), "temperature", "0", "max-tokens", "40", "speculate", "false")
				fast := session(t, pair(), "temperature", "0", "max-tokens", "40", "proposer", proposer, "gamma-rule", rule)
				accepted := 0
				for _, p := range prompts {
					want, got := write(t, plain, user(p), nil), write(t, fast, user(p), nil)
					if !slices.Equal(want.ended.IDs, got.ended.IDs) {
						t.Errorf("%q: plain %q, with speculation %q", p, want.ended.Text, got.ended.Text)
					}
					accepted += got.ended.Totals.Accepted
				}
				if proposer == "draft" && rule == "fixed" && accepted == 0 {
					t.Error("no drafted token was accepted in all of the prompts")
				}
			})
		}
	}
}

// unsure are messages that the demo pair can answer in several ways, so that seeds matter.
func unsure() []string {
	return []string{
		"I have two dogs and I love to hike.", "I would like to find a restaurant in Oakland.", "I went to the beach yesterday.",
		"My brother and I watched a film last night.", "I work at a bank and play the guitar.", "Can you find me a doctor nearby?",
		"We are moving to a bigger house next month.", "I am looking for a one way bus ticket.",
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	for _, rule := range []string{"fixed", "windowed", "cost-aware"} {
		t.Run(rule, func(t *testing.T) {
			settings := []string{"temperature", "1", "seed", "7", "gamma-rule", rule, "max-tokens", "60"}
			first := write(t, session(t, pair(), settings...), user(unsure()[0]), nil)
			again := session(t, pair(), settings...)
			write(t, again, user("hello"), nil)
			second := write(t, again, user(unsure()[0]), nil)
			if !slices.Equal(first.ended.IDs, second.ended.IDs) {
				t.Errorf("first %q, then %q", first.ended.Text, second.ended.Text)
			}
			change(t, again, "seed", "8")
			if third := write(t, again, user(unsure()[0]), nil); slices.Equal(first.ended.IDs, third.ended.IDs) {
				t.Errorf("another seed wrote the same %q", third.ended.Text)
			}
		})
	}
}

func TestEventsTellTheReply(t *testing.T) {
	s := session(t, pair(), "temperature", "0.8", "seed", "3", "max-tokens", "80", "gamma-rule", "fixed")
	r := write(t, s, user("What is speculative decoding?"), nil)
	if r.failed != "" {
		t.Fatal(r.failed)
	}
	if r.text() != r.ended.Text || r.ended.Text == "" {
		t.Errorf("rounds spell %q, the reply is %q", r.text(), r.ended.Text)
	}
	var ids []int32
	tested, accepted := 0, 0
	for i, round := range r.rounds {
		for _, token := range round.Committed() {
			ids = append(ids, token.ID)
		}
		tested += round.Tested
		accepted += round.Accepted
		if round.Index != i || round.BytesMoved == 0 || round.VerifyMS <= 0 || round.Path != "stochastic" || round.PathWhy == "" {
			t.Errorf("round %d lacks a measurement, or has another index or path than %d and stochastic: %+v", i, i, round)
		}
		checkVerdicts(t, round)
	}
	if !slices.Equal(ids, r.ended.IDs) {
		t.Errorf("rounds commit %v, the reply is %v", ids, r.ended.IDs)
	}
	if got := r.ended.Totals; got.Tested != tested || got.Accepted != accepted || got.Tokens != len(ids) || got.Rounds != len(r.rounds) {
		t.Errorf("totals %+v, rounds have %d tested, %d accepted, %d tokens", got, tested, accepted, len(ids))
	}
}

// checkVerdicts checks a round's verdicts under the rule token: a token is accepted if u·q < p.
func checkVerdicts(t *testing.T, round event.Round) {
	t.Helper()
	for j, token := range round.Draft {
		switch token.Verdict {
		case event.Accepted, event.Rejected:
			if token.P == nil || token.Q == nil || token.U == nil || len(token.Target) == 0 || len(token.Draft) == 0 {
				t.Fatalf("round %d, token %d lacks numbers: %+v", round.Index, j, token)
			}
			if kept := *token.U**token.Q < *token.P; kept != (token.Verdict == event.Accepted) {
				t.Errorf("round %d, token %d: u %g, q %g, p %g, and %s", round.Index, j, *token.U, *token.Q, *token.P, token.Verdict)
			}
		case event.Discarded:
			if j <= round.Accepted-1 {
				t.Errorf("round %d: token %d discarded among %d accepted", round.Index, j, round.Accepted)
			}
		default:
			t.Errorf("round %d, token %d: verdict %q", round.Index, j, token.Verdict)
		}
	}
}

func TestTurnsReuseTheCache(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "30")
	messages := user("hello")
	first := write(t, s, messages, nil)
	messages = append(messages, chat.Message{Role: "assistant", Content: first.ended.Text}, chat.Message{Role: "user", Content: "who are you?"})
	second := write(t, s, messages, nil)
	started := second.started
	if started.ReusedTokens < 9 {
		t.Errorf("reused %d of %d prompt tokens, want at least the first turn's 9", started.ReusedTokens, started.PromptTokens)
	}
	fresh := write(t, session(t, pair(), "temperature", "0", "max-tokens", "30"), messages, nil)
	if !slices.Equal(second.ended.IDs, fresh.ended.IDs) {
		t.Errorf("with reuse %q, without %q", second.ended.Text, fresh.ended.Text)
	}
}

func TestChangeInMidReply(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "2")
	r := write(t, s, user("What is speculative decoding?"), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok && round.Index == 3 {
			change(t, s, "gamma", "5", "proposer", "ngram", "seed", "9")
		}
	})
	var names []string
	for _, ev := range r.events {
		if ch, ok := ev.(event.SettingChanged); ok && ch.Round >= 0 {
			names = append(names, fmt.Sprintf("%s %s→%s at %d", ch.Name, ch.From, ch.To, ch.Round))
		}
	}
	want := []string{"speculation.gamma 2→5 at 4", "speculation.proposer auto→ngram at 4"}
	if !slices.Equal(names, want) {
		t.Errorf("changes %q, want %q", names, want)
	}
	for _, round := range r.rounds[4:] {
		if round.Proposer == "draft" {
			t.Errorf("round %d still drafted by the draft model", round.Index)
		}
	}
	plain := write(t, session(t, pair(), "temperature", "0", "max-tokens", "60", "speculate", "off"), user("What is speculative decoding?"), nil)
	if !slices.Equal(plain.ended.IDs, r.ended.IDs) {
		t.Errorf("changes in mid-reply changed the text to %q", r.ended.Text)
	}
	if err := s.Change("gamma", "400"); err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("γ 400: error %v", err)
	}
	if err := s.Change("target", "x.gguf"); err == nil {
		t.Error("changing the target of an open session was accepted")
	}
}

func TestStopStringsNeverShow(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "6")
	whole := write(t, s, user("What is speculative decoding?"), nil).ended.Text
	words := strings.Fields(whole)
	stop := strings.Join(words[4:6], " ")
	change(t, s, "sampling.stop", fmt.Sprintf("[%q]", stop))
	r := write(t, s, user("What is speculative decoding?"), nil)
	if want := whole[:strings.Index(whole, stop)]; r.ended.Text != want || r.text() != want || r.ended.Reason != "stop string" {
		t.Errorf("stop %q: reply %q, events %q, reason %q, want %q", stop, r.ended.Text, r.text(), r.ended.Reason, want)
	}
}

// In events, a stop token has no text; it has its name in the vocabulary.
func TestAStopTokenIsNamed(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "bias", "<|im_end|>=100")
	var last event.Token
	write(t, s, user("hello"), func(e event.Event) {
		if r, ok := e.(event.Round); ok {
			committed := r.Committed()
			last = committed[len(committed)-1]
		}
	})
	if !last.Stop || last.Name != "<|im_end|>" || last.Text != "" {
		t.Errorf("the reply ends with %+v", last)
	}
}

func TestLengthIsNeverExceeded(t *testing.T) {
	for n := 1; n <= 9; n++ {
		s := session(t, pair(), "temperature", "0", "max-tokens", fmt.Sprint(n), "gamma-rule", "fixed", "gamma", "8")
		if r := write(t, s, user("tell me a story about a dragon"), nil); len(r.ended.IDs) != n || r.ended.Reason != "length" {
			t.Errorf("max-tokens %d: %d tokens, reason %q", n, len(r.ended.IDs), r.ended.Reason)
		}
	}
}

// Where a reply ends soon, a round gets a smaller γ than is set, and its event says that and why.
func TestARoundSaysWhatOverrulesItsGamma(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "6", "gamma-rule", "fixed", "gamma", "6")
	overruled := 0
	for _, r := range write(t, s, user("hello"), nil).rounds {
		if r.GammaOverruled {
			overruled++
		}
		if said := strings.Contains(r.GammaWhy, "more tokens fit"); said != r.GammaOverruled || !r.GammaOverruled && !r.Probe && r.Gamma != 6 {
			t.Errorf("γ %d of 6, overruled %v: %q", r.Gamma, r.GammaOverruled, r.GammaWhy)
		}
	}
	if overruled == 0 {
		t.Error("no round was short of room")
	}
}
