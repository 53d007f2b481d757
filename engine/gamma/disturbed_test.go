package gamma_test

import (
	"math/rand/v2"
	"testing"

	"specula/engine/gamma"
)

// disturbed is a machine like those that chats run on. Other programs use it and its clock rate
// jumps. Drafting pushes the target's data out of the caches, so the pass after it is slower than
// in the rehearsal, most of all the first one after plain rounds.
type disturbed struct {
	*machine
	cold    float64 // how much slower such a pass is, as a share; the first one by twice as much
	jump    float64 // how much slower everything is in every other stretch of time, as a share
	stretch int     // length of a stretch in rounds, on average
}

func newDisturbed(accept, cold, jump float64, stretch int, seed uint64) *disturbed {
	m := newMachine(always(accept), 2, small, 0)
	m.noise, m.stalls, m.rng = 0.15, 0.03, rand.New(rand.NewPCG(seed, 7))
	return &disturbed{m, cold, jump, stretch}
}

// play writes a session of replies. It returns the expected milliseconds, and those that plain
// rounds would have taken for the same tokens.
func (m *disturbed) play(c *gamma.Controller, s talk, tokens int) (ms, plainMS float64) {
	m.rehearse(c, s)
	slow, drafted := 1.0, 0
	for range tokens / s.reply {
		c.BeginReply()
		unread, length := s.prompt, s.reply/2+m.rng.IntN(s.reply)
		for written := 0; written < length; {
			if m.rng.IntN(m.stretch) == 0 {
				slow = 2 + m.jump - slow
			}
			d := c.Next(gamma.Outlook{Unread: unread, Left: length - written})
			o := m.round(min(d.Gamma, length-written-1), c.Continue)
			pass := slow * m.coldness(drafted, o.Drafted)
			drafted = o.Drafted
			given, _ := m.typical(o.Drafted)
			took := slow*float64(o.Drafted)*m.draftMS + pass*m.passMS(o.Drafted+1)
			o.DraftMS, o.VerifyMS = o.DraftMS*slow, o.VerifyMS*pass
			if o.Drafted == 0 {
				unread++
			} else if unread > 0 {
				o.Read, o.ReadMS = unread, m.took(slow*s.readMS*float64(unread))
				took += slow * s.readMS * float64(unread)
				unread = 0
			}
			c.Observe(o)
			written += o.Accepted + 1
			ms, plainMS = ms+took, plainMS+given*slow*m.passMS(1)
		}
	}
	return ms, plainMS
}

// coldness is the factor on the cost of a pass, from the number of draft tokens in this round
// (drafted) and in the round before it (before).
func (m *disturbed) coldness(before, drafted int) float64 {
	switch {
	case drafted == 0:
		return 1
	case before == 0:
		return 1 + 2*m.cold
	}
	return 1 + m.cold
}

// Where drafts nearly pay, a controller that takes each disturbance for a change of costs would
// start and stop drafting all the time.
func TestDisturbancesMisleadLittle(t *testing.T) {
	for _, world := range []struct {
		accept, cold, jump float64
		stretch            int
		least              float64 // speed relative to plain decoding
	}{
		{0, 0.15, 0, 1, 0.996}, {0, 0.15, 0.35, 40, 0.996},
		{0.5, 0.15, 0, 1, 0.994}, {0.5, 0.1, 0.35, 150, 0.9935}, {0.5, 0.15, 0.35, 40, 0.992},
		{0.65, 0.15, 0.35, 40, 0.9905},
		{0.75, 0.1, 0.35, 150, 1.06}, {0.85, 0.15, 0.35, 40, 1.15},
	} {
		ms, plainMS := 0.0, 0.0
		for seed := range uint64(300) {
			took, plain := newDisturbed(world.accept, world.cold, world.jump, world.stretch, seed).play(costAware(), talk{20, 40, 0.35}, 3000)
			ms, plainMS = ms+took, plainMS+plain
		}
		if speed := plainMS / ms; speed < world.least {
			t.Errorf("%+v: %.4f of plain speed", world, speed)
		}
	}
}
