package engine

import (
	"context"
	"errors"
	"reflect"

	"specula/engine/config"
	"specula/engine/constrain"
	"specula/engine/event"
	"specula/engine/sample"
	"specula/engine/shape"
	"specula/engine/spec"
)

// shaping is what changes the scores of rows, and the settings that ask for it. Making it may take a look at every token of the
// vocabulary, so it is made when these change.
type shaping struct {
	settings shape.Settings
	form     *constrain.Shaper
	shapers  sample.Shapers
	drafts   sample.Shapers // those of them that drafts are shaped by, too
}

// shapers makes those that a configuration asks for, in the order in which they work; the form of the reply comes behind them.
func (e *Engine) shapers(c config.Config) (sample.Shapers, error) {
	return shape.New(shape.Of(c), e.tokens.StopTokens(), e.words)
}

// reshape brings the session's shapers to a configuration. New ones know no context yet.
func (s *Session) reshape(c config.Config) (changed bool, err error) {
	settings, form := shape.Of(c), s.form.shaper
	if form == s.shaping.form && reflect.DeepEqual(settings, s.shaping.settings) {
		return false, nil
	}
	shapers, err := s.engine.shapers(c)
	if err != nil {
		return false, err
	}
	if form != nil {
		shapers = append(shapers, form)
	}
	s.shaping = shaping{settings, form, shapers, shapers.ForDraft()}
	return true, nil
}

// check finds what is wrong with a change of settings before it is in force: what the models cannot do.
func (e *Engine) check(from, to config.Config) error {
	if _, err := skippedLayers(to.Speculation.SkipLayers, e.target.Config().Layers); err != nil {
		return err
	}
	var errShape, errForm error
	if !reflect.DeepEqual(shape.Of(from), shape.Of(to)) {
		_, errShape = e.shapers(to)
	}
	if !reflect.DeepEqual(from.Constraint, to.Constraint) {
		_, errForm = e.newForm(context.Background(), to.Constraint) // which has a budget of its own
	}
	return errors.Join(errShape, errForm)
}

// retell lets the shapers know the context of this reply, and nothing else.
func (r *reply) retell() error {
	return r.session.shaping.shapers.Reset(r.context[:r.prompt], r.context[r.prompt:])
}

// path is the one that rounds under a configuration take at this place of the reply.
func (s *Session) path(c config.Config) spec.Path {
	terms := s.terms(c)
	path, _ := spec.Eligible(&terms)
	return path
}

// logprobs adds log-probabilities to the tokens that a round commits.
func (r *reply) logprobs(target spec.Rows, outcome *spec.Outcome, ev *event.Round) error {
	n := r.config.Sampling.Logprobs
	if n == 0 {
		return nil
	}
	list, err := r.session.verifier.LogProbs(n, target, outcome)
	if err != nil {
		return err
	}
	for i, l := range list {
		t := ev.Commit
		if i < outcome.Accepted {
			t = &ev.Draft[i]
		}
		t.LogProb, t.LogProbs = &l.Own, r.engine.named(l.Top)
	}
	return nil
}
