package audit

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"specula/engine/event"
)

// scripted answers with fixed tokens: a plain token, then the others in one round of a server.
type scripted map[string][]int32

func (s scripted) Reply(_ context.Context, prompt string) iter.Seq[event.Event] {
	ids := s[prompt]
	token := func(id int32, v event.Verdict) event.Token {
		return event.Token{ID: id, Raw: []byte{byte('a' + id)}, Verdict: v, LogProbs: []event.Candidate{{P: -1}, {P: -0.75}}}
	}
	first, last := token(ids[0], event.Plain), token(ids[len(ids)-1], event.Resampled)
	r := event.Round{Index: 1, Server: &event.ServerRound{Round: 1, Drafted: 4, Kept: len(ids) - 2}, VerifyMS: 2, Commit: &last}
	for _, id := range ids[1 : len(ids)-1] {
		r.Draft = append(r.Draft, token(id, event.Accepted))
	}
	return slices.Values([]event.Event{event.Round{VerifyMS: 100, Server: &event.ServerRound{}, Commit: &first}, r,
		event.ReplyEnded{IDs: ids, Totals: event.Totals{Tokens: len(ids), Rounds: 2, Tested: len(ids) - 1, Accepted: len(ids) - 2}}})
}

func TestTextsThatPartAreTold(t *testing.T) {
	speculative := scripted{"one": {1, 2, 3, 4}, "two": {1, 2, 5}, "three": {1, 2, 3}}
	plain := scripted{"one": {1, 2, 3, 4}, "two": {1, 2, 6}, "three": {1, 2, 3, 4}}
	counts := []Counters{{10, 10}, {22, 14}}
	r, err := Run(t.Context(), speculative, plain, Options{Prompts: []string{"one", "two", "three"}, Streams: true, Count: func(context.Context) (Counters, error) {
		c := counts[0]
		counts = counts[1:]
		return c, nil
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Differ != 2 || r.Matched() || r.Divergences[0].Token != 2 || *r.Divergences[0].Margin != 0.25 || r.Divergences[0].Plain != "g" || r.Divergences[0].Speculative != "f" || r.Divergences[1].Speculative != "<end>" {
		t.Errorf("%+v", r)
	}
	if r.Drafted != 12 || r.Kept != 4 || !strings.HasPrefix(r.Counted, "equal") {
		t.Errorf("%+v", r)
	}
	var table strings.Builder
	coded, err := json.Marshal(r)
	if r.WriteTable(&table) != nil || err != nil || !strings.Contains(table.String(), "2 of 3 (67 %)") || !strings.Contains(table.String(), "0.2500") || !strings.Contains(string(coded), `"differ":2`) {
		t.Errorf("%s\n%s", table.String(), coded)
	}
}

func TestCountersWithoutDraftsAreNotCompared(t *testing.T) {
	s := scripted{"one": {1, 2, 3, 4}}
	r, err := Run(t.Context(), s, s, Options{Prompts: []string{"one"}, Count: func(context.Context) (Counters, error) { return Counters{}, nil }}, nil)
	if err != nil || !strings.HasPrefix(r.Counted, "not compared") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCountersThatDoNotFitAreTold(t *testing.T) {
	s := scripted{"one": {1, 2, 3, 4}}
	n := 0.0
	r, err := Run(t.Context(), s, s, Options{Prompts: []string{"one"}, Count: func(context.Context) (Counters, error) {
		n += 9
		return Counters{n, n}, nil
	}}, nil)
	if err != nil || !r.Matched() || !strings.Contains(r.Counted, "told 4 drafted and 2 accepted, counted 9 and 9") {
		t.Errorf("%+v, %v", r, err)
	}
}
