package engine_test

import (
	"slices"
	"strings"
	"testing"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/host"
)

// At the end of the context, a reply with speculation ends with the same token as one without.
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

// A negative prompt needs room, too. Under guidance a form is refused before anything is written if it fits after the
// prompt, but not after the negative prompt.
func TestTheNegativePromptCountsInTheRoomForAForm(t *testing.T) {
	o := options(host.New(1))
	o.Config.Context.Length = 80
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, e, "temperature", "0", "regex", "[a-z]{30}", "negative", strings.Repeat("You talk about colours. ", 8))
	for _, tt := range []struct{ guidance, refused string }{
		{"1", ""}, {"2", "the shortest reply that fits the regular expression may need 30 tokens, and only"}, {"1", ""},
	} {
		change(t, s, "guidance", tt.guidance)
		r := write(t, s, user("hello"), nil)
		if !strings.HasPrefix(r.failed, tt.refused) || (r.failed != "") != (tt.refused != "") {
			t.Errorf("guidance %s: failed with %q, want %q", tt.guidance, r.failed, tt.refused)
		}
		if n := len(r.text()); n != 30 && tt.refused == "" || n != 0 && tt.refused != "" {
			t.Errorf("guidance %s: wrote %q, want 30 letters, or nothing if the form is refused", tt.guidance, r.text())
		}
	}
}
