//go:build cuda && linux && cgo

package gpu_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/model"
	"specula/kernels/ref"
)

// sampledSettings are settings with which every round is drawn on the device.
var sampledSettings = []string{"temperature", "0.8", "top-p", "0.95", "top-k", "0", "min-p", "0", "seed",
	"11", "max-tokens", "16", "gamma-rule", "fixed", "gamma", "3"}

func sampledSession(t *testing.T, e *engine.Engine, more ...string) *engine.Session {
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
	set(t, s, append(slices.Clone(sampledSettings), more...)...)
	return s
}

// A sampled round has one wait and moves 8 bytes per row, whoever drafts it; and a seed gives one
// text.
func TestSampledRoundsAreOneWait(t *testing.T) {
	e := demo(t, open(t))
	for _, c := range []struct{ name, prompt, proposer string }{
		{"draft", "who are you?", "draft"}, {"ngram", "repeat after me: one two three one two three one",
			"ngram"}, {"skip", "who are you?", "skip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sampledSession(t, e, "proposer", c.proposer)
			first, again := ask(t, s, c.prompt), ask(t, s, c.prompt)
			if first.failed != "" || !slices.Equal(first.ids, again.ids) || len(first.ids) < 4 {
				t.Errorf("%q %v, and again %q; %s", first.text, first.ids, again.text, first.failed)
			}
			onDevice, drafted, looked := 0, 0, 0
			for _, r := range first.rounds {
				checkRound(t, r)
				// Lookups may find fewer tokens than were asked for. A draft that ends the reply
				// is shown without the tokens after its end.
				if r.BytesMoved <= int64(8*r.Gamma+8) && r.BytesMoved >= int64(8*len(r.Draft)+8) &&
					r.Syncs == 1 {
					onDevice++
				}
				drafted += len(r.Draft)
				if r.InspectBytes > 0 {
					looked++
				}
			}
			if (looked > 0) != (c.proposer != "ngram") {
				t.Errorf("in %d rounds the draft's temperature was looked for", looked)
			}
			if drafted == 0 || onDevice < len(first.rounds) {
				t.Errorf("%d of %d rounds were decided on the device, with %d draft tokens", onDevice,
					len(first.rounds), drafted)
			}
			t.Logf("%q: %d of %d rounds on the device", first.text, onDevice, len(first.rounds))
		})
	}
}

// Inspecting a reply does not change it: the rounds are still decided on the device, and their
// scores are read afterwards.
func TestInspectionChangesNothing(t *testing.T) {
	s := sampledSession(t, demo(t, open(t)))
	want := ask(t, s, "who are you?")
	got := inspect(t, s, "who are you?")
	if got.failed != "" || !slices.Equal(got.ids, want.ids) {
		t.Errorf("inspected %q, otherwise %q; %s", got.text, want.text, got.failed)
	}
	for i, r := range got.rounds {
		checkRound(t, r)
		if r.BytesMoved > int64(8*r.Gamma+8) || r.Syncs != 1 || r.InspectBytes == 0 {
			t.Errorf("round %d moved %d bytes with %d waits, and %d to be looked at", i, r.BytesMoved,
				r.Syncs, r.InspectBytes)
		}
		for _, d := range r.Draft {
			if len(d.Target) == 0 || len(d.Draft) == 0 {
				t.Errorf("round %d: draft token %d has no candidates", i, d.ID)
			}
			for _, c := range d.Draft {
				if c.ID == d.ID && d.Q != nil && c.P != *d.Q {
					t.Errorf("round %d: draft token %d has q %v and in the draft's bar %v", i,
						d.ID, *d.Q, c.P)
				}
			}
			for _, c := range d.Target {
				if c.ID == d.ID && d.P != nil && c.P != *d.P {
					t.Errorf("round %d: draft token %d has p %v and in the target's bar %v", i,
						d.ID, *d.P, c.P)
				}
			}
		}
		for _, rule := range r.Rules {
			if rule.Rule == "token" && rule.Accepted != r.Accepted {
				t.Errorf("round %d kept %d, and by the host's distributions %d", i, r.Accepted, rule.Accepted)
			}
		}
	}
}

// checkRound checks that the event of a round reports as much about a round on the device as about
// one on the host.
func checkRound(t *testing.T, r event.Round) {
	t.Helper()
	if r.Path != "stochastic" || r.TargetLen == 0 {
		t.Errorf("round %d: path %q, %d tokens in the target's cache", r.Index, r.Path, r.TargetLen)
	}
	for i, d := range r.Draft {
		switch {
		case i >= r.Tested:
			if d.Verdict != event.Discarded {
				t.Errorf("round %d: draft token %d after what was tested is %s", r.Index, i, d.Verdict)
			}
		case d.P == nil || d.Q == nil || d.U == nil:
			t.Errorf("round %d: draft token %d has no p, q or u", r.Index, i)
		case (*d.U**d.Q < *d.P*1.001) != (d.Verdict == event.Accepted) &&
			(*d.U**d.Q < *d.P*0.999) != (d.Verdict == event.Accepted):
			t.Errorf("round %d: draft token %d with u %g, q %g and p %g is %s", r.Index, i, *d.U, *d.Q,
				*d.P, d.Verdict)
		}
	}
	if r.Commit != nil && (r.Commit.P == nil || *r.Commit.P <= 0) {
		t.Errorf("round %d committed a token of probability %v", r.Index, r.Commit.P)
	}
}

// The host makes every decision of a reply again, from the same rows and uniforms, and must come to the
// same tokens: drafted, accepted and following ones. The rows are computed again, one context at a time;
// by the law of engine/compute they have the same bits.
func TestSampledReplyReplayedOnTheHost(t *testing.T) {
	b := open(t)
	// So hot that the models disagree: rejected draft tokens then remain in both caches, beyond
	// their length.
	const temperature = 1.6
	s := sampledSession(t, demo(t, b), "top-k", "40", "min-p", "0.01", "temperature", fmt.Sprint(temperature))
	h := replay{
		target: newReader(t, b, assets.Target()), draft: newReader(t, b, assets.Draft()),
		by: ref.Filters{TopP: 0.95, MinP: 0.01, TopK: 40}, temperature: temperature,
	}
	for _, question := range []string{"I want to book a table for two in San Jose",
		"tell me a story about a dragon"} {
		reply := ask(t, s, question)
		if reply.failed != "" {
			t.Fatal(reply.failed)
		}
		context := tokenized(t, question)
		for _, r := range reply.rounds {
			h.round(t, context, r)
			for _, c := range r.Committed() {
				context = append(context, c.ID)
			}
		}
		t.Logf("%d rounds, %q", len(reply.rounds), reply.text)
	}
	if h.tokens < 8 || h.leftBehind == 0 {
		t.Errorf("only %d tokens, or too few rounds with two rejected drafts or more: %d",
			h.tokens, h.leftBehind)
	}
}

// replay repeats the decisions of rounds on the host.
type replay struct {
	target, draft *reader
	by            ref.Filters
	temperature   float64
	tokens        int // committed so far
	leftBehind    int // rounds that rejected two draft tokens or more
	// judge is the rule, and tokenBytes what it moves for each draft token besides 8 bytes for each row; nil and 0:
	// the rule token.
	judge      func(p, q []ref.WeightRow, ids []int32, round ref.Round) ref.Rejection
	tokenBytes int
}

// row is the distribution of the next token after a context. factor multiplies the temperature.
func (h *replay) row(t *testing.T, from *reader, context []int32, factor float64) ref.WeightRow {
	by, scores := h.by, from.row(t, context)
	by.Temperature = float32(factor * h.temperature)
	by.FilterTemperature = by.Temperature
	return ref.SoftmaxRow(scores, ref.CutRow(scores, by), by)
}

// round compares what a round decided after a context with what the host decides.
func (h *replay) round(t *testing.T, context []int32, r event.Round) {
	t.Helper()
	if r.BytesMoved != int64(8*(r.Gamma+1)+h.tokenBytes*r.Gamma) {
		t.Fatalf("round %d moved %d bytes: it was not drawn on the device", r.Index, r.BytesMoved)
	}
	at := ref.Round{Seed: [2]uint32{11, 0}, Round: uint32(r.Index), Drafts: int32(len(r.Draft))}
	var ids []int32
	for _, d := range r.Draft {
		ids = append(ids, d.ID)
	}
	var p []ref.WeightRow
	for i := range len(ids) + 1 {
		p = append(p, h.row(t, h.target, slices.Concat(context, ids[:i]), 1))
	}
	judge := h.judge
	if judge == nil {
		judge = ref.Reject
	}
	want := judge(p, h.drafted(t, context, ids, at, r), ids, at)
	if r.Accepted != want.Accepted || r.Commit != nil && int(r.Commit.ID) != want.Commit {
		t.Errorf("round %d: %d accepted and %+v, on the host %d and %d", r.Index, r.Accepted, r.Commit,
			want.Accepted, want.Commit)
	}
	h.tokens += len(r.Committed())
	if len(ids) > r.Accepted+1 {
		h.leftBehind++
	}
}

// drafted returns the distributions that a draft was drawn from. The draft may be sharper than the
// target, by one of four factors.
func (h *replay) drafted(t *testing.T, context, ids []int32, at ref.Round, r event.Round) []ref.WeightRow {
	t.Helper()
	for _, factor := range []float64{1, 0.75, 0.5, 0.3} {
		var q []ref.WeightRow
		for i := range ids {
			q = append(q, h.row(t, h.draft, slices.Concat(context, ids[:i]), factor))
		}
		if explained(q, ids, at, r) {
			return q
		}
	}
	t.Fatalf("round %d: the host does not draw the draft %v", r.Index, ids)
	return nil
}

// explained reports whether a draft was drawn from these distributions: they give its tokens, and
// for the tested ones the probability in the event, to 0.1 %.
func explained(q []ref.WeightRow, ids []int32, at ref.Round, r event.Round) bool {
	for i, row := range q {
		if row.Draw(at, ref.DraftDraw, i) != int(ids[i]) {
			return false
		}
		if chance := float64(row.Chance(int(ids[i]), row.Total())); i < r.Tested &&
			!(*r.Draft[i].Q > 0.999*chance && *r.Draft[i].Q < 1.001*chance) {
			return false
		}
	}
	return true
}

// tokenized returns the tokens of a conversation with that question, from the reference.
func tokenized(t *testing.T, question string) []int32 {
	t.Helper()
	data, err := os.ReadFile("../assets/reference/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var reference struct {
		Cases []struct {
			Prompt string
			IDs    []int32
		}
	}
	if err := json.Unmarshal(data, &reference); err != nil {
		t.Fatal(err)
	}
	for _, c := range reference.Cases {
		if c.Prompt == question {
			return c.IDs
		}
	}
	t.Fatalf("%q is not in the reference", question)
	return nil
}

// reader computes the scores that follow a context.
type reader struct {
	model *model.Model
	cache compute.Cache
	known []int32
}

func newReader(t *testing.T, b compute.Backend, data []byte) *reader {
	// F16: the default
	m := load(t, b, data, model.Options{MaxTokens: 256, MaxRows: 4, CacheType: compute.F16})
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cache.Close() })
	return &reader{model: m, cache: cache}
}

func (r *reader) row(t *testing.T, context []int32) []float32 {
	t.Helper()
	keep := 0
	for keep < min(len(r.known), len(context)-1) && r.known[keep] == context[keep] {
		keep++
	}
	keep = compute.Reach(r.cache, keep)
	if err := r.cache.Truncate(keep); err != nil {
		t.Fatal(err)
	}
	logits, err := r.model.Prefill(t.Context(), r.cache, context[keep:], nil)
	if err != nil {
		t.Fatal(err)
	}
	r.known = slices.Clone(context)
	row := make([]float32, logits.Vocab())
	if err := logits.Row(0, row); err != nil {
		t.Fatal(err)
	}
	return row
}

// Whatever comes between two rounds (rows for the host, another path), both caches hold exactly
// what was committed, and a later reply equals that of a fresh session.
func TestPathsTakeTurns(t *testing.T) {
	e := demo(t, open(t))
	s := sampledSession(t, e)
	want := ask(t, sampledSession(t, e), "who are you?")
	for _, change := range [][]string{
		{"repeat-penalty", "1.2"}, {"repeat-penalty", "1", "acceptance", "block"},
		{"acceptance", "token", "temperature", "0"},
		{"temperature", "0.8", "logprobs", "2"}, {"logprobs", "0", "speculate", "false"},
		{"speculate", "true", "max-tokens", "5"},
	} {
		set(t, s, change...)
		if r := ask(t, s, "tell me a joke"); r.failed != "" {
			t.Fatalf("%v: %s", change, r.failed)
		}
	}
	set(t, s, sampledSettings...)
	if got := ask(t, s, "who are you?"); !slices.Equal(got.ids, want.ids) {
		t.Errorf("after other paths %q, in a fresh session %q", got.text, want.text)
	}
}

// When a device fails in the middle of a sampled round, the text so far stays, and the next reply is refused in words.
func TestFaultsInASampledReply(t *testing.T) {
	needEmulator(t)
	if alone(t) {
		return
	}
	t.Setenv("EMULATOR_FAIL_KERNEL", "3000")
	b := open(t)
	s := sampledSession(t, demo(t, b), "max-tokens", "200")
	failed := reply{}
	for range 20 {
		if failed = ask(t, s, "tell me a story about a dragon"); failed.failed != "" {
			break
		}
	}
	t.Logf("%s: %q, %q", failed.reason, failed.text, failed.failed)
	if failed.reason != "error" || failed.failed == "" {
		t.Errorf("the reply ended with %q: %s", failed.reason, failed.failed)
	}
	text := ""
	for _, r := range failed.rounds {
		for _, c := range r.Committed() {
			text += c.Text
		}
	}
	if !strings.HasPrefix(failed.text, text) {
		t.Errorf("the rounds spell %q, and the reply is %q", text, failed.text)
	}
	if later := ask(t, s, "who are you?"); !strings.Contains(later.failed, "start specula anew") {
		t.Errorf("the next reply: %q %q", later.text, later.failed)
	}
}
