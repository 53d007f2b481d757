package engine_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
	"specula/tokenizer/chat"
)

// faulty is a backend that hands each row of scores to spoil, which may change it, before anybody reads it.
type faulty struct {
	compute.Backend
	spoil  func(rows int, row []float32) // rows is how many rows the pass has; nil changes nothing
	target compute.Matrix                // the table that the target looks its tokens up in
	drafts bool                          // the pass under way is the draft's
}

func (f *faulty) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	if f.target == nil && table.Rows() > 1 { // heads look up a constant while they load
		f.target = table // the first pass is the target's
	}
	f.drafts = table != f.target
	return f.Backend.Embed(dst, table, ids)
}

type faultyLogits struct {
	compute.Logits
	f *faulty
}

func (f *faulty) Logits(x compute.Buffer, m int) (compute.Logits, error) {
	l, err := f.Backend.Logits(x, m)
	return faultyLogits{l, f}, err
}

func (l faultyLogits) Row(i int, dst []float32) error {
	err := l.Logits.Row(i, dst)
	if l.f.spoil != nil {
		l.f.spoil(l.Rows(), dst)
	}
	return err
}

func (l faultyLogits) Argmax(dst []int32) error {
	row := make([]float32, l.Vocab())
	for i := range l.Rows() {
		if err := l.Row(i, row); err != nil {
			return err
		}
		if math.IsNaN(float64(row[0])) || math.IsInf(float64(row[0]), 0) {
			return compute.ErrNotFinite
		}
	}
	return l.Logits.Argmax(dst)
}

func TestCancelLeavesTheSessionWhole(t *testing.T) {
	settings := []string{"temperature", "0", "max-tokens", "24"}
	want := write(t, session(t, pair(), settings...), user("who are you?"), nil).ended.IDs
	s := session(t, pair(), settings...)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		at := random.IntN(20)
		seen := 0
		r := writeContext(t, ctx, s, user("tell me a story about a dragon"), func(event.Event) {
			if seen++; seen > at {
				cancel()
			}
		})
		cancel()
		if r.ended.Reason != "cancelled" && r.ended.Reason != "length" && r.ended.Reason != "stop" || r.failed != "" {
			t.Fatalf("cancelled at event %d: reason %q, error %q", at, r.ended.Reason, r.failed)
		}
		if got := r.text(); got != r.ended.Text {
			t.Errorf("cancelled at event %d: events spell %q, the reply is %q", at, got, r.ended.Text)
		}
		if i%8 == 0 {
			if got := write(t, s, user("who are you?"), nil).ended.IDs; !slices.Equal(got, want) {
				t.Fatalf("after a cancel at event %d the next reply is %v, want %v", at, got, want)
			}
		}
	}
}

func TestReaderMayLeave(t *testing.T) {
	s := session(t, pair(), "temperature", "0", "max-tokens", "24")
	want := write(t, session(t, pair(), "temperature", "0", "max-tokens", "24"), user("hello"), nil).ended.IDs
	for leave := range 8 {
		seen := 0
		for range s.Generate(t.Context(), engine.Request{Messages: user("tell me a joke")}) {
			if seen++; seen > leave {
				break
			}
		}
		if got := write(t, s, user("hello"), nil).ended.IDs; !slices.Equal(got, want) {
			t.Fatalf("after the reader left at event %d: %v, want %v", leave, got, want)
		}
	}
}

func TestScoresThatAreNoNumbers(t *testing.T) {
	for name, bad := range map[string]float32{"NaN": float32(math.NaN()), "+Inf": float32(math.Inf(1))} {
		for _, temperature := range []string{"0", "0.8"} {
			t.Run(name+" in the target at temperature "+temperature, func(t *testing.T) {
				backend := &faulty{Backend: host.New(1)}
				s := session(t, embedded(t, backend), "temperature", temperature, "seed", "5", "max-tokens", "40", "gamma-rule", "fixed", "gamma", "3")
				clean := write(t, s, user("hello"), nil)
				backend.spoil = func(rows int, row []float32) {
					if rows > 1 { // the draft's passes have one row
						row[0] = bad
					}
				}
				r := write(t, s, user("who are you?"), nil)
				if r.ended.Reason != "error" || !strings.Contains(r.failed, compute.ErrNotFinite.Error()) || !strings.Contains(r.failed, `model "target"`) {
					t.Errorf("reason %q, error %q", r.ended.Reason, r.failed)
				}
				backend.spoil = nil
				if again := write(t, s, user("hello"), nil); !slices.Equal(again.ended.IDs, clean.ended.IDs) {
					t.Errorf("after the error: %q, want %q", again.ended.Text, clean.ended.Text)
				}
			})
		}
	}
	t.Run("in the target from the first token on", func(t *testing.T) {
		backend := &faulty{Backend: host.New(1)}
		e := embedded(t, backend)
		backend.spoil = func(_ int, row []float32) { row[0] = float32(math.NaN()) }
		s, err := e.NewSession(t.Context())
		if !errors.Is(err, engine.ErrModel) || !strings.Contains(err.Error(), `model "target"`) {
			t.Errorf("session %v, error %v; want one that names the model", s, err)
		}
	})
	t.Run("in the draft", func(t *testing.T) {
		backend := &faulty{Backend: host.New(1)}
		s := session(t, embedded(t, backend), "temperature", "0", "max-tokens", "20", "gamma-rule", "fixed", "gamma", "3")
		plain := write(t, session(t, pair(), "temperature", "0", "max-tokens", "20", "speculate", "off"), user("hello"), nil)
		backend.spoil = func(_ int, row []float32) {
			if backend.drafts {
				row[0] = float32(math.NaN())
			}
		}
		r := write(t, s, user("hello"), nil)
		if r.failed != "" || !slices.Equal(r.ended.IDs, plain.ended.IDs) {
			t.Errorf("error %q, text %q, want %q", r.failed, r.ended.Text, plain.ended.Text)
		}
		if r.rounds[0].DraftWhy == "" || len(r.rounds[0].Draft) != 0 {
			t.Errorf("the first round does not say why it has no draft: %+v", r.rounds[0])
		}
	})
}

func TestAContextThatOverflowsIsRefusedOrTrimmed(t *testing.T) {
	o := options(host.New(1))
	o.Config.Context.Length = 96
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("tell me a story about a dragon and a boat. ", 12)
	messages := []chat.Message{
		{Role: "user", Content: strings.Repeat("hello ", 40)}, {Role: "assistant", Content: strings.Repeat("hello ", 40)},
		{Role: "user", Content: "who are you?"},
	}
	t.Run("refused with figures", func(t *testing.T) {
		s := session(t, e, "temperature", "0")
		r := write(t, s, user(long), nil)
		if r.ended.Reason != "error" || !strings.Contains(r.failed, "96") || len(r.rounds) != 0 {
			t.Errorf("reason %q, error %q, %d rounds", r.ended.Reason, r.failed, len(r.rounds))
		}
		if r := write(t, s, user("hello"), nil); r.failed != "" || r.ended.Text == "" {
			t.Errorf("after a refusal: %q, error %q", r.ended.Text, r.failed)
		}
	})
	t.Run("oldest turns dropped when asked", func(t *testing.T) {
		r := write(t, session(t, e, "temperature", "0", "max-tokens", "16", "overflow", "drop-oldest"), messages, nil)
		if r.started.DroppedTurns != 1 {
			t.Errorf("dropped %d turns, want 1", r.started.DroppedTurns)
		}
		if r.failed != "" || r.ended.Text == "" {
			t.Errorf("reply %q, error %q", r.ended.Text, r.failed)
		}
	})
	t.Run("a full context ends the reply", func(t *testing.T) {
		r := write(t, session(t, e, "temperature", "1.5", "seed", "1", "max-tokens", "500", "gamma-rule", "fixed", "gamma", "8"), user("tell me a long story"), nil)
		if r.ended.Reason != "context" && r.ended.Reason != "stop" {
			t.Errorf("reason %q after %d tokens, error %q", r.ended.Reason, len(r.ended.IDs), r.failed)
		}
	})
}
