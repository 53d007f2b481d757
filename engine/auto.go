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

// The setting speculation.proposer = "auto" stands for the first proposer of autoOrder that can
// draft. When a reply takes its settings, it replaces auto by the name of that proposer (resolve).
// All code after that sees only such names.

const auto = "auto"

// autoOrder lists the proposers that auto tries, those that usually gain most first: the draft
// model, then trained heads of the target, then a lookup, which needs no model. No engine refuses
// the last one.
func autoOrder() []drafter {
	list := slices.DeleteFunc(drafters(), func(d drafter) bool { return d.AutoRank == 0 })
	slices.SortFunc(list, func(a, b drafter) int { return a.AutoRank - b.AutoRank })
	return list
}

// autoPatience is how many drafts in a row a proposer may fail to make before auto turns to the next.
const autoPatience = 4

// setback is the reason why a proposer was given up, and the length of the context at that time.
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

// forgive lets auto try proposers again that were given up. tokens is the length of the new
// context. A setback in a longer context is forgotten, because a draft model may be able to read
// this shorter one. A reply that must be repeatable forgets all setbacks, because it must not
// depend on the replies before it.
func (s *Session) forgive(tokens int, c config.Config) {
	for name, b := range s.setbacks {
		if tokens < b.tokens || repeatable(c) {
			delete(s.setbacks, name)
		}
	}
}

// giveUp notes why the proposer in force cannot draft, puts the next one that auto stands for in
// its place, and tells the user. It changes nothing and returns false if the user chose the
// proposer by name, or if it is a lookup: auto has none after that. An error means that nobody
// reads the reply any more.
func (r *reply) giveUp(why string, tokens int) (bool, error) {
	s, before := r.session, r.config.Speculation.Proposer
	if d := drafterNamed(before); !r.auto || d.Lookup() {
		return false, nil
	}
	s.setbacks[before] = setback{why: why, tokens: tokens}
	next := s.engine.auto(s.setbacks)
	r.config.Speculation.Proposer, r.following, r.proposer = next.Proposer, "", nil
	r.turnTo(r.config)
	return true, r.out.emit(event.Notice{Level: "warning", Text: fmt.Sprintf("%s cannot draft: %s; %s drafts in its place", before, why, next.Proposer)})
}

// countFailures counts the drafts in a row for which a proposer with a model gave no token. After
// autoPatience of them it gives the proposer up. A lookup is never given up: it often finds
// nothing.
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

// goOnWithout drops a draft model whose own device failed, if auto chose the
// proposer. Otherwise it returns cause.
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
