package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"

	"specula/engine/event"
)

// scripted is a session with known costs: a pass over one row takes 10 ms, one over three rows 12
// ms, a draft token 1 ms. A speculative round drafts two tokens and accepts one.
type scripted struct {
	settings map[string]string
	log      []string           // "reset", "plain 0 a", "spec 0.7 a", in the order of calls
	differ   string             // the prompt whose speculative greedy text differs
	fail     string             // the prompt that fails
	silent   string             // the prompt whose reply never ends
	slow     map[string]float64 // by entry of log: a factor on the reply's time, used once
	drifts   string             // the prompt for which a score differs at one position
}

func (s *scripted) CompareWithDecoding(_ context.Context, prompt string, rounds []event.Round) (compared, differ int, err error) {
	if prompt == s.drifts {
		differ = 1
	}
	return 2 * len(rounds), differ, nil
}

func (s *scripted) Change(name, value string) error {
	if s.settings == nil {
		s.settings = map[string]string{}
	}
	s.settings[name] = value
	return nil
}

func (s *scripted) Reset() error { s.log = append(s.log, "reset"); return nil }

func (s *scripted) Reply(ctx context.Context, prompt string) iter.Seq[event.Event] {
	speculative := s.settings["speculation.enabled"] == "true"
	kind := map[bool]string{true: "spec", false: "plain"}[speculative]
	call := fmt.Sprintf("%s %s %s", kind, s.settings["sampling.temperature"], prompt)
	s.log = append(s.log, call)
	times := max(1, s.slow[call])
	delete(s.slow, call)
	return func(yield func(event.Event) bool) {
		if prompt == s.fail && !yield(event.Failed{Error: "not finite"}) {
			return
		}
		ended := event.ReplyEnded{IDs: []int32{1, 2, 3, 4}}
		t := &ended.Totals
		t.Tokens = 4
		rounds := 4
		if speculative {
			rounds = 2
			t.Drafted, t.Tested, t.Accepted, t.PositionTested, t.PositionKept = 5, 4, 2, []int{2, 2}, []int{2, 0}
			if prompt == s.differ {
				ended.IDs = []int32{1, 2, 9, 4}
			}
		}
		for range rounds {
			r := event.Round{VerifyMS: 1, SampleMS: 9} // as on a device: it is waited for when the token is chosen
			if speculative {
				r = event.Round{VerifyMS: 12, DraftMS: 2, Draft: make([]event.Token, 2)}
			}
			t.Rounds++
			t.VerifyMS += times * r.VerifyMS
			t.SampleMS += times * r.SampleMS
			t.DraftMS += r.DraftMS
			if !yield(r) {
				return
			}
		}
		if prompt != s.silent {
			yield(ended)
		}
	}
}

func run(t *testing.T, s *scripted, prompts ...string) (*Report, error) {
	t.Helper()
	return Run(t.Context(), s, Options{Prompts: prompts, GenTokens: 4, Temperature: 0.7, Seed: 5}, nil)
}

func TestEveryPromptIsAnsweredFourWaysInAlternatingOrder(t *testing.T) {
	s := &scripted{}
	if _, err := run(t, s, "a", "b"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"reset", "spec 0 a", // the reply that is not measured
		"reset", "spec 0 a", "reset", "plain 0 a", "reset", "spec 0.7 a", "reset", "plain 0.7 a",
		"reset", "plain 0 b", "reset", "spec 0 b", "reset", "plain 0.7 b", "reset", "spec 0.7 b",
	}
	if !reflect.DeepEqual(s.log, want) {
		t.Errorf("got  %q\nwant %q", s.log, want)
	}
	if s.settings["sampling.max_tokens"] != "4" || s.settings["sampling.seed"] != "6" {
		t.Errorf("settings: %v", s.settings)
	}
}

func TestFiguresOfAKnownSession(t *testing.T) {
	r, err := run(t, &scripted{}, "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	g := r.Greedy
	if !r.Matched() || r.Same != 3 || len(r.Mismatches) != 0 {
		t.Errorf("matched %v, same %d, mismatches %v", r.Matched(), r.Same, r.Mismatches)
	}
	check := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	check("plain ms per token", g.Plain.MSPerToken(), 10)            // 4 passes of 10 ms for 4 tokens
	check("speculative ms per token", g.Speculative.MSPerToken(), 7) // 2 rounds of 12+2 ms for 4 tokens
	check("tokens per pass", g.Speculative.TokensPerPass(), 2)
	check("acceptance", g.Speculative.Acceptance(), 0.5)
	check("speed-up", g.Speedup.Value, 10.0/7)
	// All prompts have the same ratio, so resampling cannot change it.
	check("low end", g.Speedup.Low, 10.0/7)
	check("high end", g.Speedup.High, 10.0/7)
	// E = 1 + 0.5 + 0.25 tokens for the time of 2·1/10 + 12/10 plain passes.
	check("prediction", g.Predicted.Speedup, 1.75/1.4)
	if want := []Share{{6, 6}, {6, 0}}; !reflect.DeepEqual(g.Speculative.Positions, want) {
		t.Errorf("positions %v, want %v", g.Speculative.Positions, want)
	}
}

// Each repeat reverses the order. The result is the reply of median time for each kind.
func TestOfRepeatsTheMedianCounts(t *testing.T) {
	s := &scripted{slow: map[string]float64{"plain 0.7 a": 5, "spec 0 b": 7}} // only the first time
	r, err := Run(t.Context(), s, Options{Prompts: []string{"a", "b"}, GenTokens: 4, Temperature: 0.7, Seed: 5, Repeats: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.log[2:18:18], s.log[18:34:34]; got[1] != "spec 0 a" || want[1] != "plain 0 a" || len(s.log) != 2+3*16 {
		t.Errorf("the first repeat %q, the second %q, %d calls in all", got, want, len(s.log))
	}
	for _, m := range []Mode{r.Greedy, r.Sampled} {
		if plain, speculative := m.Plain.MSPerToken(), m.Speculative.MSPerToken(); plain != 10 || speculative != 7 {
			t.Errorf("temperature %g: %g and %g ms a token, want 10 and 7", m.Temperature, plain, speculative)
		}
	}
	if r.Repeats != 3 || r.Prompts != 2 || r.Same != 2 {
		t.Errorf("%d repeats of %d prompts, %d the same", r.Repeats, r.Prompts, r.Same)
	}
}

func TestADifferentGreedyTextIsNamed(t *testing.T) {
	r, err := run(t, &scripted{differ: "b"}, "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	if r.Matched() || r.Same != 2 || !reflect.DeepEqual(r.Mismatches, []Mismatch{{"b", 2}}) {
		t.Errorf("same %d, mismatches %v", r.Same, r.Mismatches)
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"matched", "false, 2 of 3", `differs from token 2 on: "b"`} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}

func TestAScoreThatDiffersIsNoMatch(t *testing.T) {
	r, err := run(t, &scripted{drifts: "b"}, "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	if r.Matched() || !r.AllSame || !strings.Contains(table.String(), "1 of 12") {
		t.Errorf("matched %v, texts the same %v:\n%s", r.Matched(), r.AllSame, &table)
	}
}

// The report also has the figures of other benchmarks of speculative decoding, under their names.
func TestJSONHasTheCommonNames(t *testing.T) {
	r, err := run(t, &scripted{drifts: "a"}, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	coded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(coded, &back); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"matched": true, "verify_decode_mismatches": 1.0, "verify_decode_compared": 8.0, "acceptance_rate": 0.4, "speedup_e2e": 10.0 / 7,
		"spec_e2e_tpot_ms": 7.0, "baseline_e2e_tpot_ms": 10.0, "tokens_per_target_step": 2.0,
	} {
		if back[name] != want {
			t.Errorf("%s is %v, want %v", name, back[name], want)
		}
	}
}

func TestFailuresEndTheRun(t *testing.T) {
	if _, err := run(t, &scripted{fail: "b"}, "a", "b"); err == nil || !strings.Contains(err.Error(), `answering "b": not finite`) {
		t.Errorf("a failed reply: %v", err)
	}
	if _, err := run(t, &scripted{silent: "b"}, "a", "b"); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("a reply without an end: %v", err)
	}
	if _, err := run(t, &scripted{}); err == nil {
		t.Error("no prompts were accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, &scripted{}, Options{Prompts: []string{"a"}, GenTokens: 1}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFirstDifference(t *testing.T) {
	for _, tt := range []struct {
		a, b []int32
		want int
	}{{nil, nil, -1}, {[]int32{1, 2}, []int32{1, 2}, -1}, {[]int32{1, 2}, []int32{1}, 1}, {nil, []int32{1}, 0}, {[]int32{1, 2, 3}, []int32{1, 9, 3}, 1}} {
		if got := firstDifference(tt.a, tt.b); got != tt.want {
			t.Errorf("%v and %v: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// With prompts of different ratios, the interval must contain the value and lie between the
// extremes.
func TestIntervalOfUnequalPrompts(t *testing.T) {
	var pairs []pair
	for _, plainMS := range []float64{10, 20, 30, 40} {
		p := pair{}
		p.plain.totals = event.Totals{Tokens: 10, VerifyMS: 10 * plainMS}
		p.speculative.totals = event.Totals{Tokens: 10, VerifyMS: 100}
		pairs = append(pairs, p)
	}
	i := speedup(pairs, 1)
	if i.Value != 2.5 || !(1 <= i.Low && i.Low < 2.5 && 2.5 < i.High && i.High <= 4) {
		t.Errorf("got %+v", i)
	}
	if again := speedup(pairs, 1); *again != *i {
		t.Errorf("the same measurements gave %+v and %+v", i, again)
	}
	if speedup([]pair{{}}, 1) != nil {
		t.Error("pairs without tokens gave a speed-up, want none")
	}
}

// expectedTokens gives the geometric series, which is summed term by term here.
func TestExpectedTokens(t *testing.T) {
	for _, alpha := range []float64{0, 0.3, 0.9, 1} {
		for gamma := range 9 {
			want, term := 0.0, 1.0
			for range gamma + 1 {
				want += term
				term *= alpha
			}
			if got := expectedTokens(alpha, gamma); math.Abs(got-want) > 1e-12 {
				t.Errorf("α %g, γ %d: got %g, want %g", alpha, gamma, got, want)
			}
		}
	}
}

// A published value: α 0.8, c 0.05 and flat verification give 3.09 at γ = 8.
func TestPredictionOfAFlatVerification(t *testing.T) {
	p := pair{}
	p.plain.rounds = []round{{verifyMS: 1}}
	p.speculative.rounds = []round{{drafted: 8, draftMS: 8 * 0.05, verifyMS: 1}}
	if got := predict([]pair{p}, 0.8); math.Abs(got.Speedup-3.09) > 0.005 {
		t.Errorf("predicted %.4f, published is 3.09", got.Speedup)
	}
	if predict([]pair{{}}, 0.8) != nil {
		t.Error("pairs without rounds gave a prediction, want none")
	}
}

func TestJSONHasTheFiguresOfTheTable(t *testing.T) {
	r, err := run(t, &scripted{}, "a")
	if err != nil {
		t.Fatal(err)
	}
	coded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(coded, &back); err != nil {
		t.Fatal(err)
	}
	speedup := back["greedy"].(map[string]any)["speedup"].(map[string]any)["value"].(float64)
	if back["same"] != 1.0 || math.Abs(speedup-10.0/7) > 1e-12 || back["mismatches"] == nil {
		t.Errorf("got %s", coded)
	}
}

func Example() {
	r, err := Run(context.Background(), &scripted{}, Options{Prompts: []string{"a", "b"}, GenTokens: 4, Temperature: 0.7}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("matched %v, acceptance %.0f %%, %.2f× faster, predicted %.2f×\n",
		r.Matched(), 100*r.Greedy.Speculative.Acceptance(), r.Greedy.Speedup.Value, r.Greedy.Predicted.Speedup)
	// Output: matched true, acceptance 50 %, 1.43× faster, predicted 1.25×
}
