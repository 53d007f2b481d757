package sample

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Shaper edits the logits of a row, given the tokens before it: a penalty, a bias, a ban, a grammar. With
// a Shaper a row may depend on earlier tokens of the same round. So rows are shaped on the host, position by
// position, unless all Shapers are Editors or Maskers and a device edits the rows.
//
// A Shaper keeps the context as a stack. Before a row is shaped, every token before the row has been
// pushed. Tokens that do not become part of the reply are popped again. The same Shaper shapes the
// draft's rows and the target's rows of a round, one after the other.
type Shaper interface {
	// Name says in one or two words what the Shaper is, for the screen: "penalties", "JSON schema".
	Name() string
	// Shape edits the logits of the token that follows all pushed tokens: one score by id. A score of −Inf
	// forbids a token. The row of a draft model may be shorter than the vocabulary.
	Shape(logits []float32) error
	// Push appends a token to the context, even one that Shape forbids. After a forbidden token,
	// nobody calls Shape or Allows until it is popped.
	Push(id int32)
	// Pop removes the last n tokens. At least n tokens were pushed since Reset.
	Pop(n int)
	// Reset drops the context and starts with a prompt. Some Shapers ignore the tokens of the prompt.
	Reset(prompt []int32) error
}

// Allower is a Shaper that can tell without a row whether a single token is forbidden. A Shaper for
// which this costs as much as shaping a whole row is no Allower.
type Allower interface {
	// Allows reports whether Shape would leave the score of id above −Inf at the current position.
	Allows(id int32) bool
}

// Mild marks a Shaper that only makes tokens less or more likely because of the text before, and forbids none.
// Drafts run without it, because fewer draft tokens would be accepted: a small model is less sure of its
// first choice, so a penalty turns it away from tokens that the target keeps.
type Mild interface {
	Mild()
}

// Temporary is a Shaper that changes rows only up to some position of the reply, such as a minimum
// number of tokens.
type Temporary interface {
	// Active reports whether the next row or a later one can still be changed. Push never makes an
	// inactive Shaper active again; Pop and Reset may.
	Active() bool
}

// Shapers is a list of Shapers in the order in which they edit a row.
type Shapers []Shaper

// ErrNothingLeft means that the Shapers together forbid every token of a row.
var ErrNothingLeft = errors.New("no token is left to write")

// Shape lets every Shaper edit the row. After ErrNothingLeft, call Forbidding with the row as it was
// before Shape, to learn which Shapers are the cause.
func (s Shapers) Shape(logits []float32) error {
	if len(s) == 0 {
		return nil
	}
	for _, shaper := range s {
		if err := shaper.Shape(logits); err != nil {
			return fmt.Errorf("shaping the scores by %s: %w", shaper.Name(), err)
		}
	}
	for _, score := range logits {
		if !forbidden(score) {
			return nil
		}
	}
	return ErrNothingLeft
}

// Forbidding names the Shapers that forbid a token which the Shapers before them allow. It edits
// logits, which must not have been shaped before.
func (s Shapers) Forbidding(logits []float32) []string {
	var names []string
	left := countLeft(logits)
	for _, shaper := range s {
		if shaper.Shape(logits) != nil {
			continue
		}
		if now := countLeft(logits); now < left {
			names = append(names, shaper.Name())
			left = now
		}
	}
	return names
}

func countLeft(logits []float32) int {
	n := 0
	for _, score := range logits {
		if !forbidden(score) {
			n++
		}
	}
	return n
}

func forbidden(score float32) bool { return score < -math.MaxFloat32 }

// Allows reports whether no Shaper is known to forbid a token. It skips Shapers that are no
// Allower.
func (s Shapers) Allows(id int32) bool {
	for _, shaper := range s {
		if a, ok := shaper.(Allower); ok && !a.Allows(id) {
			return false
		}
	}
	return true
}

// ForDraft returns the Shapers that also edit the draft's rows: all except the Mild ones.
func (s Shapers) ForDraft() Shapers {
	var list Shapers
	for _, shaper := range s {
		if _, mild := shaper.(Mild); !mild {
			list = append(list, shaper)
		}
	}
	return list
}

// Active returns the Shapers that can still change a row. The other Shapers need not shape rows, but must
// still be told of every token (Push, Pop).
func (s Shapers) Active() Shapers {
	over := func(shaper Shaper) bool {
		t, ok := shaper.(Temporary)
		return ok && !t.Active()
	}
	if !slices.ContainsFunc(s, over) {
		return s
	}
	return slices.DeleteFunc(slices.Clone(s), over)
}

// Push appends tokens to the context of every Shaper.
func (s Shapers) Push(ids ...int32) {
	for _, shaper := range s {
		for _, id := range ids {
			shaper.Push(id)
		}
	}
}

// Pop removes the last n tokens from every Shaper.
func (s Shapers) Pop(n int) {
	if n == 0 {
		return
	}
	for _, shaper := range s {
		shaper.Pop(n)
	}
}

// Reset starts every Shaper again, with a prompt and the reply so far.
func (s Shapers) Reset(prompt, reply []int32) error {
	for _, shaper := range s {
		if err := shaper.Reset(prompt); err != nil {
			return fmt.Errorf("beginning with %s: %w", shaper.Name(), err)
		}
	}
	s.Push(reply...)
	return nil
}

// Names returns the names of the Shapers.
func (s Shapers) Names() []string {
	names := make([]string, len(s))
	for i, shaper := range s {
		names[i] = shaper.Name()
	}
	return names
}

// Listed joins names with commas and "and".
func Listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
