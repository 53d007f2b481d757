package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/spec"
)

// The setting speculation.proposer = "auto" stands for the first of autoOrder that can draft. Everything behind the
// settings knows the proposer by its own name: a reply resolves auto where it takes its settings.

const auto = "auto"

// autoOrder is by what is usually gained: a draft model, trained heads of the target, and what needs no model at all.
var autoOrder = []string{"draft", "eagle", "medusa", "suffix"}

// autoPatience is how many drafts in a row a proposer may fail to make before auto turns to the next.
const autoPatience = 4

// autoWords say why a proposer is taken, once those before it in autoOrder are not.
var autoWords = map[string]string{
	"draft":  "there is a draft model",
	"eagle":  "trained heads for this target are loaded",
	"medusa": "trained heads for this target are loaded",
	"suffix": "looking up what stood in the text before needs no model",
}

// setback is why a proposer was given up, and of how many tokens the context was then.
type setback struct {
	why    string
	tokens int // 0: it could not be made
}

// auto says which proposer auto stands for. Setbacks may be nil.
func (e *Engine) auto(setbacks map[string]setback) event.Auto {
	var because []string
	for _, name := range autoOrder {
		refused := drafterNamed(name).why(e)
		switch s, failed := setbacks[name]; {
		case refused == "" && !failed:
			return event.Auto{Proposer: name, Why: strings.Join(append(because, autoWords[name]), "; ")}
		case failed:
			because = append(because, fmt.Sprintf("%s cannot draft: %s", name, s.why))
		default:
			if why := e.missing(name, refused); !slices.Contains(because, why) {
				because = append(because, why)
			}
		}
	}
	return event.Auto{Proposer: "suffix", Why: strings.Join(because, "; ")} // which nothing can refuse
}

// missing says what a proposer lacks.
func (e *Engine) missing(name, refused string) string {
	switch {
	case name == "draft" && e.options.Draft.none(), name == "suffix":
		return refused
	case name == "draft":
		return "no draft model: " + refused
	case e.headsRefused[name] != "":
		return "no heads: " + refused
	}
	return "no trained heads"
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
	if !r.auto || before == autoOrder[len(autoOrder)-1] {
		return false, nil
	}
	s.setbacks[before] = setback{why: why, tokens: tokens}
	next := s.engine.auto(s.setbacks)
	r.config.Speculation.Proposer, r.begun, r.proposer, r.patient = next.Proposer, "", nil, false
	r.learned.follow(next.Proposer)
	r.learned.gamma.Configure(s.gammaOptions(r.config))
	return true, r.emit(event.Notice{Level: "warning", Text: fmt.Sprintf("%s cannot draft: %s; %s drafts in its place", before, why, next.Proposer)})
}

// countFailures counts drafts in a row that a proposer with a model failed to make, and gives it up when there are too
// many. One that only looks up often finds nothing.
func (r *reply) countFailures(draft *spec.Draft, err error) error {
	if r.free || len(draft.Tokens) > 0 || err != nil && !errors.Is(err, spec.ErrNoDraft) {
		r.failures = 0
		return nil
	}
	if r.failures++; r.failures < autoPatience {
		return nil
	}
	r.failures = 0
	why := draft.Stop
	if err != nil {
		why = err.Error()
	}
	_, failed := r.giveUp(why, len(r.context))
	return failed
}

// goOnWithout drops a draft model whose own device failed, if it was left to auto who drafts. Otherwise it returns cause.
func (r *reply) goOnWithout(p spec.Proposer, cause error, ev *event.Round) error {
	s := r.session
	if p.Name() != "draft" || s.engine.options.DraftBackend == nil || !deviceFailed(cause) {
		return cause
	}
	other, err := r.giveUp(cause.Error(), 0)
	if !other || err != nil {
		return errors.Join(cause, err)
	}
	delete(s.proposers, p.Name())
	_ = p.Close() // the failure of its device has been told
	ev.DraftWhy = cause.Error()
	return nil
}
