package lossless_test

import (
	"slices"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
)

// Guidance on a device gives the text that the host writes, with penalties and without, whether the draft
// stays on the device, is looked up by the host, or is on the host to be inspected.
func TestGuidedTextIsThatOfTheHost(t *testing.T) {
	settings := []string{"temperature", "0", "guidance", "4", "negative", "You are rude.", "max-tokens", "24", "gamma-rule", "fixed", "gamma", "3"}
	write := func(s *engine.Session, inspect bool) (ids []int32, rounds []event.Round) {
		messages := []engine.Message{{Role: "user", Content: "hello"}}
		for e := range s.Generate(t.Context(), engine.Request{Messages: messages, Inspect: inspect}) {
			switch e := e.(type) {
			case event.Round:
				rounds = append(rounds, e)
			case event.Failed:
				t.Fatal(e.Error)
			case event.ReplyEnded:
				ids = e.IDs
			}
		}
		return ids, rounds
	}
	for name, more := range map[string][]string{
		"a draft model": nil, "n-grams": {"proposer", "ngram"}, "penalties": {"repeat-penalty", "1.3", "presence-penalty", "0.4"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := append(slices.Clone(settings), more...)
			want, _ := write(openSession(t, settings...), false)
			d := &device{timed{Backend: host.New(1)}}
			t.Cleanup(func() { _ = d.Backend.Close() })
			s := openSessionOn(t, engine.Source{Name: "target", Embedded: assets.Target()}, d, func() time.Time { return d.now }, settings...)
			for _, inspect := range []bool{false, true, false} {
				got, rounds := write(s, inspect)
				if !slices.Equal(got, want) {
					t.Errorf("wrote %v, want %v; inspected: %v", got, want, inspect)
				}
				accepted := 0
				for _, r := range rounds {
					if r.Path != "greedy" {
						t.Errorf("round %d: %s: %s", r.Index, r.Path, r.PathWhy)
					}
					accepted += r.Accepted
				}
				if accepted == 0 && name != "n-grams" {
					t.Error("nothing was accepted")
				}
			}
		})
	}
}
