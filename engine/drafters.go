package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/spec"
)

// drafter is one row in the register of proposers: a value of the setting speculation.proposer.
type drafter struct {
	spec.Traits
	// build makes the proposer of a session when it is chosen for the first time.
	build func(s *Session, c config.Speculation) (spec.Proposer, error)
	// made returns the settings that build uses, as text. If the text has changed when a reply begins, the
	// proposer is dropped, and built again when it is next used. nil: build uses no settings, or the proposer
	// is a cascade, which is dropped together with any of its parts.
	made func(c config.Speculation) string
	// parts are the proposers of a cascade, in the order in which they are asked; nil for all others.
	parts []string
}

// drafters is the register of proposers. A key of the screen steps through them in this order. Elsewhere in
// this package, only the code that loads and builds a kind of proposer knows its name. Other code looks at
// traits.
func drafters() []drafter {
	return []drafter{
		{Traits: spec.Traits{Name: "draft", From: spec.FromDraft, AutoRank: 1, AutoWhy: "there is a draft model",
			Words: "from the draft model", Help: "the draft model"}, build: buildDraft},
		{Traits: spec.Traits{Name: "ngram", FindsChats: true, Words: "from matches in the text so far",
			Help: "what followed the last tokens where they stood before"}, build: buildNgram,
			made: func(c config.Speculation) string { return fmt.Sprint(c.NgramMax, c.NgramMin) }},
		{Traits: spec.Traits{Name: "suffix", FindsChats: true, AutoRank: 5, AutoWhy: "looking up what stood in the text before needs no model",
			Words: "from what came most often before", Help: "what most often followed the last tokens, in the text so far or in earlier chats of the session"},
			build: func(s *Session, _ config.Speculation) (spec.Proposer, error) { return spec.NewSuffix(s.corpus), nil }},
		cascade([]string{"suffix", "draft"}, spec.Traits{Name: "combined", From: spec.FromDraft, Words: "from earlier text or the draft model",
			Help: "suffix where it is sure, otherwise the draft model; the same as suffix,draft"}),
		{Traits: spec.Traits{Name: "skip", From: spec.FromLayers, Words: "from the target without some layers",
			Help: "the target without some of its layers"}, build: buildSkip,
			made: func(c config.Speculation) string { return fmt.Sprint(c.SkipLayers) }},
		{Traits: spec.Traits{Name: "eagle", From: spec.FromHeads, AutoRank: 2, AutoWhy: "trained heads for this target are loaded",
			Words: "by trained heads", Help: "EAGLE's trained heads (see heads)"}, build: buildEagle},
		{Traits: spec.Traits{Name: "medusa", From: spec.FromHeads, AutoRank: 3, AutoWhy: "trained heads for this target are loaded",
			Words: "by trained heads", Help: "Medusa's trained heads (see heads)"}, build: buildMedusa},
		{Traits: spec.Traits{Name: "mtp", From: spec.FromHeads, AutoRank: 4, AutoWhy: "the target came with a head that drafts",
			Words: "by the head that came with the target", Help: "the target's head of multi-token prediction, in its own file or beside it"}, build: buildMTP},
	}
}

// drafterNamed finds a drafter by its name. A name with commas lists the proposers of a cascade, and
// drafterNamed makes the drafter of this cascade. It panics for any other name, which the configuration
// does not allow.
func drafterNamed(name string) drafter {
	if names := strings.Split(name, ","); len(names) > 1 {
		parts, last := names[:len(names)-1], drafterNamed(names[len(names)-1])
		if last.parts == nil {
			return cascade(names, spec.Traits{Name: name, From: last.From})
		}
		for _, part := range last.parts { // "suffix,ngram,combined" asks suffix once
			if !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
		return cascade(parts, spec.Traits{Name: name, From: last.From})
	}
	list := drafters()
	i := slices.IndexFunc(list, func(d drafter) bool { return d.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("engine: no proposer %q", name))
	}
	return list[i]
}

// why says why e cannot draft with this proposer, and what to do about it; "" if it can.
func (d *drafter) why(e *Engine) string {
	for _, part := range d.parts {
		if p := drafterNamed(part); p.why(e) != "" {
			return p.why(e)
		}
	}
	switch d.From {
	case spec.FromDraft:
		if e.draft == nil {
			return e.ready.DraftRefused
		}
	case spec.FromLayers:
		if e.target == nil {
			return "the target is on a server: its layers are not here"
		}
		if n := e.shape.Layers; len(e.shape.MiddleLayers()) == 0 {
			if len(e.shape.Lenders) > 0 {
				return fmt.Sprintf("of the target's %d layers none can be left out: too few, or others need their keys and values", n)
			}
			return fmt.Sprintf("the target has %d layers, too few to leave any out", n)
		}
	case spec.FromHeads:
		if d.parts == nil {
			return e.noHeads(d.Name)
		}
	}
	return ""
}

// parameters returns how many weights the draft of one token reads; 0 if it only looks up text.
func (d *drafter) parameters(e *Engine, c config.Speculation) int64 {
	if d.parts != nil {
		last := drafterNamed(d.parts[len(d.parts)-1])
		return last.parameters(e, c)
	}
	switch d.From {
	case spec.FromDraft:
		return e.draft.Config().ReadBy(1)
	case spec.FromLayers:
		return skipParameters(e, c)
	case spec.FromHeads:
		return e.heads[d.Name].ParametersPerToken()
	}
	return 0
}

// describeProposers says for each drafter whether it can be chosen.
func (e *Engine) describeProposers() []event.Proposer {
	var list []event.Proposer
	for _, d := range drafters() {
		list = append(list, event.Proposer{Name: d.Name, Refused: d.why(e), Words: d.Words})
	}
	return list
}

// WithWords completes the Ready event of an old trace: it adds the proposers that the event does not list, and
// the texts of proposers (Words).
func WithWords(r event.Ready) event.Ready {
	r.Proposers = slices.Clone(r.Proposers)
	for _, d := range drafters() {
		i := slices.IndexFunc(r.Proposers, func(p event.Proposer) bool { return p.Name == d.Name })
		if i < 0 {
			i, r.Proposers = len(r.Proposers), append(r.Proposers, event.Proposer{Name: d.Name})
		}
		r.Proposers[i].Words = cmp.Or(r.Proposers[i].Words, d.Words)
	}
	return r
}

// proposer returns the session's proposer of this name, and makes it at first use. refused says why it
// cannot be made; "" if it can.
func (s *Session) proposer(name string, c config.Speculation) (p spec.Proposer, refused string) {
	if p := s.proposers[name]; p != nil {
		return p, ""
	}
	d := drafterNamed(name)
	if refused := d.why(s.engine); refused != "" {
		return nil, refused
	}
	if why := s.failed[name]; why != "" {
		return nil, why
	}
	p, err := d.build(s, c)
	if err != nil {
		s.failed[name] = err.Error()
		return nil, err.Error()
	}
	s.proposers[name] = p
	if d.made != nil {
		s.made[name] = d.made(c)
	}
	return p, ""
}

// renew drops the proposers that were built from other settings. It also forgets which proposers could
// not be made, so that they are tried again.
func (s *Session) renew(c config.Speculation) error {
	clear(s.failed)
	for name, p := range s.proposers {
		d := drafterNamed(name)
		if d.made == nil || d.made(c) == s.made[name] {
			continue
		}
		s.drop(name)
		if err := p.Close(); err != nil {
			return fmt.Errorf("closing proposer %s: %w", name, err)
		}
	}
	return nil
}

// drop forgets a proposer, the cascades that it is part of, and what rounds with them have taught
// (lessons).
func (s *Session) drop(name string) {
	has := func(other string) bool { return other == name || slices.Contains(drafterNamed(other).parts, name) }
	maps.DeleteFunc(s.proposers, func(other string, _ spec.Proposer) bool { return has(other) })
	maps.DeleteFunc(s.lessons, func(k kind, _ *lessons) bool { return has(k.proposer) })
}

// prepareProposers drops the proposers that were built from other settings than those of a new reply (renew).
// A repeatable reply must not be drafted from the text of earlier replies. So for a repeatable reply
// prepareProposers also hides the corpus, and resets the proposers that keep text of earlier replies.
func (s *Session) prepareProposers(c config.Config) error {
	err := s.renew(c.Speculation)
	alone := repeatable(c)
	if s.corpus.Hide(alone); alone {
		for name, p := range s.proposers {
			if drafterNamed(name).FindsChats {
				err = errors.Join(err, p.Reset())
			}
		}
	}
	return err
}

func buildDraft(s *Session, _ config.Speculation) (spec.Proposer, error) {
	p, err := s.engine.newDraftProposer()
	if err != nil {
		return nil, fmt.Errorf("allocating the draft model's cache: %w", err)
	}
	return p, nil
}

func buildNgram(s *Session, c config.Speculation) (spec.Proposer, error) {
	return spec.NewNgram(c.NgramMax, c.NgramMin).Recalling(s.corpus), nil
}

// cascade returns the drafter of a cascade. Its parts are lookups and, as the last one, the proposer
// that drafts when no lookup is sure of its draft. The session closes the parts. Closing the cascade
// closes none of them.
func cascade(parts []string, traits spec.Traits) drafter {
	build := func(s *Session, c config.Speculation) (spec.Proposer, error) {
		list := make([]spec.Proposer, len(parts))
		for i, part := range parts {
			var refused string
			if list[i], refused = s.proposer(part, c); refused != "" {
				return nil, fmt.Errorf("without %s: %s", part, refused)
			}
		}
		last := len(list) - 1
		if traits.Hidden() {
			return spec.NewHiddenCascade(traits.Name, list[:last], list[last].(spec.HiddenReader)), nil
		}
		return spec.NewCascade(traits.Name, list[:last], list[last], !traits.Lookup()), nil
	}
	return drafter{Traits: traits, parts: parts, build: build}
}

func buildSkip(s *Session, c config.Speculation) (spec.Proposer, error) {
	e := s.engine
	layers, err := skippedLayers(c.SkipLayers, e.shape)
	if err != nil {
		return nil, err
	}
	view, err := e.target.Without(layers)
	if err != nil {
		return nil, err
	}
	p, err := spec.NewDraftModel(view, e.tokens.VocabSize(), view.Config().Vocab)
	if err != nil {
		return nil, err
	}
	return p.Named("skip"), nil
}

func skipParameters(e *Engine, c config.Speculation) int64 {
	target := e.shape
	layers, err := skippedLayers(c.SkipLayers, target)
	if err != nil {
		return target.ReadBy(1)
	}
	target.Parameters = target.ParametersWithout(len(layers))
	target.Layers -= len(layers)
	return target.ReadBy(1)
}
