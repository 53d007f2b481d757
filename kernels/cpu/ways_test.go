package cpu

import (
	"testing"
	"time"
)

func TestFastestWay(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  float64            // way 1 must take less than this share of the time of way 0
		ways   [2][]time.Duration // what the runs of each way take
		chosen int
	}{
		{"the second is faster", 1, [2][]time.Duration{{5, 5}, {4, 4}}, 1},
		{"the first is as fast", 1, [2][]time.Duration{{4, 4}, {4, 4}}, 0},
		{"one run of the second is disturbed", 1, [2][]time.Duration{{5, 5}, {90, 4}}, 1},
		{"the second is not clearly faster", 0.9, [2][]time.Duration{{100, 100}, {95, 95}}, 0},
		{"the second is clearly faster", 0.9, [2][]time.Duration{{100, 100}, {85, 85}}, 1},
	} {
		got := fastest(0, tt.limit, func(way int) time.Duration {
			took := tt.ways[way][0]
			tt.ways[way] = tt.ways[way][1:]
			return took
		})
		if got != tt.chosen {
			t.Errorf("%s: fastest chose way %d, not %d", tt.name, got, tt.chosen)
		}
	}
}

func TestWaysAreSaid(t *testing.T) {
	if s := (Ways{}).String(); s != "" {
		t.Errorf("no choice, but it says %q", s)
	}
	said := map[string]bool{}
	for i := range 8 {
		w := Ways{WidenFirst: i&1 > 0, Prefetching: Prefetching{FillCaches: i&2 > 0, SecondCache: i&4 > 0}, measured: true}
		said[w.String()] = true
	}
	if len(said) != 8 {
		t.Errorf("8 choices have %d sentences: %v", len(said), said)
	}
}
