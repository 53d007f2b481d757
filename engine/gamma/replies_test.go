package gamma_test

import (
	"math/rand/v2"
	"testing"

	"specula/engine/gamma"
)

// secondRowDear is about what a pass of the demo target takes, in milliseconds.
func secondRowDear(rows int) float64 {
	return []float64{0, 0.088, 0.130, 0.150, 0.170, 0.200, 0.225, 0.250, 0.275, 0.300}[rows]
}

// replies writes replies of so many tokens to prompts of 20, one for each acceptance in accept. It returns how
// much faster that was than plain decoding. As in mean, a round counts with what is expected of it.
func (m *machine) replies(c *gamma.Controller, tokens int, accept []float64) float64 {
	given, took := 0.0, 0.0
	for _, held := range accept {
		m.accept = always(held)
		c.BeginReply()
		for written, unread := 0, 20; written < tokens; {
			d := c.Next(gamma.Outlook{Unread: unread, Left: 500})
			o := m.round(d.Gamma, c.Continue)
			if unread++; d.Gamma > 0 {
				o.Read, o.ReadMS, unread = unread, 0.003*float64(unread), 0
			}
			c.Observe(o)
			written += o.Accepted + 1
			expected, ms := m.typical(o.Drafted)
			given, took = given+expected, took+ms+o.ReadMS
		}
	}
	return given * m.passMS(1) / took
}

// Some replies are easy to draft, others are hard. A few hard replies must not end drafts for the easy ones
// after them: without drafts nothing shows that a reply is easy. Where all replies are hard, looking for easy
// ones may cost 1 %.
func TestHardRepliesDoNotEndDraftsForEasyOnes(t *testing.T) {
	const sessions, tokens = 8, 4400
	for _, world := range []struct {
		name   string
		accept func(reply int, r *rand.Rand) float64
		tokens int // of a reply
		least  float64
	}{
		{"half are easy, short", func(_ int, r *rand.Rand) float64 { return 0.4 + 0.5*float64(r.IntN(2)) }, 22, 1.02},
		{"half are easy", func(_ int, r *rand.Rand) float64 { return 0.4 + 0.5*float64(r.IntN(2)) }, 100, 1.065},
		{"20 easy, 20 hard, short", func(reply int, _ *rand.Rand) float64 { return 0.9 - 0.6*float64(reply/20%2) }, 22, 1.05},
		{"all are hard, some harder", func(_ int, r *rand.Rand) float64 { return 0.2 + 0.3*r.Float64() }, 22, 0.99},
		{"all are nearly worth it", func(int, *rand.Rand) float64 { return 0.68 }, 22, 0.99},
		{"nothing holds", func(int, *rand.Rand) float64 { return 0 }, 22, 0.99},
	} {
		mean := 0.0
		for seed := range uint64(sessions) {
			accept, r := make([]float64, tokens/world.tokens), rand.New(rand.NewPCG(seed, 7))
			for reply := range accept {
				accept[reply] = world.accept(reply, r)
			}
			mean += newMachine(nil, 0.0175, secondRowDear, seed).replies(costAware(), world.tokens, accept) / sessions
		}
		t.Logf("%s, %d tokens each: %.3f", world.name, world.tokens, mean)
		if mean < world.least {
			t.Errorf("%s, %d tokens each: %.3f of plain speed, want %.2f", world.name, world.tokens, mean, world.least)
		}
	}
}
