package engine

import (
	"slices"

	"specula/engine/sample"
	"specula/engine/spec"
)

// sharpness finds the draft temperature with the highest acceptance. A small model is less certain than
// a large one, so at the target's temperature its distribution is too flat. On the demo pair at
// temperature 0.7, 65 % of the draft tokens are accepted if they are drawn at 0.7, and 71 % at 0.2.
// The distribution of the text stays the same, because acceptance uses the q that the token was drawn
// with.
type sharpness struct {
	params  sample.Params
	overlap []float64 // for each factor in sharpenings: moving average of the chance of acceptance
	looked  int       // how often the candidates were compared
	rounds  int       // drafts since the candidates were last compared
}

// sharpenings are the candidates: factors by which the target's temperature is multiplied.
func sharpenings() []float64 { return []float64{1, 0.75, 0.5, 0.3} }

const (
	sharpenFirst  = 8     // the candidates are compared in each of the first 8 drafts
	sharpenEvery  = 64    // then in one of 64 drafts; comparing takes half as long as a pass of the demo target
	sharpenMemory = 0.05  // least weight of the newest comparison in the moving average
	sharpenGain   = 0.005 // a factor below 1 is used if it raises the chance of acceptance by at least this much
)

// due reports whether to compare the candidates in this round.
func (s *sharpness) due(p sample.Params) bool {
	if s.params != p {
		*s = sharpness{params: p}
	}
	s.rounds++
	return p.Temperature > 0 && (s.looked < sharpenFirst || s.rounds >= sharpenEvery)
}

// factor returns the best candidate so far.
func (s *sharpness) factor() float64 {
	if s.looked < sharpenFirst/2 {
		return 1
	}
	best := slices.Index(s.overlap, slices.Max(s.overlap))
	if s.overlap[best] < s.overlap[0]+sharpenGain {
		best = 0
	}
	return sharpenings()[best]
}

// look updates the averages of all candidates with one row of logits of each model.
func (s *sharpness) look(v *spec.Verifier, target spec.Rows, draft spec.Draft) error {
	if len(draft.Logits) == 0 {
		return nil
	}
	var temperatures []float64
	for _, factor := range sharpenings() {
		temperatures = append(temperatures, factor*s.params.Temperature)
	}
	overlaps, err := v.Overlaps(target, draft.Logits[0], s.params, temperatures)
	if err != nil || overlaps == nil {
		return err
	}
	s.rounds = 0
	s.looked++
	if s.overlap == nil {
		s.overlap = slices.Clone(overlaps)
	}
	for i, x := range overlaps {
		s.overlap[i] += max(sharpenMemory, 1/float64(s.looked)) * (x - s.overlap[i])
	}
	return nil
}
