package priced_test

import (
	"testing"
	"time"

	"specula/assets"
	"specula/engine/host"
)

// A machine that is busy while a session is opened makes drafts look expensive. The first reply
// drafts nevertheless, and no regret above 30 % is reported.
func TestAColdStartOnABusyMachineDrafts(t *testing.T) {
	for name, slow := range map[string]func(rows int) float64{
		"quiet": nil,
		"passes of several rows take 13 times as long": func(rows int) float64 {
			if rows > 1 {
				return 13
			}
			return 1
		},
		"a pass takes a quarter of the time for measuring": func(rows int) float64 {
			if rows > 1 {
				return 130
			}
			return 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := &timed{Backend: host.New(1), now: time.Unix(0, 0), slow: slow}
			s, err := loadOn(t, backend, assets.Draft(), "draft").NewSession(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			backend.slow = nil
			total, rounds := ask(t, s)
			if total.PlainRounds > 4 {
				t.Errorf("%d of %d rounds were plain: %s", total.PlainRounds, total.Rounds, rounds[len(rounds)-1].GammaWhy)
			}
			for _, r := range rounds {
				if r.Regret != nil && *r.Regret > 0.3 {
					t.Errorf("round %d: %.0f %% slower than always γ %d", r.Index, 100**r.Regret, *r.BestFixedGamma)
				}
			}
		})
	}
}
