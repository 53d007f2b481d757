package spec

import (
	"errors"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/engine/sample"
)

// shaped predictions depend on the tokens before them: row i is shaped after the first i draft tokens
// were pushed to the shapers. close pops these tokens again. So between rounds the shapers have read
// exactly the committed tokens; the caller that commits tokens pushes them.
type shaped struct {
	plain
	shapers sample.Shapers
	draft   []int32
	pushed  int
	// barred: in the row that was read last, the shapers forbid the draft token. Shapers must not be asked
	// about rows after a forbidden token.
	barred bool
}

func (s *shaped) at(i int) (sample.Dist, error) {
	if s.barred {
		return sample.Dist{}, fmt.Errorf("row %d stands after a token that may not be written: %w", i, compute.ErrNotFinite)
	}
	s.shapers.Push(s.draft[s.pushed:i]...)
	s.pushed = i
	if err := s.target.Row(i, s.v.scores); err != nil {
		return sample.Dist{}, err
	}
	if err := s.shapers.Shape(s.v.scores); err != nil {
		return sample.Dist{}, s.explain(i, err)
	}
	s.barred = i < len(s.draft) && s.v.scores[s.draft[i]] < -math.MaxFloat32
	return s.v.sampler.FromLogits(s.v.p, s.v.scores, s.params)
}

// explain replaces sample.ErrNothingLeft by an error with the names of the shapers that together
// leave no token in row i.
func (s *shaped) explain(i int, err error) error {
	if !errors.Is(err, sample.ErrNothingLeft) {
		return err
	}
	if err := s.target.Row(i, s.v.scores); err != nil {
		return err
	}
	if names := s.shapers.Forbidding(s.v.scores); len(names) > 0 {
		return &ContradictionError{Names: names}
	}
	return compute.ErrNotFinite // without any shaper, the model's own scores leave no token
}

func (s *shaped) close() { s.shapers.Pop(s.pushed) }

// ContradictionError says that the shapers together forbid every token.
type ContradictionError struct {
	// Names are the shapers that forbid a token which those before them allow, in the order in which
	// they are applied.
	Names []string
}

func (e *ContradictionError) Error() string {
	return "no token may be written here: all are forbidden by " + sample.Listed(e.Names) + ", which have to be loosened"
}

// Unwrap makes the error match both sample.ErrNothingLeft and compute.ErrNotFinite.
func (e *ContradictionError) Unwrap() []error {
	return []error{sample.ErrNothingLeft, compute.ErrNotFinite}
}
