//go:build cuda && linux && cgo

package gpu_test

import (
	"strings"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
)

// demoWithHeads loads the demo pair with its heads. change, which may be nil, may change the options.
func demoWithHeads(t *testing.T, b compute.Backend, change func(*engine.Options)) *engine.Engine {
	t.Helper()
	o := engine.Options{
		Config: config.Default(), Backend: b, Now: time.Now, NewSeed: func() int64 { return 1 },
		Target: engine.Source{Name: "demo target", Embedded: assets.Target()},
		Draft:  engine.Source{Name: "demo draft", Embedded: assets.Draft()},
	}
	for _, h := range assets.Heads() {
		o.Heads = append(o.Heads, engine.HeadSource(h))
	}
	if change != nil {
		change(&o)
	}
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The path that a round shows is the path that it took. The bytes that crossed from the device
// prove it.
func TestTheShownPathIsTheOneThatRan(t *testing.T) {
	b := open(t)
	together := demoWithHeads(t, b, nil)
	apart := demoWithHeads(t, b, func(o *engine.Options) { o.DraftBackend = host.New(1) })
	const onProcessor = "what the draft was drawn from is on the processor, so whole rows are judged there"
	for _, c := range []struct {
		name     string
		e        *engine.Engine
		settings []string
		path     string
		why      string // a part of it
	}{
		{"token", together, nil, "stochastic", "no filter depends on earlier tokens"},
		{"block", together, []string{"acceptance", "block"}, "stochastic", "no filter depends on earlier tokens"},
		{"block, a draft model on the processor", apart, []string{"acceptance", "block"}, "fallback", onProcessor},
		{"exact", together, []string{"acceptance", "exact"}, "stochastic", "no filter depends on earlier tokens"},
		{"exact and heads", together, []string{"acceptance", "exact", "proposer", "eagle"}, "stochastic", "no filter depends on earlier tokens"},
		{"exact, a draft model on the processor", apart, []string{"acceptance", "exact"}, "stochastic", "no filter depends on earlier tokens"},
		{"exact and biases", together, []string{"acceptance", "exact", "logit-bias", " the=-2"}, "stochastic", "the device changes the scores by"},
		{"typical-lossy", together, []string{"acceptance", "typical-lossy"}, "fallback", "the rule typical-lossy needs whole rows"},
		{"guidance", together, []string{"guidance", "1.5"}, "stochastic", "the device changes the scores by guidance 1.5"},
		{"guidance at temperature 0", together, []string{"guidance", "1.5", "temperature", "0"}, "greedy",
			"the device changes the scores by guidance 1.5"},
		{"guidance and block", together, []string{"guidance", "1.5", "acceptance", "block"}, "stochastic",
			"the device changes the scores by guidance 1.5"},
		{"block and penalties", together, []string{"repeat-penalty", "1.3", "acceptance", "block"}, "stochastic", "the device changes the scores by penalties"},
		{"guidance, a draft model on the processor", apart, []string{"guidance", "1.5"}, "fallback", onProcessor},
		{"guidance and heads", together, []string{"guidance", "1.5", "proposer", "eagle", "temperature", "0"}, "greedy",
			"the device changes the scores by guidance 1.5"},
		{"block at temperature 0", together, []string{"acceptance", "block", "temperature", "0"},
			"greedy", "temperature 0"},
		{"penalties", together, []string{"repeat-penalty", "1.3"}, "stochastic", "the device changes the scores by penalties"},
		{"penalties and bans at temperature 0", together, []string{"presence-penalty", "0.5", "ban", ",", "temperature", "0"}, "greedy",
			"the device changes the scores by penalties and banned tokens"},
		{"penalties of a short text", together, []string{"repeat-penalty", "1.3", "penalty-last", "8"}, "fallback",
			"scores are changed by penalties"},
		{"penalties, a draft model on the processor", apart, []string{"repeat-penalty", "1.3"}, "fallback", onProcessor},
		{"penalties at temperature 0, a draft model on the processor", apart, []string{"repeat-penalty", "1.3", "temperature", "0"}, "greedy",
			"the device changes the scores by penalties"},
		{"a form", together, []string{"regex", "[a-z ]+"}, "stochastic", "the device changes the scores by regular expression"},
		{"a form, a draft model on the processor", apart, []string{"regex", "[a-z ]+"}, "fallback", onProcessor},
		{"text that a form forces", together, []string{"regex", "(who are you )+", "proposer", "ngram"}, "stochastic", "the device changes the scores by regular expression"},
		{"allowed tokens at temperature 0", together, []string{"allow", `["a"," I"," am","."]`, "temperature", "0"}, "greedy",
			"the device changes the scores by allowed tokens"},
		{"heads", together, []string{"proposer", "eagle"}, "fallback", onProcessor},
		{"a draft model on the processor", apart, nil, "fallback", onProcessor},
		{"a draft model on the processor, at temperature 0", apart, []string{"temperature", "0"},
			"greedy", "temperature 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sampledSession(t, c.e, append([]string{"max-tokens", "6", "gamma", "2"}, c.settings...)...)
			r := ask(t, s, "who are you?")
			drafted := 0
			for _, round := range r.rounds {
				crossed(t, round)
				path, why := c.path, c.why
				if why == onProcessor && len(round.Draft) == 0 {
					path, why = "stochastic", "temperature 0.8" // nothing was drawn
				}
				if round.Path != path || !strings.Contains(round.PathWhy, why) {
					t.Errorf("round %d, %d draft tokens: %s: %s; want %s: %s", round.Index,
						len(round.Draft), round.Path, round.PathWhy, path, why)
				}
				drafted += len(round.Draft)
			}
			if r.failed != "" || drafted == 0 {
				t.Errorf("%d draft tokens, %s", drafted, r.failed)
			}
		})
	}
}

// crossed checks that as many bytes crossed from the device as the path of a round needs.
func crossed(t *testing.T, r event.Round) {
	t.Helper()
	const vocab = 4096
	rows, got := int64(r.Gamma+1), r.BytesMoved
	var fits bool
	switch r.Path {
	case "greedy":
		fits = got <= 4*rows
	case "stochastic":
		fits = got <= 8*rows || r.Rule == "block" && got <= 12*rows-4
	default:
		fits = got >= 4*vocab
	}
	if !fits || got == 0 {
		t.Errorf("round %d of %d draft tokens moved %d bytes on the path %s", r.Index, r.Gamma, got, r.Path)
	}
}

// A minimum of tokens keeps no round from the device, before it is reached or after. At temperature 0 the text
// is compared with the one that the host writes.
func TestRoundsOfAMinimumAreJudgedOnTheDevice(t *testing.T) {
	const least = 3
	e := demo(t, open(t))
	for _, c := range []struct{ temperature, path string }{{"0", "greedy"}, {"0.8", "stochastic"}} {
		s := sampledSession(t, e, "temperature", c.temperature, "gamma", "2", "max-tokens", "12",
			"min-tokens", "3")
		r := ask(t, s, "hello")
		written, over := 0, 0
		for _, round := range r.rounds {
			crossed(t, round)
			if round.Path != c.path {
				t.Errorf("temperature %s, after %d tokens: %s: %s; want %s", c.temperature, written,
					round.Path, round.PathWhy, c.path)
			}
			if written >= least && len(round.Draft) > 0 {
				over++
			}
			written += len(round.Committed())
		}
		if r.failed != "" || over == 0 {
			t.Errorf("temperature %s: %d rounds on the device had a draft, %s", c.temperature, over, r.failed)
		}
		if c.temperature == "0" {
			set(t, s, wholeRows...)
			if whole := ask(t, s, "hello"); whole.text != r.text {
				t.Errorf("%q, on the fallback path %q", r.text, whole.text)
			}
		}
	}
}

// Penalties cost no wait and no row: rounds are drafted and judged on the device as without them. Text and
// inspection are those of a host that judges whole rows.
func TestPenalisedRoundsAreOneWait(t *testing.T) {
	e := demo(t, open(t))
	for _, c := range []struct {
		temperature, path string
		rowBytes          int64
	}{{"0", "greedy", 4}, {"0.8", "stochastic", 8}} {
		s := sampledSession(t, e, "temperature", c.temperature, "gamma", "3", "max-tokens", "24", "repeat-penalty", "1.4",
			"frequency-penalty", "0.3", "presence-penalty", "0.2")
		const prompt = "repeat after me: one two three one two three one"
		r := ask(t, s, prompt)
		drafted := 0
		for _, round := range r.rounds {
			if most := c.rowBytes * int64(round.Gamma+1); round.Path != c.path || round.Syncs != 1 || round.BytesMoved > most {
				t.Errorf("round %d: %s (%s), %d waits and %d bytes; want %s, 1 and at most %d", round.Index, round.Path,
					round.PathWhy, round.Syncs, round.BytesMoved, c.path, most)
			}
			drafted += len(round.Draft)
		}
		if r.failed != "" || drafted == 0 {
			t.Errorf("temperature %s: %d draft tokens, %s", c.temperature, drafted, r.failed)
		}
		if seen := inspect(t, s, prompt); seen.text != r.text {
			t.Errorf("%q, inspected %q", r.text, seen.text)
		} else if c.temperature != "0" {
			for _, round := range seen.rounds {
				for _, rule := range round.Rules {
					if rule.Rule == "token" && rule.Accepted != round.Accepted {
						t.Errorf("round %d kept %d, and by the host's distributions %d", round.Index, round.Accepted, rule.Accepted)
					}
				}
			}
		}
		if c.temperature == "0" {
			set(t, s, wholeRows...)
			if whole := ask(t, s, prompt); whole.text != r.text || whole.rounds[0].Path != "fallback" {
				t.Errorf("%q, on the path %s %q", r.text, whole.rounds[0].Path, whole.text)
			}
			set(t, s, "dry-multiplier", "0", "repeat-penalty", "1", "frequency-penalty", "0", "presence-penalty", "0")
			if plain := ask(t, s, prompt); plain.text == r.text {
				t.Errorf("penalties do not change %q", r.text)
			}
		}
	}
}
