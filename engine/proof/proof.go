// Package proof shows on the user's own models and prompt that speculation leaves the target's distribution untouched.
//
// At one place of a reply, the probabilities of the next two tokens are known exactly: they are the target's scores there after
// the request's filters. A proposer and an acceptance rule then write these two tokens very many times, and the counts are
// compared with the probabilities: over the likeliest tokens and a rest, both positions jointly, because mistakes about history
// show only there. What is on trial is the code that writes replies. What is not done a hundred thousand times is the arithmetic
// that gives the same each time: rows of scores and their distributions are computed once for each context and remembered.
//
// Only the judged contexts are the models' own: the place, and the place with one of its likeliest tokens behind it. Behind any
// other text both models answer as at the place itself. That too is a language, in which drafts of any length are judged, and
// exactness in the first two tokens must not depend on what comes later; so nine passes of each model are enough.
//
// A report says how small a fault it would have noticed, computed from its number of trials and cells.
package proof

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"specula/engine/sample"
	"specula/engine/spec"
	"specula/engine/stat"
)

// Verifier is what spec.Verifier does.
type Verifier interface {
	Verify(target spec.Rows, draft spec.Draft, terms spec.Terms) (spec.Outcome, error)
}

// Rule is an acceptance rule to put on trial.
type Rule struct {
	Name spec.Rule
	New  func() Verifier
}

// Wrap gives a model in whose place it is to be asked, and which remembers its scores. Models of the same name are the same.
type Wrap = func(name string, m spec.Model) spec.Model

// Proposer is a proposer to put on trial.
type Proposer struct {
	Name    string
	Refused string // why it is not available; New is then nil
	// New makes one whose models are all passed through wrap.
	New func(wrap Wrap) (spec.Proposer, error)
	// Alone says that it computes beside what it passed through wrap, and so must not run in several goroutines.
	Alone bool
	// Device, when not nil, makes what runs the target's passes of trials: then nothing is remembered, every pass of both models is a
	// real one, and a device draws and decides as it does in replies. It knows the rule token alone.
	Device func() (Device, error)
}

// Device runs a target on a device behind drafts that nobody has seen.
type Device interface {
	// Begin brings the target to all of a context but its last token.
	Begin(ctx context.Context, tokens []int32) error
	// Ahead lets the draft of an ask stay on the device.
	Ahead(ctx context.Context, ask *spec.Ask)
	// Rows are those of the pass over the draft of that ask.
	Rows(ctx context.Context, ask *spec.Ask, draft spec.Draft) (spec.Rows, error)
	// Committed takes what the round wrote.
	Committed(ids []int32) error
	Close() error
}

// rulesOf are the rules that a proposer is tried with.
func (s *Subject) rulesOf(p Proposer) []Rule {
	if p.Device == nil {
		return s.Rules
	}
	return slices.DeleteFunc(slices.Clone(s.Rules), func(r Rule) bool { return r.Name != spec.Token })
}

// Subject is what is on trial: a target at the end of a prompt, with everything that could write on.
type Subject struct {
	Target spec.Model
	Prompt []int32 // tokens
	// Again, when not nil, is the prompt of a second turn that asks for the same reply again. Proposers that look up earlier
	// text find something there.
	Again     func(reply []int32) ([]int32, error)
	Params    sample.Params
	IsStop    func(id int32) bool
	Text      func(id int32) string
	Proposers []Proposer
	Rules     []Rule
	Typical   spec.Typical
	Trust     float64 // see spec.Ask
	Gammas    []int   // draft lengths, taken in turn
}

// Options bound a run.
type Options struct {
	Seconds float64 // for everything
	Trials  int     // of one combination, at most
	Seed    uint64
	Now     func() time.Time
}

const (
	// falseAlarms is the probability with which all tests of a run together find a fault in code that has none.
	falseAlarms = 1e-4
	// certainty is that of a noticed fault, in what a report says about its power.
	certainty = 0.99
	// testsPerCase are both statistics of the joint distribution, and that of the first token alone.
	testsPerCase = 3
	// greedyTrials are enough where nothing is left to chance.
	greedyTrials = 2000
)

// trial is one run.
type trial struct {
	Subject
	Options
	readers *readers
	places  []place
	limit   float64 // deviate
	began   time.Time
}

// Run tries every proposer with every rule. progress, which may be nil, is told after each.
func Run(ctx context.Context, s Subject, o Options, progress func(done, total int)) (*Report, error) {
	if len(s.Prompt) == 0 {
		return nil, errors.New("the prompt has no tokens: there is no place to draw at")
	}
	total := 0
	for _, p := range s.Proposers {
		total += len(s.rulesOf(p))
	}
	if total == 0 {
		return nil, errors.New("there is no proposer or no rule to put on trial")
	}
	t := &trial{Subject: s, Options: o, readers: newReaders(), began: o.Now()}
	defer t.readers.close()
	t.limit = stat.Limit(falseAlarms / float64(testsPerCase*total))
	var err error
	if t.places, err = t.explore(ctx); err != nil {
		return nil, fmt.Errorf("looking for places to draw at: %w", err)
	}
	r := &Report{Params: s.Params, Gammas: s.Gammas, FalseAlarms: falseAlarms, Certainty: certainty, PromptTokens: len(s.Prompt)}
	left := 0 // cases that take time
	for _, p := range s.Proposers {
		if p.Refused == "" {
			left += len(s.rulesOf(p))
		}
	}
	for _, p := range s.Proposers {
		cases, err := t.proposer(ctx, p, left)
		if err != nil {
			return nil, fmt.Errorf("trying proposer %s: %w", p.Name, err)
		}
		if p.Refused == "" {
			left -= len(s.rulesOf(p))
		}
		r.Cases = append(r.Cases, cases...)
		if progress != nil {
			progress(len(r.Cases), total)
		}
	}
	r.Seconds = o.Now().Sub(t.began).Seconds()
	r.judge()
	return r, nil
}

// proposer tries every rule with p, within its share of the time that is left for so many cases.
func (t *trial) proposer(ctx context.Context, p Proposer, left int) ([]Case, error) {
	var cases []Case
	refused := func(verdict Verdict, why string) []Case {
		for _, rule := range t.rulesOf(p) {
			cases = append(cases, Case{Proposer: p.Name, Rule: string(rule.Name), Lossy: rule.Name.Lossy(), Verdict: verdict, Why: why})
		}
		return cases
	}
	if p.Refused != "" {
		return refused(Unavailable, p.Refused), nil
	}
	stage, why, err := t.choose(ctx, p)
	if err != nil {
		return nil, err
	}
	if stage == nil {
		return refused(Untested, why), nil
	}
	for i, rule := range t.rulesOf(p) {
		remaining := t.Seconds - t.Now().Sub(t.began).Seconds()
		share := time.Duration(max(0.1, remaining/float64(left-i)) * float64(time.Second))
		c, err := t.try(ctx, stage, p, rule, t.Now().Add(share))
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", rule.Name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func (t *trial) workers(p Proposer) int {
	if p.Alone || p.Device != nil {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
