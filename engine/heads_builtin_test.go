package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/proof"
	"specula/engine/weights/safetensors"
)

// needBuiltIn skips a test if the program was built without heads, which is allowed.
func needBuiltIn(t *testing.T) {
	t.Helper()
	if len(assets.Heads()) == 0 {
		t.Skip("no heads are built in: assets/training makes them")
	}
}

func refusals(ready event.Ready) map[string]string {
	list := map[string]string{}
	for _, p := range ready.Proposers {
		list[p.Name] = p.Refused
	}
	return list
}

func TestBuiltInHeadsCanBeChosen(t *testing.T) {
	needBuiltIn(t)
	ready := session(t, pair()).Ready()
	for _, h := range assets.Heads() {
		if why := refusals(ready)[h.Name]; why != "" {
			t.Errorf("%s: %s", h.Name, why)
		}
		if !strings.Contains(strings.ToLower(ready.Heads), h.Name) {
			t.Errorf("%s is not among the heads %q", h.Name, ready.Heads)
		}
	}
	if first := ready.Proposers[0].Name; first != "draft" {
		t.Errorf("the first proposer is %s, want the draft model", first)
	}
}

// Heads of another target load if the shapes agree, but guess no better than chance.
func TestBuiltInHeadsAreThoseOfTheTarget(t *testing.T) {
	needBuiltIn(t)
	for _, h := range assets.Heads() {
		s := session(t, pair(), "temperature", "0", "max-tokens", "40", "proposer", h.Name, "gamma-rule", "fixed", "gamma", "3")
		accepted, tested := 0, 0
		for _, prompt := range assets.Prompts()[:12] {
			r := write(t, s, user(prompt), nil)
			for _, round := range r.rounds {
				if len(round.Draft) > 0 {
					tested++
					accepted += min(1, round.Accepted)
				}
			}
		}
		t.Logf("%s: of %d first draft tokens %d were accepted", h.Name, tested, accepted)
		if tested == 0 || float64(accepted) < 0.25*float64(tested) {
			t.Errorf("%s: of %d first draft tokens only %d were accepted: were they trained on this target?", h.Name, tested, accepted)
		}
	}
}

func TestBuiltInHeadsAreFoundLossless(t *testing.T) {
	needBuiltIn(t)
	s := session(t, pair(), "temperature", "1")
	var names []string
	for _, h := range assets.Heads() {
		names = append(names, h.Name)
	}
	r, err := s.VerifyDist(t.Context(), engine.ProofOptions{Prompt: "Tell me a story.", Proposers: names,
		Options: proof.Options{Seconds: 600, Replies: 12, Seed: 1, Now: time.Now}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Matched() || r.Tested != 3*len(names) {
		t.Errorf("%d cases were tested, want %d that match: %+v", r.Tested, 3*len(names), r.Cases)
	}
}

// headSources are an EAGLE head and a Medusa head in place of the built-in ones; both echo (see echo).
func headSources(t *testing.T) (list []engine.HeadSource) {
	t.Helper()
	for _, h := range []struct{ name, path string }{{"eagle", eagleFile(t, false, echo(t))}, {"medusa", medusaFile(t, 4, echo(t))}} {
		weights, err := os.ReadFile(filepath.Join(h.path, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, engine.HeadSource{Name: h.name, Weights: weights})
	}
	return list
}

// misfit returns heads for a target of another width.
func misfit() *safetensors.Builder {
	var b safetensors.Builder
	b.Floats("0.0.linear.weight", compute.F32, make([]float32, 64*64), 64, 64)
	return &b
}

// Heads that the user names replace built-in heads of their kind; heads of the other kind stay. If the named heads do
// not fit, there are none.
func TestNamedHeadsComeBeforeThoseBuiltIn(t *testing.T) {
	o := options(host.New(1))
	sources := headSources(t)
	for _, c := range []struct {
		name, path string
		heads      []engine.HeadSource
		want       string
		refused    map[string]string // a part of the reason, by proposer
	}{
		{"both built in", "", sources, "EAGLE, 0.4 million parameters; Medusa, 4 heads, 4.5 million parameters", nil},
		{"Medusa named", medusaFile(t, 2, noise(7)), sources, "EAGLE, 0.4 million parameters; Medusa, 2 heads, 2.2 million parameters", nil},
		{"one kind", "", sources[:1], "EAGLE, 0.4 million parameters", map[string]string{"medusa": "--heads"}},
		{"named, and none built in", medusaFile(t, 2, noise(7)), nil, "Medusa, 2 heads, 2.2 million parameters", map[string]string{"eagle": "choose the proposer medusa"}},
		{"none", "", nil, "", map[string]string{"eagle": "--heads", "medusa": "--heads"}},
		{"named ones that do not fit", headFile(t, misfit(), ""), sources, "", map[string]string{"eagle": "allowed is 256", "medusa": "allowed is 256"}},
		{"built for another target", "", []engine.HeadSource{{Name: "medusa", Weights: misfit().Bytes()}}, "", map[string]string{"eagle": "--heads", "medusa": "allowed is 256"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o.Heads, o.Config.Model.Heads = c.heads, c.path
			e, err := engine.Load(t.Context(), o, func(event.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			ready := session(t, e).Ready()
			if ready.Heads != c.want {
				t.Errorf("heads %q, want %q", ready.Heads, c.want)
			}
			for name, why := range refusals(ready) {
				if name == "mtp" { // this target has no such head in its file
					continue
				}
				if want := c.refused[name]; want == "" && why != "" || !strings.Contains(why, want) {
					t.Errorf("%s: refused because %q, want %q", name, why, want)
				}
			}
		})
	}
}

// Both kinds of heads are loaded and switched in mid-reply; each has its own states.
func TestBothKindsOfHeadsInOneReply(t *testing.T) {
	o := options(host.New(1))
	o.Heads = headSources(t)
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{"temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "2"}
	plain := write(t, session(t, e, append(settings, "speculate", "off")...), user("Tell me a story."), nil)
	s := session(t, e, append(settings, "proposer", "eagle")...)
	r := write(t, s, user("Tell me a story."), func(ev event.Event) {
		if round, ok := ev.(event.Round); ok && round.Index%3 == 2 {
			change(t, s, "proposer", []string{"medusa", "draft", "eagle"}[round.Index/3%3])
		}
	})
	if r.failed != "" || !slices.Equal(r.ended.IDs, plain.ended.IDs) {
		t.Errorf("error %q, wrote %q, want %q", r.failed, r.ended.Text, plain.ended.Text)
	}
	for _, proposer := range []string{"eagle", "medusa"} {
		if heard, all := echoes(r.rounds, proposer, demoVocab); heard != all || all < 4 {
			t.Errorf("%s: %d of %d draft tokens echo the token before", proposer, heard, all)
		}
	}
}
