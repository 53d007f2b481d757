package pair

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"specula/engine/agreement"
	"specula/engine/bench/speed"
	"specula/engine/event"
	"specula/engine/exam"
	"specula/tokenizer/chat"
)

func options(t *testing.T, goals map[string]float64) Options {
	t.Helper()
	o := Options{Temperatures: []float64{0, 0.7}, Goals: goals, Dialogues: []agreement.Talk{{Turns: []chat.Message{{Role: "user", Content: "hi"}}}}}
	for _, name := range []string{"program", "copying"} {
		p, err := exam.Read(name, "id: a\nuser: key?\nmust: f1\n\nid: b\nuser: other key?\nmust: f2")
		if err != nil {
			t.Fatal(err)
		}
		o.Papers = append(o.Papers, p)
	}
	return o
}

// subject answers half of all questions.
func subject() Subject {
	return Subject{
		Answer: func(context.Context, []chat.Message) (string, error) { return "f1\x1b[2J", nil },
		Agreement: func(_ context.Context, d []agreement.Talk, temperatures []float64) (*agreement.Report, error) {
			r := &agreement.Report{Part: agreement.Part{Dialogues: len(d), Tokens: 50}, Cut: 1}
			for _, at := range temperatures {
				r.At = append(r.At, agreement.Agreement{Temperature: at, Alpha: 0.8, StandardError: 0.01})
			}
			for _, name := range []string{"forum", "small talk"} {
				r.Sources = append(r.Sources, agreement.Part{Source: name, Dialogues: 3, Tokens: 25, At: r.At})
			}
			return r, nil
		},
		Steps: func(context.Context) (speed.Steps, error) {
			return speed.Steps{TargetMS: 2, DraftMS: 0.2, Ratio: 0.1, LeastRatio: 0.09}, nil
		},
	}
}

func TestMissedGoalsAreNamed(t *testing.T) {
	tests := []struct {
		name   string
		goals  map[string]float64
		missed string
	}{
		{"none", nil, ""},
		{"all reached", map[string]float64{"program": 0.5, "copying": 0.4, "alpha-0": 0.8, "alpha-0.7": 0.1, "cost": 0.1}, ""},
		{"too little known", map[string]float64{"program": 0.51, "cost": 0.12}, "program"},
		{"too little agreement", map[string]float64{"alpha-0.7": 0.81}, "alpha-0.7"},
		{"too dear a draft", map[string]float64{"cost": 0.09}, "cost"},
	}
	for _, tt := range tests {
		r, err := Run(t.Context(), subject(), options(t, tt.goals), nil)
		if err != nil {
			t.Fatal(err)
		}
		missed := ""
		for _, g := range r.Goals {
			if !g.Reached {
				missed += g.Name
			}
		}
		if missed != tt.missed || r.Matched() != (tt.missed == "") || len(r.Goals) != len(tt.goals) {
			t.Errorf("%s: missed %q, want %q; %v", tt.name, missed, tt.missed, r.Goals)
		}
	}
}

// A goal without a measured figure must not count as reached.
func TestGoalsWithoutMeasurement(t *testing.T) {
	if _, err := Run(t.Context(), subject(), options(t, map[string]float64{"programm": 0.1}), nil); err == nil || !strings.Contains(err.Error(), "program, copying") {
		t.Errorf("a misspelt goal gives %v", err)
	}
	o := options(t, map[string]float64{"alpha-0": 0.1})
	o.Dialogues = nil
	if _, err := Run(t.Context(), subject(), o, nil); err == nil {
		t.Error("a goal for α was taken without dialogues to measure it on")
	}
	alone := Subject{Answer: subject().Answer}
	r, err := Run(t.Context(), alone, options(t, map[string]float64{"cost": 1, "alpha-0": 0}), nil)
	if err != nil || r.Matched() || r.Steps != nil || r.Agreement != nil {
		t.Errorf("a target without a draft: %+v, %v", r, err)
	}
}

func TestReport(t *testing.T) {
	r, err := Run(t.Context(), subject(), options(t, map[string]float64{"program": 0.9}), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Target = event.Model{Name: "big", Parameters: 5_770_000, WeightType: "Q8_0", WeightBytes: 6 << 20}
	var table bytes.Buffer
	coded, err := json.Marshal(r)
	if err := errors.Join(r.WriteTable(&table), err); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"program b\n  asked   other key?\n  reply   \"f1\\x1b[2J\"\n  wanted  one of: f2\n", "big, 5.77 M parameters, Q8_0, 6.00 MiB",
		"1 of 2, 50.0 %", "50 assistant tokens of 1 dialogues, 1 of them cut", "α at temperature 0.7   0.800 ± 0.010",
		"  small talk           0.800 ± 0.010 at 0, 0.800 ± 0.010 at 0.7 (25 tokens of 3 dialogues)",
		"draft 0.200 ms, target 2.000 ms, ratio 0.100, of the shortest 0.090", "missed: 0.500, wanted is at least 0.9",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	var back Report
	if err := json.Unmarshal(coded, &back); err != nil || back.Papers[0].Misses[0].ID != "b" || back.Agreement.At[0].Alpha != 0.8 {
		t.Errorf("read back %+v (%v)", back, err)
	}
}

func TestLongRepliesAreShownInPart(t *testing.T) {
	if got := beginning(strings.Repeat("é", shownReply+1)); got != strings.Repeat("é", shownReply)+"…" {
		t.Errorf("%d bytes are shown", len(got))
	}
	if got := beginning(strings.Repeat("é", shownReply)); got != strings.Repeat("é", shownReply) {
		t.Errorf("a reply that fits is shown as %q", got)
	}
}

func TestFailuresAreReported(t *testing.T) {
	broken := errors.New("device lost")
	for name, s := range map[string]Subject{
		"answer":    {Answer: func(context.Context, []chat.Message) (string, error) { return "", broken }},
		"agreement": {Answer: subject().Answer, Agreement: func(context.Context, []agreement.Talk, []float64) (*agreement.Report, error) { return nil, broken }},
		"steps":     {Answer: subject().Answer, Steps: func(context.Context) (speed.Steps, error) { return speed.Steps{}, broken }},
	} {
		if _, err := Run(t.Context(), s, options(t, nil), nil); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
