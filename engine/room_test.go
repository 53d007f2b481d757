package engine_test

import (
	"slices"
	"testing"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
)

// Where the context ends, a reply with speculation ends with the same token as one without.
func TestSpeculationEndsWhereTheContextDoes(t *testing.T) {
	for length := 40; length < 48; length++ {
		o := options(host.New(1))
		o.Config.Context.Length = length
		e, err := engine.Load(t.Context(), o, func(event.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		settings := []string{"temperature", "0", "max-tokens", "200", "gamma-rule", "fixed", "gamma", "5"}
		plain := write(t, session(t, e, append(settings, "speculate", "off")...), user("Tell me a story."), nil)
		got := write(t, session(t, e, settings...), user("Tell me a story."), nil)
		if plain.ended.Reason != "context" || got.ended.Reason != "context" || !slices.Equal(got.ended.IDs, plain.ended.IDs) {
			t.Errorf("a context of %d tokens: %d tokens and %q; without speculation %d and %q", length,
				len(got.ended.IDs), got.ended.Reason, len(plain.ended.IDs), plain.ended.Reason)
		}
	}
}
