package sample

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Shaper changes the scores of a row in the light of the tokens before it: a penalty, a bias, a ban, a grammar. It is what
// makes a row depend on earlier tokens of its own round, so that rounds with one are verified position by position.
//
// It knows the context as a stack. Before a row is shaped, every token in front of it has been pushed; what turns out not to be
// committed is popped again. Draft and target rows of one round are shaped by the same Shaper, one after the other.
type Shaper interface {
	// Name says in a word or two what it is, as the screen shows it: "penalties", "JSON schema".
	Name() string
	// Shape edits the scores (vocab) of the token behind everything pushed. A score of −Inf forbids a token. The row of a draft
	// may be shorter than the vocabulary.
	Shape(logits []float32) error
	// Push adds a token behind the context. A token that Shape forbids may be pushed, too: then nothing is asked until it is popped.
	Push(id int32)
	// Pop takes the last n tokens back; at least so many were pushed since Reset.
	Pop(n int)
	// Reset forgets everything and begins with a prompt. A Shaper decides for itself whether the prompt matters to it.
	Reset(prompt []int32) error
}

// Allower is a Shaper that forbids tokens and can say of a single one, without a row, whether it does. One whose answer is as
// dear as a row does not implement it.
type Allower interface {
	// Allows reports whether Shape would leave the score of id, behind everything pushed, above −Inf.
	Allows(id int32) bool
}

// Mild is a Shaper that makes tokens less likely for what was written and forbids none. Drafts do without: a small model is less sure
// of its first choice, so the same penalty turns it away from tokens that the target keeps to, and fewer are accepted.
type Mild interface {
	Mild()
}

// Temporary is a Shaper that changes rows only up to some place of a reply, such as a least number of tokens.
type Temporary interface {
	// Active reports whether a row behind everything pushed can still be changed, be it the next or a later one. Push never makes a
	// Shaper active again, Pop and Reset may.
	Active() bool
}

// Shapers is a list of them, in the order in which they work on a row.
type Shapers []Shaper

// ErrNothingLeft means that Shapers together forbid every token of a row.
var ErrNothingLeft = errors.New("no token is left to write")

// Shape lets every Shaper edit the row. ErrNothingLeft is the caller's to explain by Forbidding, which needs the row as it was.
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

// Forbidding names the Shapers that take a token out of a raw row which those before left in; the row is shaped on the way.
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

// Allows reports whether no Shaper is known to forbid a token. Those that are no Allower are not asked.
func (s Shapers) Allows(id int32) bool {
	for _, shaper := range s {
		if a, ok := shaper.(Allower); ok && !a.Allows(id) {
			return false
		}
	}
	return true
}

// ForDraft returns those that a draft is shaped by, too: all but the Mild.
func (s Shapers) ForDraft() Shapers {
	var list Shapers
	for _, shaper := range s {
		if _, mild := shaper.(Mild); !mild {
			list = append(list, shaper)
		}
	}
	return list
}

// Active returns those that can still change a row. The others need not be asked, but have to be told of every token.
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

// Push adds tokens behind the context of all.
func (s Shapers) Push(ids ...int32) {
	for _, shaper := range s {
		for _, id := range ids {
			shaper.Push(id)
		}
	}
}

// Pop takes the last n tokens back from all.
func (s Shapers) Pop(n int) {
	if n == 0 {
		return
	}
	for _, shaper := range s {
		shaper.Pop(n)
	}
}

// Reset begins anew with a prompt and a reply so far.
func (s Shapers) Reset(prompt, reply []int32) error {
	for _, shaper := range s {
		if err := shaper.Reset(prompt); err != nil {
			return fmt.Errorf("beginning with %s: %w", shaper.Name(), err)
		}
	}
	s.Push(reply...)
	return nil
}

// Names are those of the list.
func (s Shapers) Names() []string {
	names := make([]string, len(s))
	for i, shaper := range s {
		names[i] = shaper.Name()
	}
	return names
}
