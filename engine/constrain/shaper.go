package constrain

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Shaper holds a reply to a constraint: it forbids every token after which the form, or its end within the limit, is out of
// reach. It is a sample.Shaper and serves one goroutine.
type Shaper struct {
	constraint *Constraint
	vocabulary *Vocabulary
	automaton  *automaton
	masks      *masks
	pushed     []int32         // the reply so far
	states     []int32         // (len(pushed)+1) the state before each token, and after the last
	limit      int             // tokens a reply may have; 0 for no limit
	ctx        context.Context // its end ends the work on a token
	base       int             // bytes that the automaton had taken when it had read the reply so far
}

// NewShaper applies a constraint to the tokens of a vocabulary.
func NewShaper(ctx context.Context, c *Constraint, v *Vocabulary) (*Shaper, error) {
	s := &Shaper{ctx: ctx, constraint: c, vocabulary: v}
	s.begin()
	if err := s.failure(); err != nil {
		return nil, err
	}
	if a := s.automaton; a.states[a.start].bytes >= maxClosing {
		return nil, fmt.Errorf("the tokens of this model cannot spell any reply that fits the %s", c.name)
	}
	return s, nil
}

// begin makes an empty automaton.
func (s *Shaper) begin() {
	s.automaton = newAutomaton(s.ctx, s.constraint, s.vocabulary.spellable(), s.vocabulary.Lead)
	s.masks, s.base = newMasks(), 0
	s.states = append(s.states[:0], s.automaton.start)
}

// Name is that of the constraint.
func (s *Shaper) Name() string { return s.constraint.name }

// Bound says how many tokens the reply may have in all, and for how long it is wanted. Both may change between two tokens; a
// reply that can no longer be finished within its tokens takes the shortest way. 0 tokens is no limit.
func (s *Shaper) Bound(ctx context.Context, tokens int) { s.ctx, s.limit = ctx, tokens }

// Shortest is how many tokens, a stop token not counted, are enough to finish the reply from here.
func (s *Shaper) Shortest() (int, error) {
	s.automaton.work.renew(s.ctx)
	n := s.automaton.tokensToClose(s.state(), s.vocabulary)
	return int(n), s.failure()
}

// AtLeast is a bound of Shortest from below that takes no work: no token spells more bytes than the longest.
func (s *Shaper) AtLeast() int {
	longest := int32(s.vocabulary.longest)
	return int((s.automaton.states[s.state()].bytes + longest - 1) / longest)
}

// Ended reports that the reply has the form and that nothing may be added to it.
func (s *Shaper) Ended() bool {
	return s.automaton.accepts(s.state()) && s.automaton.bytesAfter(s.state()).size() == 0
}

func (s *Shaper) state() int32 { return s.states[len(s.states)-1] }

// Reset begins a reply. What the prompt says does not matter to its form.
func (s *Shaper) Reset([]int32) error {
	s.pushed, s.states = s.pushed[:0], append(s.states[:0], s.automaton.start)
	if s.automaton.work.err != nil {
		s.begin()
	}
	s.refresh()
	return s.failure()
}

// Push adds a token to the reply. After a token that was forbidden, or one that ends the reply, nothing is asked.
func (s *Shaper) Push(id int32) {
	s.refresh()
	s.automaton.work.renew(s.ctx)
	s.pushed = append(s.pushed, id)
	s.states = append(s.states, s.after(s.state(), id))
}

func (s *Shaper) after(state, id int32) int32 {
	if id < 0 || int(id) >= len(s.vocabulary.text) || s.vocabulary.text[id] == nil {
		return dead
	}
	return s.automaton.run(state, s.vocabulary.text[id])
}

// Pop takes the last n tokens back.
func (s *Shaper) Pop(n int) {
	s.pushed = s.pushed[:len(s.pushed)-n]
	s.states = s.states[:len(s.states)-n]
}

// refresh forgets what was worked out when it has become much, and reads the reply so far again.
func (s *Shaper) refresh() {
	if s.automaton.work.bytes < s.base+freshBytes {
		return
	}
	s.begin()
	for _, id := range s.pushed {
		s.states = append(s.states, s.after(s.state(), id))
	}
	s.base = s.automaton.work.bytes
}

// Shape forbids what may not follow.
func (s *Shaper) Shape(logits []float32) error {
	if s.state() == dead {
		return s.failure()
	}
	v, a := s.vocabulary, s.automaton
	a.work.renew(s.ctx)
	m := s.masks.of(a, v, s.state())
	keep(logits, m.allowed)
	if room := s.room(); m.far > room {
		s.masks.measure(a, v, m)
		for id := range logits[:min(len(logits), len(v.text))] {
			if int32(m.closing[id]) > room {
				logits[id] = forbidden
			}
		}
	}
	s.rescue(logits)
	return s.failure()
}

var forbidden = float32(math.Inf(-1))

// keep forbids all tokens but the allowed.
func keep(logits []float32, allowed []uint64) {
	for i, word := range allowed {
		row := logits[min(i*64, len(logits)):min(i*64+64, len(logits))]
		if word == 0 {
			for j := range row {
				row[j] = forbidden
			}
			continue
		}
		for not := ^word; not != 0; not &= not - 1 {
			if j := bits.TrailingZeros64(not); j < len(row) {
				row[j] = forbidden
			}
		}
	}
	for i := len(allowed) * 64; i < len(logits); i++ {
		logits[i] = forbidden
	}
}

// rescue ends a reply that may end when something else has forbidden all that the form allows, such as a least number of tokens.
func (s *Shaper) rescue(logits []float32) {
	if !s.automaton.accepts(s.state()) || slices.ContainsFunc(logits, func(x float32) bool { return x != forbidden }) {
		return
	}
	for _, id := range s.vocabulary.Stops {
		if int(id) < len(logits) {
			logits[id] = 0
		}
	}
}

// Allows reports whether Shape would let a token be written.
func (s *Shaper) Allows(id int32) bool {
	if s.state() == dead {
		return true // nothing is asked
	}
	if slices.Contains(s.vocabulary.Stops, id) {
		return s.automaton.accepts(s.state())
	}
	s.automaton.work.renew(s.ctx)
	next := s.after(s.state(), id)
	bytes := s.automaton.states[next].bytes
	if next == dead || bytes >= maxClosing {
		return false
	}
	room := s.room()
	return bytes <= room || s.automaton.tokensToClose(next, s.vocabulary) <= room
}

// failure is the bound that the automaton has hit, if any.
func (s *Shaper) failure() error {
	if s.automaton.work.err == nil {
		return nil
	}
	return fmt.Errorf("following the %s: %w", s.constraint.name, s.automaton.work.err)
}

// room is how many tokens the reply may take after the next one.
func (s *Shaper) room() int32 {
	if s.limit == 0 {
		return beyond
	}
	left := int32(s.limit - len(s.pushed))
	if left-1 >= s.automaton.states[s.state()].bytes {
		return left - 1 // no need to know how far exactly
	}
	return max(left-1, s.automaton.tokensToClose(s.state(), s.vocabulary)-1)
}
