package engine_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
)

const repeats = "Say this again: one two three four five six seven, one two three four five six seven, one two three"

// loaded loads the pair with changed options, and returns the engine and the Ready event.
func loaded(t *testing.T, change func(o *engine.Options)) (*engine.Engine, event.Ready) {
	t.Helper()
	o := options(host.New(1))
	change(&o)
	var ready event.Ready
	e, err := engine.Load(t.Context(), o, func(ev event.Event) {
		if r, ok := ev.(event.Ready); ok {
			ready = r
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, ready
}

func TestAutoTakesWhatThereIs(t *testing.T) {
	for name, tt := range map[string]struct {
		change    func(o *engine.Options)
		who, said string
	}{
		"a draft model":    {func(*engine.Options) {}, "draft", "there is a draft model"},
		"heads":            {func(o *engine.Options) { o.Draft = engine.Source{} }, "eagle", "no draft model was asked for; trained heads"},
		"one kind of them": {func(o *engine.Options) { o.Draft, o.Heads = engine.Source{}, o.Heads[1:] }, "medusa", "trained heads"},
		"heads that fit another target": {func(o *engine.Options) {
			o.Draft, o.Heads = engine.Source{}, slices.Clone(o.Heads)
			for i := range o.Heads {
				o.Heads[i].Config = []byte(`{"hidden_act": "gelu"}`)
			}
		}, "suffix", "no heads: "},
		"nothing but text": {func(o *engine.Options) { o.Draft, o.Heads = engine.Source{}, nil }, "suffix", "no draft model was asked for; no trained heads; looking up"},
	} {
		t.Run(name, func(t *testing.T) {
			e, ready := loaded(t, tt.change)
			if ready.Auto == nil || ready.Auto.Proposer != tt.who || !strings.Contains(ready.Auto.Why, tt.said) {
				t.Fatalf("ready says %+v, want %s: …%s…", ready.Auto, tt.who, tt.said)
			}
			r := write(t, session(t, e, "temperature", "0", "max-tokens", "40"), user(repeats), nil)
			if s := r.started.Settings; s.Proposer != "auto" || s.AutoProposer != tt.who {
				t.Errorf("the reply began with proposer %q, %q, want auto, %q", s.Proposer, s.AutoProposer, tt.who)
			}
			if r.ended.Totals.Drafted == 0 {
				t.Error("nothing was drafted")
			}
			for _, round := range r.rounds {
				if len(round.Draft) > 0 && round.Proposer != tt.who {
					t.Errorf("round %d was drafted by %s, want %s", round.Index, round.Proposer, tt.who)
				}
			}
			for change := range r.started.Config {
				if change == "speculation.proposer" {
					t.Error("the default proposer is told as a changed setting")
				}
			}
		})
	}
}

// notices returns the texts of a reply's notices.
func notices(r record) (all []string) {
	for _, ev := range r.events {
		if n, ok := ev.(event.Notice); ok {
			all = append(all, n.Text)
		}
	}
	return all
}

// drafters returns the proposers that drafted in a reply, each once.
func drafters(r record) (all []string) {
	for _, round := range r.rounds {
		if len(round.Draft) > 0 && !slices.Contains(all, round.Proposer) {
			all = append(all, round.Proposer)
		}
	}
	return all
}

func TestAutoTurnsFromADraftThatFails(t *testing.T) {
	backend := &faulty{Backend: host.New(1)}
	o := options(backend)
	o.Heads = nil
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"temperature", "0", "max-tokens", "60", "gamma-rule", "fixed"}
	s := session(t, e, settings...)
	backend.spoil = func(_ int, row []float32) {
		if backend.drafts {
			row[0] = float32(math.NaN())
		}
	}
	r := write(t, s, user(repeats), nil)
	if said := notices(r); len(said) != 1 || !strings.Contains(said[0], "suffix drafts in its place") {
		t.Errorf("told %q", said)
	}
	if got := drafters(r); !slices.Equal(got, []string{"suffix"}) {
		t.Errorf("drafted by %q, want suffix alone", got)
	}
	plain := write(t, session(t, pair(), append(settings, "speculate", "off")...), user(repeats), nil)
	if !slices.Equal(r.ended.IDs, plain.ended.IDs) {
		t.Errorf("wrote %q, want %q", r.ended.Text, plain.ended.Text)
	}
	// A proposer that the user chose by name stays, even if it cannot draft.
	change(t, s, "proposer", "draft")
	if r := write(t, s, user(repeats), nil); len(notices(r)) > 0 || len(drafters(r)) > 0 {
		t.Errorf("told %q, drafted by %q, want neither a notice nor a draft", notices(r), drafters(r))
	}
}

// When the context of a draft model is full, auto chooses another proposer. In a chat that is short
// enough for the model, auto chooses it again.
func TestAutoTurnsFromADraftWhoseContextIsFull(t *testing.T) {
	e, _ := loaded(t, func(o *engine.Options) { o.Draft.Embedded, o.Heads = withContextLength(t, assets.Draft(), 64), nil })
	s := session(t, e, "temperature", "0", "max-tokens", "40", "gamma-rule", "fixed")
	if long := write(t, s, user(strings.Repeat(repeats+" ", 4)), nil); !slices.Equal(drafters(long), []string{"suffix"}) {
		t.Errorf("a long chat is drafted by %q, want suffix; told %q", drafters(long), notices(long))
	}
	if short := write(t, s, user("hello"), nil); !slices.Equal(drafters(short), []string{"draft"}) {
		t.Errorf("a short chat is drafted by %q, want draft", drafters(short))
	}
}

// lostDraft is the draft model's own device. While lost is true, it computes no scores.
type lostDraft struct {
	compute.Backend
	lost bool
}

func (l *lostDraft) Logits(x compute.Buffer, m int) (compute.Logits, error) {
	if l.lost {
		return nil, compute.ErrDeviceLost
	}
	return l.Backend.Logits(x, m)
}

func TestAutoGoesOnWithoutTheDraftsDevice(t *testing.T) {
	device := &lostDraft{Backend: host.New(1)}
	e, _ := loaded(t, func(o *engine.Options) { o.DraftBackend, o.Heads = device, nil })
	s := session(t, e, "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed")
	r := write(t, s, user(repeats), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok && round.Index == 1 {
			device.lost = true
		}
	})
	if r.failed != "" || !slices.Equal(drafters(r), []string{"draft", "suffix"}) {
		t.Errorf("error %q, drafted by %q, want draft, then suffix; told %q", r.failed, drafters(r), notices(r))
	}
	plain := write(t, session(t, pair(), "temperature", "0", "max-tokens", "60", "speculate", "off"), user(repeats), nil)
	if !slices.Equal(r.ended.IDs, plain.ended.IDs) {
		t.Errorf("wrote %q, want %q", r.ended.Text, plain.ended.Text)
	}
	if again := write(t, s, user("hello"), nil); again.failed != "" {
		t.Errorf("the next reply: %s", again.failed)
	}
}
