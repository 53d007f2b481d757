package priced_test

import (
	"math"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/event"
	"specula/engine/host"
)

// From its first speculative round on, a session reports a speed-up. It is an estimate, marked as
// one, until there were enough plain rounds in replies; then it is measured.
func TestTheSpeedUpIsEstimatedUntilItIsMeasured(t *testing.T) {
	for name, settings := range map[string][]string{
		"default": nil, "greedy": {"temperature", "0"}, "a seed, which reckons with nominal costs": {"seed", "7"}, "fixed": {"gamma", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := load(t, assets.Draft(), "draft").NewSession(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i := 0; i < len(settings); i += 2 {
				if err := s.Change(settings[i], settings[i+1]); err != nil {
					t.Fatal(err)
				}
			}
			var estimate, measured float64
			for reply := range 12 {
				total, rounds := ask(t, s)
				drafted := reply > 0 && name != "a seed, which reckons with nominal costs" // with a seed it learns anew in each reply
				for _, r := range rounds {
					drafted = drafted || len(r.Draft) > 0
					switch {
					case drafted && r.Speedup == 0:
						t.Fatalf("reply %d, round %d: no speed-up", reply, r.Index)
					case r.SpeedupEstimated && measured > 0 && name != "a seed, which reckons with nominal costs":
						t.Fatalf("reply %d, round %d: an estimate in place of what was measured", reply, r.Index)
					case r.SpeedupEstimated:
						estimate = r.Speedup
					case r.Speedup > 0:
						measured = r.Speedup
					}
				}
				mustAddUp(t, total, rounds)
			}
			if estimate < 1.2 || estimate > 4 {
				t.Errorf("the estimate was %.2f", estimate)
			}
			if measured > 0 && math.Abs(estimate/measured-1) > 0.25 {
				t.Errorf("estimated %.2f, measured %.2f", estimate, measured)
			}
			if measured == 0 && name == "fixed" {
				t.Error("it was never measured")
			}
		})
	}
}

// mustAddUp fails if the speed-up of a reply is not the one that the events of its rounds give.
func mustAddUp(t *testing.T, total event.Totals, rounds []event.Round) {
	t.Helper()
	var alone, took float64
	for _, r := range rounds {
		if r.PlainMS <= 0 {
			t.Fatalf("round %d does not tell what a plain round costs", r.Index)
		}
		alone, took = alone+float64(r.CommittedCount())*r.PlainMS, took+r.MS()
	}
	want := alone / took
	if total.Drafted == 0 {
		want = 0
	}
	if math.Abs(total.Speedup-want) > 1e-6 {
		t.Errorf("the totals say %g, the rounds %g", total.Speedup, want)
	}
	last := rounds[len(rounds)-1]
	if estimated := want > 0 && (total.PlainRounds == 0 || last.SpeedupEstimated); total.SpeedupEstimated != estimated {
		t.Errorf("%d plain rounds, and the totals call the speed-up an estimate: %v", total.PlainRounds, total.SpeedupEstimated)
	}
}

// Two plain passes are timed when a session opens, however long they take. So rounds have a speed-up from the first
// draft on.
func TestPlainPassesAreTimedOnASlowMachine(t *testing.T) {
	plain := 0
	backend := &timed{Backend: host.New(1), now: time.Unix(0, 0), slow: func(rows int) float64 {
		if rows == 1 {
			plain++
		}
		return 2000 // 0.9 s a pass
	}}
	s, err := loadOn(t, backend, assets.Draft(), "draft").NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if plain != 2 {
		t.Errorf("%d plain passes were timed when the session was opened, want 2", plain)
	}
	for _, temperature := range []string{"0", "0.7"} {
		if err := s.Change("temperature", temperature); err != nil {
			t.Fatal(err)
		}
		drafted := false
		_, rounds := ask(t, s)
		for _, r := range rounds {
			if drafted = drafted || len(r.Draft) > 0; drafted && r.Speedup == 0 {
				t.Fatalf("temperature %s: round %d has no speed-up", temperature, r.Index)
			}
		}
		if !drafted {
			t.Errorf("temperature %s: nothing was drafted", temperature)
		}
	}
}
