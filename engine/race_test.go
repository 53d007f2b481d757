package engine_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"specula/engine/config"
	"specula/engine/event"
)

type raced struct {
	text    [2]string
	ms      [2]float64
	turns   []int // the lane of each round
	outcome event.RaceOutcome
	ahead   float64 // by how many milliseconds more than the longest round takes a lane was ahead of the other
}

func race(t *testing.T, lanes [2][]config.Value, after bool, settings ...string) raced {
	t.Helper()
	race, err := session(t, pair(), append(settings, "max-tokens", "40")...).NewRace(t.Context(), lanes, after)
	if err != nil {
		t.Fatal(err)
	}
	defer race.Close()
	var r raced
	longest := 0.0
	var ended [2]bool
	for i, e := range race.Run(t.Context(), user("Tell me a story.")) {
		switch e := e.(type) {
		case event.Round:
			if !ended[0] && !ended[1] && !after {
				longest = max(longest, e.MS())
				r.ahead = max(r.ahead, math.Abs(r.ms[0]-r.ms[1])-longest)
			}
			r.ms[i] += e.MS()
			r.turns = append(r.turns, i)
		case event.ReplyEnded:
			r.text[i], ended[i] = e.Text, true
		case event.Failed:
			t.Error(e.Error)
		}
	}
	r.outcome = race.Outcome()
	return r
}

func values(text string) []config.Value {
	var list []config.Value
	for part := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(part, "=")
		list = append(list, config.Value{Name: name, Text: value})
	}
	return list
}

func TestRaceComparesTextsThatMustBeEqual(t *testing.T) {
	plain, fast := values("speculate=off"), values("gamma-rule=fixed gamma=3")
	for _, c := range []struct {
		name     string
		lanes    [2][]config.Value
		settings []string
		compared bool
	}{
		{"greedy", [2][]config.Value{plain, fast}, []string{"temperature", "0"}, true},
		{"greedy, lossy rule", [2][]config.Value{plain, values("acceptance=typical-lossy proposer=ngram")}, []string{"temperature", "0"}, true},
		{"exact match", [2][]config.Value{plain, fast}, []string{"temperature", "0.8", "acceptance", "exact"}, true},
		{"sampled", [2][]config.Value{plain, fast}, []string{"temperature", "0.8"}, false},
		{"two temperatures", [2][]config.Value{values("temperature=0"), values("temperature=1")}, nil, false},
	} {
		r := race(t, c.lanes, false, c.settings...)
		if r.outcome.Compared != c.compared || r.outcome.Same != c.compared || r.outcome.Why == "" || r.text[0] == "" || r.text[1] == "" {
			t.Errorf("%s: %+v of %q, want compared and same %t, with a reason", c.name, r.outcome, r.text, c.compared)
		}
		if c.compared && r.text[0] != r.text[1] {
			t.Errorf("%s: told to be the same, but the texts are %q", c.name, r.text)
		}
	}
}

func TestRaceSharesTheEnginesTime(t *testing.T) {
	lanes := [2][]config.Value{values("speculate=off"), values("gamma-rule=fixed gamma=4")}
	r := race(t, lanes, false, "temperature", "0")
	if r.ahead > 0 {
		t.Errorf("a lane was ahead by the longest round and another %g ms, want at most by the longest round", r.ahead)
	}
	changes := 0
	for i := range len(r.turns) - 1 {
		if r.turns[i] != r.turns[i+1] {
			changes++
		}
	}
	if changes < 4 {
		t.Errorf("at once, the lanes took turns %v: %d changes, want at least 4", r.turns, changes)
	}
	one := race(t, lanes, true, "temperature", "0")
	if !slices.IsSorted(one.turns) || len(slices.Compact(one.turns)) != 2 {
		t.Errorf("one after the other, they took turns %v", one.turns)
	}
}

func TestRaceRefusesWhatItCannotRun(t *testing.T) {
	s := session(t, pair())
	for settings, want := range map[string]string{
		"gamma=99":     "the settings of lane b: speculation.gamma cannot be 99",
		"target=x":     "model.target holds for both lanes",
		"no-such=1":    "lane b",
		"threads=1024": "device.threads holds for both lanes",
		"ban=4096":     "the settings of lane b: tokens.banned: there is no token 4096",
	} {
		if _, err := s.NewRace(t.Context(), [2][]config.Value{nil, values(settings)}, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", settings, err, want)
		}
	}
}
