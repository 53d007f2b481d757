package engine_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"specula/assets"
	"specula/engine"
	"specula/engine/compute"
	"specula/engine/doctor"
	"specula/engine/event"
	"specula/engine/host"
	"specula/tokenizer/chat"
)

// cacheTypes are the types in which the CPU can keep keys and values.
var cacheTypes = []string{"f32", "f16", "q8_0"}

// keeping loads the embedded pair with caches of the given type.
func keeping(t *testing.T, cache string) *engine.Engine {
	t.Helper()
	o := options(host.New(1))
	o.Config.Context.Cache = cache
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// With every type of cache, no proposer changes the greedy text, and tokens of the draft model are accepted.
func TestSpeculationNeverChangesGreedyTextWithAnyCache(t *testing.T) {
	for _, cache := range cacheTypes[1:] { // the first is that of the other tests
		t.Run(cache, func(t *testing.T) {
			e := keeping(t, cache)
			plain := session(t, e, "temperature", "0", "max-tokens", "40", "speculate", "false")
			for _, proposer := range available(t) {
				fast := session(t, e, "temperature", "0", "max-tokens", "40", "proposer", proposer, "gamma-rule", "fixed", "gamma", "5", "trust", "0.1")
				accepted := 0
				for _, p := range assets.Prompts()[:3] {
					want, got := write(t, plain, user(p), nil), write(t, fast, user(p), nil)
					if !slices.Equal(want.ended.IDs, got.ended.IDs) {
						t.Errorf("%s, %q: plain %q, with speculation %q", proposer, p, want.ended.Text, got.ended.Text)
					}
					accepted += got.ended.Totals.Accepted
				}
				if proposer == "draft" && accepted == 0 {
					t.Error("no drafted token was accepted in all of the prompts")
				}
			}
		})
	}
}

// A seed gives the same text again, although drafts were rejected and rolled back. A cache that one turn
// takes over from the turn before equals a cache after reading everything again.
func TestCachesAreTakenBackWhole(t *testing.T) {
	for _, cache := range cacheTypes {
		t.Run(cache, func(t *testing.T) {
			e := keeping(t, cache)
			settings := []string{"temperature", "1", "seed", "7", "gamma-rule", "fixed", "max-tokens", "60"}
			first, again := write(t, session(t, e, settings...), user(unsure()[0]), nil), session(t, e, settings...)
			write(t, again, user("hello"), nil)
			if second := write(t, again, user(unsure()[0]), nil); !slices.Equal(first.ended.IDs, second.ended.IDs) {
				t.Errorf("first %q, then %q", first.ended.Text, second.ended.Text)
			}
			if totals := first.ended.Totals; totals.Tested == totals.Accepted {
				t.Error("nothing was rejected: the test says nothing about rollback")
			}

			messages := slices.Concat(user(unsure()[0]), []chat.Message{{Role: "assistant", Content: first.ended.Text}, {Role: "user", Content: "who are you?"}})
			change(t, again, "temperature", "0")
			reused, fresh := write(t, again, messages, nil), write(t, session(t, e, "temperature", "0", "max-tokens", "60"), messages, nil)
			if reused.started.ReusedTokens <= fresh.started.ReusedTokens || !slices.Equal(reused.ended.IDs, fresh.ended.IDs) {
				t.Errorf("with %d tokens reused %q, with %d %q", reused.started.ReusedTokens, reused.ended.Text, fresh.started.ReusedTokens, fresh.ended.Text)
			}
		})
	}
}

// The doctor finds the same bits in passes of every number of rows, and reports the smaller cache.
func TestTheDoctorFindsACacheInBlocksHealthy(t *testing.T) {
	examined := func(cache string) *doctor.Report {
		s := session(t, keeping(t, cache), "gamma-max", "4")
		r, err := s.Examine(t.Context(), doctor.Options{Seconds: 600, Prompts: []string{"hello"}, Now: time.Now}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	wide, packed := examined("f32"), examined("q8_0")
	if !packed.Matched() {
		t.Errorf("the doctor found differences: %+v", packed)
	}
	if packed.Memory.CacheBytes*128 != wide.Memory.CacheBytes*34 {
		t.Errorf("a conversation takes %d bytes in q8_0 and %d in f32, want 34/128 of them", packed.Memory.CacheBytes, wide.Memory.CacheBytes)
	}
}

// asking is a device that refuses every cache, and records which types of cache it was asked for.
type asking struct {
	compute.Backend
	kind  string
	asked []compute.DType
}

var errKeepsNothing = errors.New("keeps nothing")

func (b *asking) Info() compute.Info { return compute.Info{Kind: b.kind, Name: "a device"} }

func (b *asking) CheckCache(shape compute.CacheShape) error {
	b.asked = append(b.asked, shape.Type)
	return errKeepsNothing
}

// wishing is a CPU backend that calls itself a GPU and asks for rows rows in a pass over a prompt. In most it
// records the most rows for which a model makes room.
type wishing struct {
	compute.Backend
	rows, most int
}

func (b *wishing) Info() compute.Info { return compute.Info{Kind: "cuda", PromptRows: b.rows} }

func (b *wishing) Buffer(maxRows, cols int) (compute.Buffer, error) {
	b.most = max(b.most, maxRows)
	return b.Backend.Buffer(maxRows, cols)
}

func TestADeviceChoosesTheRowsOfAPrompt(t *testing.T) {
	for wish, want := range map[int]int{0: 128, 300: 300, 512: 512} {
		b := &wishing{Backend: host.New(1), rows: wish}
		o := options(b)
		o.Draft, o.Heads = engine.Source{}, nil
		if _, err := engine.Load(t.Context(), o, func(event.Event) {}); err != nil {
			t.Fatal(err)
		}
		if b.most != want {
			t.Errorf("a device that asks for %d rows gets passes of %d, want %d", wish, b.most, want)
		}
	}
}

// auto means a different type on each device; on the CPU it is F32 for a model as small as the demo pair. If the
// device refuses the type, loading fails.
func TestTheSettingNamesTheCacheType(t *testing.T) {
	for _, c := range []struct {
		cache, kind string
		want        compute.DType
	}{
		{"auto", "cpu", compute.F32}, {"f32", "cpu", compute.F32}, {"f16", "cpu", compute.F16}, {"q8_0", "cpu", compute.Q8_0},
		{"auto", "cuda", compute.F16}, {"f32", "cuda", compute.F32}, {"f16", "cuda", compute.F16}, {"q8_0", "cuda", compute.Q8_0},
	} {
		b := &asking{kind: c.kind}
		o := options(b)
		o.Config.Context.Cache = c.cache
		_, err := engine.Load(t.Context(), o, func(event.Event) {})
		if !errors.Is(err, errKeepsNothing) || !slices.Equal(b.asked, []compute.DType{c.want}) {
			t.Errorf("%s on %s: asked for the type numbers %d, error %v, want %d", c.cache, c.kind, b.asked, err, c.want)
		}
	}
}
