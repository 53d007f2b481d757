package remote

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"specula/engine/remote/imitation"
	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
	"specula/engine/spec/gate"
)

// worldServer serves the target of a world.
func worldServer(w *gate.World, vllm bool) *imitation.Server {
	return &imitation.Server{VLLM: vllm, Model: "world", Context: 64, Slots: 8, Rand: rand.New(rand.NewPCG(1, 2)),
		Scores: func(ids []int32) []float32 {
			if len(ids) == 0 {
				return make([]float32, w.Vocab)
			}
			return w.TargetScores(min(len(ids)-1, w.Depth-1), ids[len(ids)-1])
		}}
}

func connect(t testing.TB, s *imitation.Server) *Server {
	t.Helper()
	server, err := Connect(t.Context(), Options{URL: "http://server", Limit: time.Hour, transport: direct{s}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// direct carries requests to a handler without a network.
type direct struct{ to http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.to.ServeHTTP(w, r)
	answer := w.Result()
	answer.Request = r
	return answer, nil
}

// restless is a target with a planted bug: tokens outside the row get no probability.
type restless struct{ *Target }

func (r restless) Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (round.Pass, error) {
	pass, err := r.Target.Score(ctx, last, draft, terms)
	if err == nil {
		pass.Scores = restlessScores{pass.Scores.(*scores)}
	}
	return pass, err
}

type restlessScores struct{ *scores }

func (s restlessScores) Row(i int, dst []float32) error {
	err := s.scores.Row(i, dst)
	named := map[int32]bool{}
	for _, e := range s.rows[i].top {
		named[e.id] = true
	}
	for id := range dst {
		if !named[int32(id)] {
			dst[id] = float32(math.Inf(-1))
		}
	}
	return err
}

// play is one gate run: how drafts are drawn, and how they are recorded.
type play struct {
	params    sample.Params
	gamma     int
	drawnAt   float64 // the draft is drawn at the temperature of params times this factor
	toldAt    float64 // q is told for the temperature of params times this factor
	world     *gate.World
	target    *Target
	driver    *round.Driver
	trialSeed uint64
}

// reply writes the beginning of a reply by rounds over the server.
func (p *play) reply(t *testing.T, trial, length int) gate.Played {
	t.Helper()
	u := sample.NewPhilox(p.trialSeed, trial)
	if err := p.target.Truncate(0); err != nil {
		t.Fatal(err)
	}
	played := gate.Played{Bonus: -1}
	last := gate.Root
	for r := 0; len(played.Tokens) < length; r++ {
		in := round.Input{Last: last, Terms: spec.Terms{Params: p.params, Uniforms: u, Round: r, Written: len(played.Tokens), Rule: spec.Token}}
		var did round.Result
		did.Draft = p.draft(t, u, r, len(played.Tokens), last, min(p.gamma, p.world.Depth-1-len(played.Tokens)))
		if err := p.driver.Verify(context.Background(), &in, &did); err != nil {
			t.Fatal(err)
		}
		if played.Bonus < 0 && len(did.Draft.Tokens) > 0 && did.Outcome.Accepted == len(did.Draft.Tokens) {
			played.Bonus = len(played.Tokens) + did.Outcome.Accepted
		}
		played.Tokens = append(played.Tokens, did.Outcome.Committed()...)
		last = played.Tokens[len(played.Tokens)-1]
		if err := p.target.Truncate(len(played.Tokens)); err != nil {
			t.Fatal(err)
		}
	}
	return played
}

func (p *play) draft(t *testing.T, u sample.Uniforms, r, at int, before int32, n int) spec.Draft {
	t.Helper()
	var d spec.Draft
	for i := range n {
		drawn, told := p.params, p.params
		drawn.Temperature *= p.drawnAt
		told.Temperature *= p.toldAt
		from, err := sample.FromLogits(make([]float64, p.world.Vocab), p.world.DraftScores(at+i, before), drawn)
		if err != nil {
			t.Fatal(err)
		}
		q, err := sample.FromLogits(make([]float64, p.world.Vocab), p.world.DraftScores(at+i, before), told)
		if err != nil {
			t.Fatal(err)
		}
		before = sample.Draw(from, u.Uniform(sample.DraftDraw, r, i))
		d.Tokens, d.Q = append(d.Tokens, before), append(d.Q, q)
	}
	d.Temperature = p.params.Temperature * p.drawnAt
	return d
}

const (
	gateVocab, gateDepth, gateLength = 40, 6, 4
	gateTrials                       = 2500 // replies of 4 tokens: 10 000 tokens
	bugTrials                        = 1500
)

func judge(t *testing.T, params sample.Params, vllm bool, trials int, change func(*imitation.Server, *play)) gate.Report {
	t.Helper()
	w := gate.NewWorld(gateVocab, gateDepth, params, gate.Near, 7)
	imitated := worldServer(w, vllm)
	server := connect(t, imitated)
	server.vocab = gateVocab
	target := server.NewTarget(gateVocab)
	p := &play{params: params, gamma: 3, drawnAt: 1, toldAt: 1, world: w, target: target, trialSeed: 3,
		driver: &round.Driver{Target: target, Verifier: spec.NewVerifier(), Watch: round.NewStopwatch(time.Now)}}
	if change != nil {
		change(imitated, p)
	}
	return w.Judge(trials, gateLength, 11, func(trial int) gate.Played { return p.reply(t, trial, gateLength) })
}

// Whole replies over a server have the target's distribution: by incomplete rows, and by the server's own draws.
func TestRepliesOverAServerHaveTheTargetsDistribution(t *testing.T) {
	for _, c := range []struct {
		name   string
		params sample.Params
		vllm   bool
	}{
		{"rows, top-k 20, 0.7", sample.Params{Temperature: 0.7, TopK: 20, TopP: 1}, false},
		{"rows, top-k 20, 1", sample.Params{Temperature: 1, TopK: 20, TopP: 1}, false},
		{"rows, top-k 20, 1.5", sample.Params{Temperature: 1.5, TopK: 20, TopP: 1}, false},
		{"rows of vLLM, top-k 20, 1.5", sample.Params{Temperature: 1.5, TopK: 20, TopP: 1}, true},
		{"draws, 1.5", sample.Params{Temperature: 1.5, TopP: 1}, false},
		{"draws of vLLM, 0.7", sample.Params{Temperature: 0.7, TopP: 1}, true},
		{"rows that grow, top-p 0.8", sample.Params{Temperature: 1, TopP: 0.8}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := judge(t, c.params, c.vllm, gateTrials, func(s *imitation.Server, p *play) { p.target.server.firstRow = 4 })
			if failed := r.Failures(); failed != "" {
				t.Errorf("not the target's distribution: %s", failed)
			}
		})
	}
}

// The test above notices planted bugs.
func TestGateOverAServerCatchesPlantedBugs(t *testing.T) {
	topK := sample.Params{Temperature: 1, TopK: 20, TopP: 1}
	for _, c := range []struct {
		name   string
		params sample.Params
		plant  func(*imitation.Server, *play)
	}{
		{"q unsharpened: told at another temperature than the draft was drawn at", topK, func(_ *imitation.Server, p *play) { p.drawnAt = 0.5 }},
		{"residual without the tail: the tokens outside a row get no mass", sample.Params{Temperature: 1, TopP: 0.7}, func(_ *imitation.Server, p *play) {
			p.target.server.firstRow, p.driver.Target = 4, restless{p.target}
		}},
		{"one seed for all prefixes", sample.Params{Temperature: 1, TopP: 1}, func(s *imitation.Server, p *play) { s.OneSeed, p.drawnAt, p.toldAt = true, 0.3, 0.3 }},
		{"a row too early: each row is that of the place before", topK, func(s *imitation.Server, _ *play) { s.RowEarly = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := judge(t, c.params, false, bugTrials, c.plant); r.Failures() == "" {
				t.Errorf("not noticed: %v", r)
			}
		})
	}
}

// A server sends only the likeliest tokens of a row. If they decide what the filters keep
// (row.decides), the distribution is that of the whole row, however the other tokens share the rest of
// the probability.
func TestARowThatDecidesIsAsGoodAsTheWholeRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	decided, undecided := map[string]int{}, 0
	for range 4000 {
		vocab := 20 + rng.IntN(60)
		scores, spread := make([]float32, vocab), 0.5+3*rng.Float64()
		for i := range scores {
			scores[i] = float32(spread * rng.NormFloat64())
			if rng.IntN(4) == 0 {
				scores[i] = float32(math.Round(float64(scores[i]))) // ties
			}
		}
		p := sample.Params{Temperature: []float64{0, 0.4, 1, 1.7}[rng.IntN(4)], TopP: 1, TemperatureLast: rng.IntN(3) == 0}
		kind := rng.IntN(4)
		if kind == 0 {
			p.TopK = 1 + rng.IntN(10)
		}
		if kind <= 1 {
			p.TopP = 0.2 + 0.7*rng.Float64()
		}
		if kind != 1 {
			p.MinP = 0.3 * rng.Float64()
		}
		whole := entries(scores)
		r, err := newRow(whole[:1+rng.IntN(vocab-1)], vocab)
		if err != nil {
			t.Fatal(err)
		}
		if !r.decides(p) {
			undecided++
			continue
		}
		decided[fmt.Sprint(p.Temperature > 0, p.TopK > 0, p.TopP < 1, p.MinP > 0)]++
		filled := make([]float32, vocab)
		r.fill(filled)
		want, err := sample.FromLogits(make([]float64, vocab), scores, p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sample.FromLogits(make([]float64, vocab), filled, p)
		if err != nil {
			t.Fatal(err)
		}
		for id := range int32(vocab) {
			if math.Abs(want.Prob(id)-got.Prob(id)) > 1e-5 || (want.Prob(id) == 0) != (got.Prob(id) == 0) {
				t.Fatalf("%+v, %d of %d tokens: token %d has %g, want %g", p, len(r.top), vocab, id, got.Prob(id), want.Prob(id))
			}
		}
	}
	if undecided < 500 || len(decided) < 6 {
		t.Errorf("the rows were too much alike: %d undecided, decided %v", undecided, decided)
	}
}

// entries are all tokens of a row with their log-probabilities, best first.
func entries(scores []float32) []entry {
	sum := 0.0
	for _, x := range scores {
		sum += math.Exp(float64(x))
	}
	var list []entry
	for i, x := range scores {
		list = append(list, entry{int32(i), float64(x) - math.Log(sum)})
	}
	r, err := newRow(list, len(scores))
	if err != nil {
		panic(err)
	}
	return r.top
}
