//go:build cuda && linux && cgo

package gpu_test

import (
	"slices"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/tokenizer/chat"
)

// demo loads the demo pair onto a backend.
func demo(t *testing.T, b compute.Backend) *engine.Engine {
	t.Helper()
	e, err := engine.Load(t.Context(), engine.Options{
		Config: config.Default(), Backend: b, Now: time.Now, NewSeed: func() int64 { return 1 },
		Target: engine.Source{Name: "demo target", Embedded: assets.Target()}, Draft: engine.Source{Name: "demo draft", Embedded: assets.Draft()},
	}, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// reply is what a session wrote, and the rounds it took.
type reply struct {
	ids    []int32
	text   string
	reason string
	failed string
	rounds []event.Round
}

func ask(t *testing.T, s *engine.Session, prompt string) (r reply) {
	t.Helper()
	for e := range s.Generate(t.Context(), engine.Request{Messages: []chat.Message{{Role: "user", Content: prompt}}}) {
		switch e := e.(type) {
		case event.Round:
			r.rounds = append(r.rounds, e)
		case event.Failed:
			r.failed = e.Error
		case event.ReplyEnded:
			r.ids, r.text, r.reason = e.IDs, e.Text, e.Reason
		}
	}
	return r
}

func set(t *testing.T, s *engine.Session, settings ...string) {
	t.Helper()
	for i := 0; i < len(settings); i += 2 {
		if err := s.Change(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
}

// The text is the same with and without speculation, and a round at temperature 0 is one wait and four bytes a row.
func TestChatOnTheDevice(t *testing.T) {
	s, err := demo(t, open(t)).NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	set(t, s, "temperature", "0", "max-tokens", "20", "gamma-rule", "fixed", "gamma", "3")
	drafted := ask(t, s, "who are you?")
	set(t, s, "speculate", "false")
	plain := ask(t, s, "who are you?")
	if drafted.failed != "" || !slices.Equal(drafted.ids, plain.ids) || len(plain.ids) < 8 {
		t.Errorf("with speculation %q %v, without %q", drafted.text, drafted.failed, plain.text)
	}
	t.Logf("%q in %d rounds instead of %d", drafted.text, len(drafted.rounds), len(plain.rounds))
	for _, r := range slices.Concat(drafted.rounds, plain.rounds) {
		if want := int64(4 * (len(r.Draft) + 1)); r.Path != "greedy" || r.Syncs != 1 || r.BytesMoved < want || r.BytesMoved > 16 {
			t.Errorf("round %d by the path %s moved %d bytes with %d waits, want %d with 1", r.Index, r.Path, r.BytesMoved, r.Syncs, want)
		}
	}
}
