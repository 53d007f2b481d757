package proof_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"specula/engine/event"
	"specula/engine/proof"
	"specula/engine/sample"
	"specula/engine/spec"
)

const vocab, stop = 12, 11

func decode(ids []int32) string { return strings.Trim(fmt.Sprint(ids), "[]") }

// scribe writes replies by sampling from the distribution of each place. Each field after rng plants a fault.
type scribe struct {
	rng     *rand.Rand
	kept    float64 // probability to accept a draft token without a test
	repeats bool    // draws the first token of a round with the uniform of the token before
	drops   bool    // writes another token in place of a stop token
	reason  string  // replaces the reason why a reply ended
}

// place returns the distributions after a token.
func place(before int32) proof.Place {
	rng := rand.New(rand.NewPCG(uint64(before), 3))
	p, q := make([]float64, vocab), make([]float64, vocab)
	sumP, sumQ := 0.0, 0.0
	for id := range p {
		p[id] = math.Exp(1.5 * rng.NormFloat64())
		q[id] = p[id] * math.Exp(rng.NormFloat64())
		sumP, sumQ = sumP+p[id], sumQ+q[id]
	}
	for id := range p {
		p[id], q[id] = p[id]/sumP, q[id]/sumQ
	}
	return proof.Place{P: p, Q: q}
}

func pick(p []float64, u float64) int32 {
	for id, x := range p {
		if u -= x; u < 0 {
			return int32(id)
		}
	}
	return 0
}

// write writes in rounds: up to two draft tokens are accepted as long as they equal the scribe's
// own draws.
func (s *scribe) write(context.Context, uint64) (*proof.Reply, error) {
	const most = 30
	out := &proof.Reply{Most: most}
	var places []proof.Place
	before, last := int32(0), s.rng.Float64()
	for len(out.Ended.IDs) < most && before != stop {
		round := event.Round{Index: len(out.Rounds)}
		for k := 0; before != stop && round.Commit == nil && len(out.Ended.IDs) < most; k++ {
			here := place(before)
			u := s.rng.Float64()
			if k == 0 && s.repeats {
				u = last
			}
			id, drafted := pick(here.P, u), pick(here.Q, s.rng.Float64())
			if k < 2 && s.rng.Float64() < s.kept {
				id = drafted
			}
			for s.drops && id == stop {
				id = pick(here.P, s.rng.Float64())
			}
			token := event.Token{ID: id, Stop: id == stop, Text: decode([]int32{id})}
			if len(out.Ended.IDs) > 0 {
				token.Text = " " + token.Text
			}
			if token.Stop {
				token.Text = ""
			}
			places, out.Ended.IDs = append(places, here), append(out.Ended.IDs, id)
			out.Ended.Text += token.Text
			round.Tested += min(1, max(0, 2-k))
			switch {
			case k == 2:
				round.Commit = &token
			case id == drafted:
				token.Verdict = event.Accepted
				round.Draft = append(round.Draft, token)
				round.Accepted++
			default:
				round.Draft = append(round.Draft, event.Token{ID: drafted, Verdict: event.Rejected})
				round.Commit = &token
			}
			before, last = id, u
		}
		out.Rounds = append(out.Rounds, round)
	}
	out.Places, out.Ended.Reason = proof.Given(places), "length"
	if before == stop {
		out.Ended.Reason = "stop"
	}
	if s.reason != "" {
		out.Ended.Reason = s.reason
	}
	return out, nil
}

func run(t testing.TB, seed uint64, params sample.Params, scribes ...*scribe) *proof.Report {
	t.Helper()
	s := proof.Subject{Params: params, Stops: []int32{stop}, Decode: decode}
	for i, scribe := range scribes {
		scribe.rng = rand.New(rand.NewPCG(seed, uint64(i)))
		s.Contestants = append(s.Contestants, proof.Contestant{Proposer: fmt.Sprint(i), Rule: spec.Token, Weight: 1, Write: scribe.write})
	}
	r, err := proof.Run(t.Context(), s, proof.Options{Seconds: 600, Replies: 1500, Seed: seed, Now: time.Now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Contestants share a session, which remembers replies. So no seed may be used twice.
func TestEveryReplyHasASeedOfItsOwn(t *testing.T) {
	seen := map[uint64]bool{}
	scribes := []*scribe{{}, {}, {}}
	s := proof.Subject{Params: sampled, Stops: []int32{stop}, Decode: decode}
	for i, scribe := range scribes {
		scribe.rng = rand.New(rand.NewPCG(1, uint64(i)))
		s.Contestants = append(s.Contestants, proof.Contestant{Proposer: fmt.Sprint(i), Rule: spec.Token, Weight: 1,
			Write: func(ctx context.Context, seed uint64) (*proof.Reply, error) {
				if seen[seed] {
					t.Errorf("contestant %d writes from seed %d, which was used before", i, seed)
				}
				seen[seed] = true
				return scribe.write(ctx, seed)
			}})
	}
	if _, err := proof.Run(t.Context(), s, proof.Options{Seconds: 600, Replies: 20, Seed: 7, Now: time.Now}, nil); err != nil {
		t.Fatal(err)
	}
	if want := 20 * len(scribes); len(seen) != want {
		t.Errorf("%d seeds were used, want %d", len(seen), want)
	}
}

var sampled = sample.Params{Temperature: 1, TopP: 1}

func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault scribe
		why   string // "" where there is none
	}{
		{"none", scribe{}, ""},
		{"drafts kept unjudged", scribe{kept: 0.3}, "by q/p"},
		{"a uniform used twice", scribe{repeats: true}, "by id"},
		{"stop tokens dropped", scribe{drops: true}, "length of replies"},
		{"another end than it says", scribe{reason: "stop"}, "ended by \"stop\""},
	} {
		r := run(t, 1, sampled, &c.fault)
		got := r.Cases[0]
		if r.Matched() != (c.why == "") || !strings.Contains(got.Why, c.why) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// A fault as large as the report claims to notice is noticed. A tenth of it hardly ever is.
func TestWhatWouldHaveBeenNoticed(t *testing.T) {
	says := run(t, 1, sampled, &scribe{}).Cases[0].Notices
	if says <= 0 || says > 0.3 {
		t.Fatalf("a run says that it notices %g", says)
	}
	for share, want := range map[float64]int{says: 20, says / 10: 0} {
		caught := 0
		for seed := range uint64(20) {
			if !run(t, seed, sampled, &scribe{kept: share}).Matched() {
				caught++
			}
		}
		if caught != want {
			t.Errorf("%.3f is said to be noticed; %.3f was in %d of 20 runs, want %d", says, share, caught, want)
		}
	}
}

// The p-values of correct replies are not too small.
func TestJudgeIsCalibrated(t *testing.T) {
	const runs = 150
	tests, below := 0, map[float64]int{0.1: 0, 0.01: 0, 0.001: 0}
	for seed := range uint64(runs) {
		j := proof.NewJudge([]int32{stop}, decode, seed)
		s := scribe{rng: rand.New(rand.NewPCG(seed, 9))}
		for range 300 {
			reply, _ := s.write(t.Context(), 0)
			if err := j.Add(reply); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range j.Tests() {
			tests++
			for x := range below {
				if test.P < x {
					below[x]++
				}
			}
		}
	}
	for x, seen := range below {
		// The tests of one run use the same values, so their number varies more than that of
		// independent tests.
		if share := float64(seen) / float64(tests); share > 1.5*x {
			t.Errorf("of %d tests %d are below %g", tests, seen, x)
		}
	}
}

func TestAtTemperatureZeroOnlyTheTokensCount(t *testing.T) {
	r := run(t, 1, sample.Params{TopP: 1}, &scribe{})
	if c := r.Cases[0]; c.Replies != 4 || c.Notices != 0 || !r.Matched() {
		t.Errorf("%+v", c)
	}
}

// A case with too few tokens for a test says nothing about the distribution, so it is not among those that
// do not differ.
func TestTooFewTokensAreNoVerdict(t *testing.T) {
	s := proof.Subject{Params: sampled, Stops: []int32{stop}, Decode: decode, Contestants: []proof.Contestant{
		{Proposer: "few", Rule: spec.Token, Weight: 1, Write: (&scribe{rng: rand.New(rand.NewPCG(1, 1))}).write},
	}}
	r, err := proof.Run(t.Context(), s, proof.Options{Seconds: 600, Replies: 2, Seed: 1, Now: time.Now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Cases[0]; c.Tests != 0 || c.Tested == 0 || c.Verdict != proof.Untested || r.Tested != 0 || r.Lossless || r.Matched() {
		t.Errorf("%d cases tested, lossless %v, %+v", r.Tested, r.Lossless, c)
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "UNTESTED") || !strings.Contains(b.String(), "NOTHING WAS TESTED") ||
		!strings.Contains(b.String(), "few with rule token: too few tokens for any test") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestRunRefuses(t *testing.T) {
	_, err := proof.Run(t.Context(), proof.Subject{}, proof.Options{Now: time.Now}, nil)
	if err == nil || !strings.Contains(err.Error(), "no proposer") {
		t.Errorf("without contestants: %v", err)
	}
}

func TestVerdicts(t *testing.T) {
	s := proof.Subject{Params: sampled, Stops: []int32{stop}, Decode: decode, Contestants: []proof.Contestant{
		{Proposer: "heads", Rule: spec.Token, Refused: "there are none"},
		{Proposer: "lossy", Rule: spec.TypicalLossy, Weight: 1, Write: (&scribe{rng: rand.New(rand.NewPCG(1, 1)), kept: 0.5}).write},
		{Proposer: "confused", Rule: spec.Token, Weight: 1, Write: (&scribe{rng: rand.New(rand.NewPCG(1, 2)), reason: "context"}).write},
	}}
	r, err := proof.Run(t.Context(), s, proof.Options{Seconds: 600, Replies: 1000, Seed: 1, Now: time.Now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Cases {
		got = append(got, fmt.Sprintf("%s %s", c.Proposer, c.Verdict))
	}
	if want := "heads unavailable, lossy lossy, confused differs"; strings.Join(got, ", ") != want {
		t.Errorf("verdicts %q, want %q: %+v", got, want, r.Cases)
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "NOT LOSSLESS: 1 of 2 cases differ") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func Example() {
	s := scribe{rng: rand.New(rand.NewPCG(1, 2))}
	j := proof.NewJudge([]int32{stop}, decode, 1)
	for range 500 {
		reply, _ := s.write(context.Background(), 0)
		if err := j.Add(reply); err != nil {
			panic(err)
		}
	}
	fmt.Printf("faults: %q\n", j.Fault(proof.FalseAlarms))
	// Output: faults: ""
}
