//go:build cuda && linux && cgo

package gpu_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/sample"
)

// wholeRows are settings with which a round copies whole rows to the host and judges them there. They change no text:
// this DRY never acts.
var wholeRows = []string{"dry-multiplier", "1", "dry-allowed", "1000"}

// mostOff is how far a log-probability that a device has found may be from the host's. See
// sample.RankedLogProbs.
const mostOff = 2e-6

// apart says how two lists of candidates with logarithms differ: "" if by at most mostOff.
func apart(got, want []sample.Candidate) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d tokens, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i].ID != want[i].ID || !(math.Abs(got[i].P-want[i].P) <= mostOff) {
			return fmt.Sprintf("place %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	return ""
}

// The log-probabilities of a verdict's rows are those that the host computes from the rows as they are without edits,
// under guidance too.
func TestLogProbsAreTheHosts(t *testing.T) {
	m := load(t, open(t), assets.Draft(), model.Options{MaxTokens: 64, MaxRows: 8})
	ids := []int32{7, 1200, 9, 800}
	allowed := slices.Repeat([]uint64{0x5555555555555755}, len(ids)*compute.MaskWords(m.Config().Vocab)) // half of the tokens, 9 and 1200 among them
	for _, guided := range []bool{false, true} {
		logits, held := passOver(t, m, ids, guided)
		for _, sampled := range []bool{false, true} {
			for _, masks := range [][]uint64{nil, allowed} {
				const k = 20
				name := fmt.Sprintf("guided %v, sampled %v, masked %v", guided, sampled, masks != nil)
				// These edits make the first two draft tokens likely, each once.
				edits := compute.NewEdits()
				edits.Allowed = masks
				edits.Tokens = []compute.Edit{{ID: 9, Bias: 200}, {ID: 1200, Bias: 300}}
				edits.Repeat, edits.Presence = 1, 150
				must(t, errors.Join(held.Edit(edits), held.Rank(k)))
				verdict := verdictOf(t, logits, held, len(ids)-1, sampled)
				if verdict.Accepted != 2 || len(verdict.Ranked) != 3 {
					t.Fatalf("%s: %d accepted, and the rankings of %d rows", name, verdict.Accepted, len(verdict.Ranked))
				}
				for i, ranked := range verdict.Ranked {
					row := make([]float32, logits.Vocab())
					must(t, logits.Row(i, row))
					own := append(slices.Clone(ids[1:1+verdict.Accepted]), verdict.Follows)[i]
					want, wantTop, err := new(sample.Sampler).LogProbs(row, own, k)
					must(t, err)
					got, top := sample.RankedLogProbs(&ranked)
					if off := apart(top, wantTop); off != "" || ranked.Own.ID != own || !(math.Abs(got-want) <= mostOff) {
						t.Errorf("%s, row %d: token %d with %v, want %d with %v; %s", name, i, ranked.Own.ID, got, own, want, off)
					}
				}
			}
		}
	}
}

// passOver runs a pass over ids that the host has put on the device, guided or not.
func passOver(t *testing.T, m *model.Model, ids []int32, guided bool) (compute.Logits, compute.Tokens) {
	t.Helper()
	prompts := [][]int32{{5, 90, 33}}
	if guided {
		prompts = append(prompts, []int32{800, 33, 4000})
	}
	var caches []compute.Cache
	for _, prompt := range prompts {
		cache, err := m.NewCache()
		must(t, err)
		t.Cleanup(func() { must(t, cache.Close()) })
		_, err = m.Prefill(t.Context(), cache, prompt, nil)
		must(t, err)
		caches = append(caches, cache)
	}
	held, err := m.Tokens(len(ids))
	must(t, err)
	t.Cleanup(func() { must(t, held.Close()) })
	must(t, held.Put(0, ids...))
	logits, err := m.ForwardTokens(t.Context(), held, len(ids), caches...)
	must(t, err)
	if guided {
		must(t, logits.(compute.Judge).Guide(1.8))
	}
	return logits, held
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verdictOf lets the device judge n draft tokens that the host has put there.
func verdictOf(t *testing.T, logits compute.Logits, held compute.Tokens, n int, sampled bool) compute.Verdict {
	t.Helper()
	judge := logits.(compute.Judge)
	if !sampled {
		v, err := judge.AcceptBest(held, make([]int32, n))
		must(t, err)
		return v
	}
	filters := compute.Filters{Temperature: 0.5, TopP: 1}
	must(t, held.Sample(compute.Sampling{Target: filters, Draft: filters, Drafts: n, Vocab: logits.Vocab(), Certain: true, Seed: 3}))
	v, err := judge.AcceptDrawn(held)
	must(t, err)
	return v.Verdict
}

// Log-probabilities cost no wait, and at most 16 bytes a row and 8 for each token that is told: rounds are drafted and
// judged on the device as without them. The text is the same, and the numbers are those of a host that has whole rows.
func TestRoundsWithLogProbsAreOneWait(t *testing.T) {
	e := demo(t, open(t))
	const prompt, k = "who are you?", 5
	for _, c := range []struct {
		temperature, path string
		rowBytes          int64
		more              []string
	}{
		{"0", "greedy", 4, nil},
		{"0", "greedy", 4, []string{"repeat-penalty", "1.4", "presence-penalty", "0.3", "guidance", "2", "negative", "You are rude."}},
		{"0", "greedy", 4, []string{"bad-word", `["speculative"]`, "presence-penalty", "0.3"}},
		{"0.8", "stochastic", 8, nil},
		{"0.8", "stochastic", 8, []string{"repeat-penalty", "1.4", "top-k", "40"}},
		{"0.8", "stochastic", 8, []string{"acceptance", "exact"}},
		{"0.8", "stochastic", 12, []string{"acceptance", "block"}},
	} {
		what := fmt.Sprintf("temperature %s, %v", c.temperature, c.more)
		s := sampledSession(t, e, append([]string{"temperature", c.temperature, "max-tokens", "12"}, c.more...)...)
		want := ask(t, s, prompt)
		set(t, s, "logprobs", fmt.Sprint(k))
		r := ask(t, s, prompt)
		if r.failed != "" || !slices.Equal(r.ids, want.ids) {
			t.Errorf("%s: %q, without log-probabilities %q; %s", what, r.text, want.text, r.failed)
		}
		for i, round := range r.rounds {
			most := (c.rowBytes + 16 + 8*k) * int64(round.Gamma+1)
			if round.Path != c.path || round.Syncs != 1 || round.BytesMoved > most || round.BytesMoved <= want.rounds[i].BytesMoved {
				t.Errorf("%s, round %d: %s (%s), %d waits and %d bytes; want %s, 1 and at most %d", what, i, round.Path, round.PathWhy, round.Syncs,
					round.BytesMoved, c.path, most)
			}
			if strings.Contains(round.PathWhy, "log-probabilities") || c.temperature == "0" && round.InspectBytes > 0 {
				t.Errorf("%s, round %d: %s; %d bytes were copied after the verdict", what, i, round.PathWhy, round.InspectBytes)
			}
		}
		if c.temperature != "0" {
			checkLogProbs(t, what, r, k)
			continue
		}
		set(t, s, wholeRows...)
		whole := ask(t, s, prompt)
		if whole.text != r.text || whole.rounds[0].Path != "fallback" {
			t.Fatalf("%s: %q, on the path %s %q", what, r.text, whole.rounds[0].Path, whole.text)
		}
		checkLogProbs(t, what, whole, k)
		got := committed(r)
		for i, token := range committed(whole) {
			for j, best := range token.LogProbs {
				if own := got[i].LogProbs[j]; own.ID != best.ID || math.Abs(own.P-best.P) > mostOff || math.Abs(*got[i].LogProb-*token.LogProb) > mostOff {
					t.Errorf("%s, token %d: %v and %v; by the host %v and %v", what, i, *got[i].LogProb, own, *token.LogProb, best)
				}
			}
		}
	}
}

func committed(r reply) (list []event.Token) {
	for _, round := range r.rounds {
		list = append(list, round.Committed()...)
	}
	return list
}

// checkLogProbs requires k log-probabilities in order beside that of each token.
func checkLogProbs(t *testing.T, what string, r reply, k int) {
	t.Helper()
	for i, token := range committed(r) {
		if token.LogProb == nil || len(token.LogProbs) != k || *token.LogProb > token.LogProbs[0].P || token.LogProbs[k-1].P > token.LogProbs[0].P {
			t.Fatalf("%s: token %d has %v beside %v", what, i, token.LogProb, token.LogProbs)
		}
	}
}
