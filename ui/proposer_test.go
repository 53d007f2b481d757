package ui

import (
	"context"
	"testing"

	"specula/engine/event"
)

// alone removes the draft model from a screen's models.
func alone(o *Options) {
	load := o.Load
	o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
		return load(ctx, func(e event.Event) {
			if r, ok := e.(event.Ready); ok {
				r.Draft, r.DraftRefused = nil, "no draft model was asked for"
				r.Proposers = []event.Proposer{{Name: "draft", Refused: r.DraftRefused}, {Name: "ngram"}, {Name: "suffix"}}
				r.Auto = &event.Auto{Proposer: "suffix", Why: "no draft model was asked for; no trained heads; looking up needs no model"}
				e = r
			}
			emit(e)
		})
	}
}

func TestTheScreenSaysWhichProposerAutoTakesAndWhy(t *testing.T) {
	s := open(t, alone)
	s.mustRead("suffix drafts: no draft model was asked for; no trained heads; looking up needs no model")
	s.quiet()
	s.mustRead("proposer auto: suffix")
	s.mustRead("suffix guesses, demo-target checks")
	for _, next := range []string{"proposer ngram", "proposer suffix", "proposer auto: suffix", "proposer ngram"} {
		s.press("alt+p")
		s.mustRead(next)
	}
	s.ask("/proposer auto")
	s.mustRead("proposer auto: suffix; no draft model was asked for")
	s.ask("/proposer draft")
	s.mustRead("draft cannot draft, so rounds are plain: no draft model was asked for")

	small := openSmall(t, alone)
	small.quiet()
	small.mustRead("proposer auto: suffix")
	small.mustRead("suffix guesses, demo-target checks")
}
