package spec

import (
	"errors"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/engine/sample"
)

// shaped predictions depend on the tokens before them: row i is shaped with the draft tokens in front of it pushed. When the round
// is decided all of them are popped, so that between rounds the shapers know what was committed and nothing else; whoever
// commits pushes.
type shaped struct {
	plain
	shapers sample.Shapers
	draft   []int32
	pushed  int
	// barred means that the draft token behind the row read last may not be written. Shapers are asked nothing behind such a one.
	barred bool
}

func (s *shaped) at(i int) (sample.Dist, error) {
	if s.barred {
		return sample.Dist{}, fmt.Errorf("row %d stands behind a token that may not be written: %w", i, compute.ErrNotFinite)
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

// explain names those that leave nothing of row i, when that is what went wrong.
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
	return compute.ErrNotFinite // the model itself left nothing
}

func (s *shaped) close() { s.shapers.Pop(s.pushed) }

// ContradictionError says that shapers which each leave something leave nothing together.
type ContradictionError struct {
	Names []string // of the shapers that forbid tokens, in their order
}

func (e *ContradictionError) Error() string {
	return "no token may be written here: all are forbidden by " + listed(e.Names) + ", which have to be loosened"
}

// Unwrap says that there is no finite score, and why.
func (e *ContradictionError) Unwrap() []error {
	return []error{sample.ErrNothingLeft, compute.ErrNotFinite}
}
