// Package pair evaluates a pair of models: what the target knows, how well the draft agrees with
// it, and what the draft costs.
//
// These three results belong together. A draft that agrees more often but costs more can be worse, and a
// target that says less is easier to predict. A goal can be set for each measured number, which this
// package calls a figure; without goals nothing is judged.
package pair

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"specula/engine/agreement"
	"specula/engine/bench/speed"
	"specula/engine/exam"
)

// Subject is a pair of models, as functions that measure it.
type Subject struct {
	Answer exam.Answer
	// Agreement measures α on dialogues; nil if there is no draft.
	Agreement func(ctx context.Context, talks []agreement.Talk, temperatures []float64) (*agreement.Report, error)
	// Steps measures the cost of the draft; nil if there is no draft.
	Steps func(ctx context.Context) (speed.Steps, error)
}

// Options say what to evaluate.
type Options struct {
	Papers       []exam.Paper
	Dialogues    []agreement.Talk   // dialogues that no training has used; without any, α is not measured
	Temperatures []float64          // temperatures at which α is measured
	Goals        map[string]float64 // by figure: a paper, "alpha-" and a temperature, or "cost"
}

// costName names the only goal that is an upper limit; all others are lower limits.
const costName = "cost"

// alphaName names the goal of α at a temperature.
func alphaName(temperature float64) string {
	return "alpha-" + strconv.FormatFloat(temperature, 'g', -1, 64)
}

// check returns an error if o sets a goal for a figure that a run with these options cannot give.
func (o Options) check() error {
	var known []string
	for _, p := range o.Papers {
		known = append(known, p.Name)
	}
	if len(o.Dialogues) > 0 {
		for _, t := range o.Temperatures {
			known = append(known, alphaName(t))
		}
	}
	known = append(known, costName)
	for _, name := range slices.Sorted(maps.Keys(o.Goals)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no figure %.64q to set a goal for; here are %s (α needs held-out dialogues)", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Run evaluates the pair. After each question of the papers it calls progress, which may be nil. A goal for a
// figure that this run cannot give (check) is an error.
func Run(ctx context.Context, s Subject, o Options, progress func(done, total int)) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := &Report{}
	var err error
	if r.Papers, err = exam.Take(ctx, o.Papers, s.Answer, progress); err != nil {
		return nil, err
	}
	if len(o.Dialogues) > 0 && s.Agreement != nil {
		if r.Agreement, err = s.Agreement(ctx, o.Dialogues, o.Temperatures); err != nil {
			return nil, fmt.Errorf("measuring the agreement: %w", err)
		}
	}
	if s.Steps != nil {
		steps, err := s.Steps(ctx)
		if err != nil {
			return nil, fmt.Errorf("measuring the cost of the draft: %w", err)
		}
		r.Steps = &steps
	}
	r.judge(o.Goals)
	return r, nil
}

// figures returns all measured figures, by the names that goals use.
func (r *Report) figures() map[string]float64 {
	figures := map[string]float64{}
	for _, p := range r.Papers {
		figures[p.Name] = p.Share()
	}
	if r.Agreement != nil {
		for _, a := range r.Agreement.At {
			figures[alphaName(a.Temperature)] = a.Alpha
		}
	}
	if r.Steps != nil {
		figures[costName] = r.Steps.Ratio
	}
	return figures
}

// judge compares the figures with the goals. A goal without a measured figure is not reached.
func (r *Report) judge(goals map[string]float64) {
	figures := r.figures()
	for _, name := range slices.Sorted(maps.Keys(goals)) {
		value, measured := figures[name]
		g := Goal{Name: name, Wanted: goals[name], Reached: measured && value >= goals[name]}
		if name == costName {
			g.Reached = measured && value <= goals[name]
		}
		if measured {
			g.Is = &value
		}
		r.Goals = append(r.Goals, g)
	}
}
