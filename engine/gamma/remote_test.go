package gamma_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/gamma"
)

// network is a server behind a network, on a simulated clock. A token of its stream takes tokenMS. A request takes the
// round trip, and for each token that it computes, beyond the first, rowMS; γ draft tokens are (γ+1)² computed ones.
// Each sequence that a draft needs reads what it missed, too.
type network struct {
	tripMS, tokenMS, rowMS, draftMS, holds float64
	missed                                 [most]int // tokens, by further sequence
	streams                                bool
	rng                                    *rand.Rand
	lookup                                 bool    // each draft is looked up, and each token of it has the same confidence
	misread                                float64 // how many times too long the reading of missed tokens is told to be; 0: told right
}

func (n *network) noisy(ms float64) float64 { return ms * (0.9 + 0.3*n.rng.Float64()) }

func (n *network) requestMS(drafted int) float64 {
	rows := (drafted + 1) * (drafted + 1)
	return n.tripMS + n.tokenMS + float64(rows-1)*n.rowMS
}

func (n *network) rehearse(c *gamma.Controller) {
	for range 3 {
		c.Rehearse(gamma.Observation{VerifyMS: n.noisy(n.tokenMS)})
		for _, drafted := range []int{1, 4} {
			c.Rehearse(gamma.Observation{Drafted: drafted, DraftMS: n.noisy(n.draftMS * float64(drafted)), VerifyMS: n.noisy(n.requestMS(drafted))})
		}
	}
}

// reply writes a reply, and returns its milliseconds, those of the plain stream, and the number of rounds that drafted.
func (n *network) reply(c *gamma.Controller, prompt, tokens int) (tookMS, plainMS float64, drafts int) {
	n.streams = false
	for i := range n.missed {
		n.missed[i] = prompt
	}
	c.BeginReply()
	for left := tokens; left > 0; {
		outlook := gamma.Outlook{Left: left, Streams: n.streams}
		for _, tokens := range n.missed {
			outlook.MissedMS = append(outlook.MissedMS, float64(tokens)*n.rowMS*cmp.Or(n.misread, 1))
		}
		d := c.Next(outlook)
		o := gamma.Observation{Drafted: min(d.Gamma, left-1)}
		if n.lookup && o.Drafted > 0 {
			confidence := slices.Repeat([]float64{0.5}, o.Drafted)
			o.Asked = true
			o.Drafted, _ = c.Trim(confidence)
			if o.Confidence = confidence[:o.Drafted]; o.Drafted == 0 {
				c.Passed(0.5, n.rng.Float64() < n.holds)
			}
		}
		ms := n.noisy(n.tokenMS)
		o.VerifyMS = ms // a stream's token has the price that the server tells
		if o.Drafted == 0 {
			if !n.streams {
				ms += n.noisy(n.tripMS + float64(prompt)*n.rowMS)
			}
			n.streams = true
			for i := range n.missed {
				n.missed[i]++
			}
		} else {
			drafts++
			o.DraftMS, o.Pending = n.noisy(n.draftMS*float64(o.Drafted)), 2
			missed := 0
			if left == tokens {
				missed = prompt // of the first sequence
			}
			for i := range o.Drafted {
				missed += n.missed[i]
				n.missed[i] = 0
			}
			o.VerifyMS = n.noisy(n.requestMS(o.Drafted) + float64(missed)*n.rowMS)
			n.streams = false
			for o.Tested < o.Drafted {
				if o.Tested++; n.rng.Float64() >= n.holds {
					break
				}
				o.Accepted++
			}
			ms = o.DraftMS + o.VerifyMS
		}
		tookMS += ms
		c.Observe(o)
		left -= o.Accepted + 1
	}
	return tookMS, 1.05 * (n.tripMS + float64(prompt)*n.rowMS + n.tokenMS*float64(tokens)), drafts
}

// formula returns how many times as fast as the stream the best fixed γ writes replies, if all goes as it should.
func (n *network) formula(prompt, tokens int) (best float64) {
	stream := n.tripMS + float64(prompt)*n.rowMS + n.tokenMS*float64(tokens)
	for g := 1; g <= most; g++ {
		each := (1 - math.Pow(n.holds, float64(g+1))) / (1 - n.holds)
		rounds := float64(tokens) / each
		took := rounds*(n.requestMS(g)+float64(g)*n.draftMS) + float64((g+1)*prompt)*n.rowMS
		best = max(best, stream/took)
	}
	return best
}

// However fast the server, slow the network and bad the drafts are, 50 replies take no longer than the server's stream,
// but for 3 %. Where drafts should gain much, they gain most of it.
func TestDraftsAcrossANetworkNeverLoseAgainstTheStream(t *testing.T) {
	gains := 0
	for _, tokenMS := range []float64{1, 4, 15, 50} {
		for _, tripMS := range []float64{1, 20, 100} {
			for _, holds := range []float64{0.1, 0.5, 0.8, 0.97} {
				for _, prompt := range []int{30, 600} {
					for _, row := range []float64{0.01, 0.15} {
						n := &network{tripMS: tripMS, tokenMS: tokenMS, rowMS: row * tokenMS, draftMS: 0.5, holds: holds, rng: rand.New(rand.NewPCG(1, 2))}
						c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: most, Remote: true})
						n.rehearse(c)
						var took, plain float64
						drafts := 0
						for range 50 {
							a, b, rounds := n.reply(c, prompt, 40)
							took, plain, drafts = took+a, plain+b, drafts+rounds
						}
						formula := n.formula(prompt, 40)
						what := fmt.Sprintf("a token %g ms, a row %g ms, round trip %g ms, %g hold, prompt of %d: %.2f of the stream's speed, by formula %.2f; %d rounds drafted",
							tokenMS, n.rowMS, tripMS, holds, prompt, plain/took, formula, drafts)
						t.Log(what)
						if plain/took < 0.97 {
							t.Error("slower: " + what)
						}
						if formula > 1.3 {
							if gains++; plain/took < 0.85*formula {
								t.Error("gains too little: " + what)
							}
						}
					}
				}
			}
		}
	}
	if gains < 8 {
		t.Errorf("drafts should gain in %d of the cases: that shows nothing", gains)
	}
}

// A draft does not save the opening of the stream, which comes later. So a lookup that finds something in each round
// must not draft on and on because no stream is open.
func TestLookupsAcrossANetworkNeverLoseAgainstTheStream(t *testing.T) {
	for _, holds := range []float64{0.1, 0.3, 0.5, 0.8, 0.97} {
		for _, tripMS := range []float64{1, 20, 100} {
			n := &network{tripMS: tripMS, tokenMS: 4, rowMS: 0.04, holds: holds, lookup: true, rng: rand.New(rand.NewPCG(1, 2))}
			n.mustNotLose(t, gamma.Options{Rule: gamma.CostAware, Max: most, Remote: true, Lookup: true})
		}
	}
}

// If the reading of missed tokens is told to take longer than it does, a round that included it is not taken to be as
// cheap as a plain one.
func TestReadingThatIsToldTooLongMakesNoRoundCheap(t *testing.T) {
	for _, holds := range []float64{0.1, 0.3, 0.5} {
		n := &network{tripMS: 20, tokenMS: 15, rowMS: 0.15, draftMS: 0.5, holds: holds, misread: 4, rng: rand.New(rand.NewPCG(1, 2))}
		n.mustNotLose(t, gamma.Options{Rule: gamma.CostAware, Max: most, Remote: true})
	}
}

// mustNotLose writes 20 replies, which must take no longer than the server's stream, but for 3 %.
func (n *network) mustNotLose(t *testing.T, o gamma.Options) {
	t.Helper()
	c := gamma.New(o)
	n.rehearse(c)
	var took, plain float64
	drafts := 0
	for range 20 {
		a, b, rounds := n.reply(c, 30, 100)
		took, plain, drafts = took+a, plain+b, drafts+rounds
	}
	if plain/took < 0.97 {
		t.Errorf("round trip %g ms, %g hold: %.2f of the stream's speed; %d rounds drafted", n.tripMS, n.holds, plain/took, drafts)
	}
}

// With a fixed γ, a plain round may be timed after longer ones.
func TestALongerLengthAcrossANetworkMayBeTimedFirst(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 4, Max: 8, Remote: true})
	c.Next(gamma.Outlook{Left: 10})
	c.Observe(gamma.Observation{Drafted: 4, Tested: 4, VerifyMS: 10})
	if d := c.Next(gamma.Outlook{Left: 10}); d.Gamma != 4 {
		t.Errorf("γ is %d", d.Gamma)
	}
}

// Across a network a lookup is not tried to see whether it holds. The tokens of the stream tell, and then it drafts.
func TestALookupAcrossANetworkLearnsFromTheStream(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 4, Lookup: true, Remote: true})
	for _, drafted := range []int{0, 1, 4} {
		c.Rehearse(gamma.Observation{Drafted: drafted, VerifyMS: 10 + float64(drafted)})
	}
	found, outlook := []float64{0.9, 0.9, 0.9, 0.9}, gamma.Outlook{Left: 100, Streams: true}
	for round := range 40 {
		c.Next(outlook)
		keep, _ := c.Trim(found)
		if round == 0 && keep > 0 {
			t.Fatalf("%d tokens are drafted before anything was seen", keep)
		}
		if keep > 0 {
			return
		}
		c.Passed(found[0], true)
		c.Observe(gamma.Observation{Asked: true, VerifyMS: 10})
	}
	t.Error("no draft in 40 rounds, though each of them would have held")
}

// A server's cost rises steeply with the draft length. Across a network a length between two measured ones, or beyond
// them, is not taken for the cost of a shorter one: each such try of a lookup that holds would lose.
func TestALengthAcrossANetworkIsNotAsCheapAsAShorterOne(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 8, Lookup: true, Remote: true})
	for drafted, ms := range map[int]float64{0: 10, 1: 20, 4: 250} {
		c.Rehearse(gamma.Observation{Drafted: drafted, VerifyMS: ms})
	}
	found, outlook := []float64{1, 1, 1, 1, 1, 1, 1, 1}, gamma.Outlook{Left: 1000, Streams: true}
	for range 400 {
		c.Next(outlook)
		if keep, _ := c.Trim(found); keep > 0 {
			t.Fatalf("%d tokens are drafted, whose pass takes longer than the stream", keep)
		}
		c.Passed(1, true)
		c.Observe(gamma.Observation{Asked: true, VerifyMS: 10})
	}
}

// Before the first token of a reply no stream is open. A lookup then counts what the server's sequences have to read
// before they can score it, and what they read is not taken for the cost of later rounds of that length.
func TestALookupCountsWhatTheSequencesMissed(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 4, Lookup: true, Remote: true})
	for drafted, ms := range map[int]float64{0: 10, 1: 20, 4: 22} {
		c.Rehearse(gamma.Observation{Drafted: drafted, VerifyMS: ms})
	}
	keep := func(o gamma.Outlook) int {
		c.Next(o)
		n, _ := c.Trim([]float64{1, 1, 1, 1})
		return n
	}
	behind := gamma.Outlook{Left: 100, MissedMS: []float64{100, 100, 100, 100}}
	for range 20 {
		c.Passed(1, true)
	}
	if n := keep(behind); n != 0 {
		t.Errorf("%d tokens are drafted, for which the server first reads for 100 ms each", n)
	}
	if n := keep(gamma.Outlook{Left: 100}); n != 4 {
		t.Errorf("%d tokens are drafted of 4 that hold and cost little", n)
	}
	c.Next(behind)
	for range 4 {
		c.Observe(gamma.Observation{Asked: true, Drafted: 4, Tested: 4, Accepted: 4, VerifyMS: 422, Confidence: []float64{1, 1, 1, 1}})
	}
	if n := keep(gamma.Outlook{Left: 100}); n != 4 {
		t.Errorf("%d tokens are drafted of 4, after a round of which the server read what it had missed", n)
	}
}
