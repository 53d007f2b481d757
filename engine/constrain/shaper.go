package constrain

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Shaper makes a reply obey a constraint. It forbids each token after which the form cannot be
// completed, or not within the limit of tokens. Once the closing does not fit within the limit any more, the
// reply may exceed it by the rest of the closing (see Bound). Shaper is a sample.Shaper. Only one goroutine
// may use it.
type Shaper struct {
	constraint *Constraint
	vocabulary *Vocabulary
	automaton  *automaton
	masks      *masks
	pushed     []int32         // the tokens of the reply so far
	states     []int32         // the state before each token of pushed, and the state after the last one
	limit      int             // number of tokens that the reply may have; 0 for no limit
	ctx        context.Context // ends the work on a token
	base       int             // size in bytes of the automaton just after the last refresh
	near       []uint64        // memory for a mask near the end of a reply
}

// NewShaper returns a Shaper for the tokens of a vocabulary. It returns an error if these tokens cannot
// spell any reply that satisfies the constraint.
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

// begin replaces the automaton by a new one.
func (s *Shaper) begin() {
	s.automaton = newAutomaton(s.ctx, s.constraint, s.vocabulary.spellable(), s.vocabulary.Lead)
	s.masks, s.base = newMasks(), 0
	s.states = append(s.states[:0], s.automaton.start)
}

// Name returns the name of the constraint.
func (s *Shaper) Name() string { return s.constraint.name }

// Bound sets how many tokens the whole reply may have, 0 for no limit, and ctx, whose end also ends the work
// on a token. Both may change between two tokens. If the closing does not fit within the limit any more,
// the rest of the reply may have as many tokens as the closing, and no more.
func (s *Shaper) Bound(ctx context.Context, tokens int) { s.ctx, s.limit = ctx, tokens }

// Shortest returns the number of tokens that are enough to finish the reply from here: those of the
// closing. A stop token does not count. If the reply cannot be finished, the number is larger than
// any reply has.
func (s *Shaper) Shortest() (int, error) {
	s.automaton.work.renew(s.ctx)
	n := s.automaton.tokensToClose(s.state(), s.vocabulary)
	return int(n), s.failure()
}

// AtLeast returns a lower bound of Shortest that needs no work: it assumes that all tokens are as
// long as the longest one.
func (s *Shaper) AtLeast() int {
	longest := int32(s.vocabulary.longest)
	return int((s.automaton.states[s.state()].bytes + longest - 1) / longest)
}

// Ended reports whether the reply has the form and nothing may be added to it.
func (s *Shaper) Ended() bool {
	return s.automaton.accepts(s.state()) && s.automaton.bytesAfter(s.state()).size() == 0
}

func (s *Shaper) state() int32 { return s.states[len(s.states)-1] }

// Reset begins a reply. The prompt does not matter to the form.
func (s *Shaper) Reset([]int32) error {
	s.pushed, s.states = s.pushed[:0], append(s.states[:0], s.automaton.start)
	if s.automaton.work.err != nil {
		s.begin()
	}
	s.refresh()
	return s.failure()
}

// Push adds a token to the reply. After a forbidden token, or a token that ends the reply, Shape does
// nothing and Allows returns true for all tokens, until Pop removes the token.
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

// Pop removes the last n tokens.
func (s *Shaper) Pop(n int) {
	s.pushed = s.pushed[:len(s.pushed)-n]
	s.states = s.states[:len(s.states)-n]
}

// refresh replaces an automaton that has become large, and reads the reply so far again.
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

// Shape sets to −Inf the scores of the tokens that may not follow.
func (s *Shaper) Shape(logits []float32) error {
	if s.state() == dead {
		return s.failure()
	}
	keep(logits, s.permitted())
	s.allowEnd(logits)
	return s.failure()
}

// Mask implements sample.Masker. Unlike Shape, it does not allow the stop tokens again if other shapers have
// forbidden all tokens.
func (s *Shaper) Mask(allowed []uint64) error {
	if s.state() == dead {
		return s.failure()
	}
	mask := s.permitted()
	n := min(len(allowed), len(mask))
	for i, word := range mask[:n] {
		allowed[i] &= word
	}
	clear(allowed[n:])
	return s.failure()
}

// permitted returns a mask with one bit for each id, set if the token may follow. The mask is valid until the
// next call.
func (s *Shaper) permitted() []uint64 {
	v, a := s.vocabulary, s.automaton
	a.work.renew(s.ctx)
	m, room := s.masks.of(a, v, s.state()), s.room()
	if m.far <= room {
		return m.allowed
	}
	s.masks.measure(a, v, m)
	s.near = append(s.near[:0], m.allowed...)
	for id, tokens := range m.closing {
		if int32(tokens) > room {
			s.near[id/64] &^= 1 << (id % 64)
		}
	}
	return s.near
}

var forbidden = float32(math.Inf(-1))

// keep sets to −Inf the scores of all tokens that are not in allowed, a mask with one bit for each id.
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

// allowEnd allows the stop tokens if the reply may end and no token is allowed any more. Other shapers,
// such as a minimum number of tokens, may have forbidden all tokens that the form allows.
func (s *Shaper) allowEnd(logits []float32) {
	if !s.automaton.accepts(s.state()) || slices.ContainsFunc(logits, func(x float32) bool { return x != forbidden }) {
		return
	}
	for _, id := range s.vocabulary.Stops {
		if int(id) < len(logits) {
			logits[id] = 0
		}
	}
}

// Allows reports whether Shape would allow a token.
func (s *Shaper) Allows(id int32) bool {
	if s.state() == dead {
		return true // see Push
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

// failure returns the error that ended the automaton's work, if any.
func (s *Shaper) failure() error {
	if s.automaton.work.err == nil {
		return nil
	}
	return fmt.Errorf("following the %s: %w", s.constraint.name, s.automaton.work.err)
}

// room returns how many tokens the reply may have after the next one. If the reply cannot end within
// its limit any more, room returns just enough for the closing.
func (s *Shaper) room() int32 {
	if s.limit == 0 {
		return beyond
	}
	left := int32(s.limit - len(s.pushed))
	if left-1 >= s.automaton.states[s.state()].bytes {
		return left - 1 // enough for any closing, so its number of tokens is not needed
	}
	return max(left-1, s.automaton.tokensToClose(s.state(), s.vocabulary)-1)
}
