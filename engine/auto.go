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

// The value "auto" of speculation.proposer means the first proposer of autoOrder that can draft. When
// a reply takes its settings, resolve replaces auto by the name of that proposer. Later code sees only
// names of proposers.

const auto = "auto"

// autoOrder lists the proposers that auto tries. Those that usually gain most come first: the draft
// model, then trained heads of the target, then a lookup. The lookup needs no model, so it always
// works.
func autoOrder() []drafter {
	list := slices.DeleteFunc(drafters(), func(d drafter) bool { return d.AutoRank == 0 })
	slices.SortFunc(list, func(a, b drafter) int { return a.AutoRank - b.AutoRank })
	return list
}

// autoPatience: auto gives a proposer up after this many drafts in a row without a token.
const autoPatience = 4

// setback says why a proposer was given up, and how long the context was then.
type setback struct {
	why    string
	tokens int // 0: a shorter context does not help, because the proposer could not be made or its device failed
}

// auto returns the proposer that the setting auto stands for now, and why. setbacks may be nil.
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

// missing returns, as text, what a proposer needs and does not have.
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

// resolve replaces auto by the proposer that it stands for now.
func (s *Session) resolve(c config.Config) config.Config {
	if c.Speculation.Proposer == auto {
		c.Speculation.Proposer = s.engine.auto(s.setbacks).Proposer
	}
	return c
}

// forgive lets auto try a proposer again that was given up in a longer context. tokens is the length of
// the new context, which a draft model may be able to read. A repeatable reply must not depend on the
// replies before it, so in such a reply auto tries all proposers again.
func (s *Session) forgive(tokens int, c config.Config) {
	for name, b := range s.setbacks {
		if tokens < b.tokens || repeatable(c) {
			delete(s.setbacks, name)
		}
	}
}

// giveUp notes why the current proposer cannot draft, switches to the next choice of auto, and tells
// the user. tokens is as in setback. If the user chose the proposer by name, or if the proposer is a lookup,
// giveUp changes nothing and returns false. It returns an error if nobody reads the events any more.
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

// countFailures lets auto give a proposer up when autoPatience drafts in a row gave no token. A lookup is
// never given up, because a lookup often finds nothing.
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

// goOnWithout gives the draft model up if it has a device of its own, this device failed, and auto
// chose the proposer. Otherwise it returns cause.
func (r *reply) goOnWithout(p spec.Proposer, cause error) error {
	s := r.session
	if r.traits.From != spec.FromDraft || s.engine.options.DraftBackend == nil || !deviceFailed(cause) {
		return cause
	}
	other, err := r.giveUp(cause.Error(), 0)
	if !other || err != nil {
		return errors.Join(cause, err)
	}
	s.drop(p.Name())
	_ = p.Close() // the failure of its device was reported already
	return nil
}
