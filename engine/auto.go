package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/round"
	"specula/engine/spec"
)

// The setting speculation.proposer = "auto" stands for the first of autoOrder that can draft. Everything after the
// settings knows the proposer by its own name: a reply resolves auto where it takes its settings.

const auto = "auto"

// autoOrder lists the proposers that auto tries: by what is usually gained, a draft model, trained heads of the target, and what needs
// no model at all. Nothing can refuse the last.
func autoOrder() []drafter {
	list := slices.DeleteFunc(drafters(), func(d drafter) bool { return d.AutoRank == 0 })
	slices.SortFunc(list, func(a, b drafter) int { return a.AutoRank - b.AutoRank })
	return list
}

// autoPatience is how many drafts in a row a proposer may fail to make before auto turns to the next.
const autoPatience = 4

// setback is why a proposer was given up, and of how many tokens the context was then.
type setback struct {
	why    string
	tokens int // 0: it could not be made
}

// auto says which proposer auto stands for. Setbacks may be nil.
func (e *Engine) auto(setbacks map[string]setback) event.Auto {
	var because []string
	order := autoOrder()
	for _, d := range order {
		refused := d.why(e)
		switch s, failed := setbacks[d.Name]; {
		case refused == "" && !failed:
			return event.Auto{Proposer: d.Name, Why: strings.Join(append(because, d.AutoWhy), "; ")}
		case failed:
			because = append(because, fmt.Sprintf("%s cannot draft: %s", d.Name, s.why))
		default:
			if why := e.missing(&d, refused); !slices.Contains(because, why) {
				because = append(because, why)
			}
		}
	}
	return event.Auto{Proposer: order[len(order)-1].Name, Why: strings.Join(because, "; ")}
}

// missing says what a proposer lacks.
func (e *Engine) missing(d *drafter, refused string) string {
	switch {
	case d.From == spec.FromDraft && !e.options.Draft.none():
		return "no draft model: " + refused
	case d.From == spec.FromHeads && e.headsRefused[d.Name] != "":
		return "no heads: " + refused
	case d.From == spec.FromHeads:
		return "no trained heads"
	}
	return refused
}

// resolve puts the proposer that auto stands for in its place.
func (s *Session) resolve(c config.Config) config.Config {
	if c.Speculation.Proposer == auto {
		c.Speculation.Proposer = s.engine.auto(s.setbacks).Proposer
	}
	return c
}

// forgive lets proposers that were given up be tried again: in a shorter context, which a draft model may be able to
// read, and in a reply that must not depend on those before it.
func (s *Session) forgive(tokens int, c config.Config) {
	for name, b := range s.setbacks {
		if tokens < b.tokens || repeatable(c) {
			delete(s.setbacks, name)
		}
	}
}

// giveUp turns from the proposer in force to the next that auto stands for, and tells the user. It reports false if the
// user chose the proposer, or if there is no other.
func (r *reply) giveUp(why string, tokens int) (bool, error) {
	s, before := r.session, r.config.Speculation.Proposer
	if d := drafterNamed(before); !r.auto || d.Lookup() {
		return false, nil
	}
	s.setbacks[before] = setback{why: why, tokens: tokens}
	next := s.engine.auto(s.setbacks)
	r.config.Speculation.Proposer, r.following, r.proposer = next.Proposer, "", nil
	r.learned.follow(next.Proposer)
	r.learned.gamma.Configure(s.gammaOptions(r.config))
	return true, r.out.emit(event.Notice{Level: "warning", Text: fmt.Sprintf("%s cannot draft: %s; %s drafts in its place", before, why, next.Proposer)})
}

// countFailures counts drafts in a row that a proposer with a model failed to make, and gives it up when there are too
// many. One that only looks up often finds nothing.
func (r *reply) countFailures(did *round.Result) error {
	if r.traits.Lookup() || did.Proposed > 0 {
		r.failures = 0
		return nil
	}
	if r.failures++; r.failures < autoPatience {
		return nil
	}
	r.failures = 0
	why := did.Draft.Stop
	if did.Failed != nil {
		why = did.Failed.Error()
	}
	_, failed := r.giveUp(why, len(r.context))
	return failed
}

// goOnWithout drops a draft model whose own device failed, if it was left to auto who drafts. Otherwise it returns cause.
func (r *reply) goOnWithout(p spec.Proposer, cause error) error {
	s := r.session
	if r.traits.From != spec.FromDraft || s.engine.options.DraftBackend == nil || !deviceFailed(cause) {
		return cause
	}
	other, err := r.giveUp(cause.Error(), 0)
	if !other || err != nil {
		return errors.Join(cause, err)
	}
	delete(s.proposers, p.Name())
	_ = p.Close() // the failure of its device has been told
	return nil
}
