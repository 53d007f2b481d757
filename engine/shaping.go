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

// shaping holds the shapers, which change rows of logits, and the settings that they were made from.
// Making shapers may need a look at every token of the vocabulary, so they are made only when these
// settings change.
type shaping struct {
	settings shape.Settings
	form     *constrain.Shaper
	shapers  sample.Shapers
	drafts   sample.Shapers // the shapers that are applied to drafts, too
}

// shapers makes the shapers of a configuration, in the order in which they are applied. The constraint
// is not among them; it is applied after them.
func (e *Engine) shapers(c config.Config) (sample.Shapers, error) {
	return shape.New(shape.Of(c), e.tokens.StopTokens(), e.words)
}

// reshape makes new shapers for the session if c needs others. The new ones do not know the context yet.
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

// check returns an error for new settings that do not fit these models, such as a layer or a token that
// does not exist, or a form that cannot be compiled.
func (e *Engine) check(from, to config.Config) error {
	if _, err := skippedLayers(to.Speculation.SkipLayers, e.shape); err != nil {
		return err
	}
	var errShape, errForm error
	if !reflect.DeepEqual(shape.Of(from), shape.Of(to)) {
		_, errShape = e.shapers(to)
	}
	if !reflect.DeepEqual(from.Constraint, to.Constraint) {
		_, errForm = e.newForm(context.Background(), to.Constraint) // newForm bounds its own work
	}
	return errors.Join(errShape, errForm)
}

// retell resets the shapers and gives them the context of this reply.
func (r *reply) retell() error {
	return r.session.shaping.shapers.Reset(r.context[:r.prompt], r.reply())
}

// path returns the path for which the next round is eligible under c.
func (s *Session) path(c config.Config) spec.Path {
	terms := s.terms(c)
	return spec.Eligible(&terms)
}

// logprobs adds log-probabilities to the tokens that a round commits.
func (r *reply) logprobs(target spec.Rows, outcome *spec.Outcome, ev *event.Round) error {
	n := r.config.Sampling.Logprobs
	if n == 0 {
		return nil
	}
	list, err := r.session.driver.Verifier.LogProbs(n, target, outcome)
	if err != nil {
		return err
	}
	for i, l := range list {
		t := ev.Commit
		if i < outcome.Accepted {
			t = &ev.Draft[i]
		}
		t.LogProb, t.LogProbs = &l.Own, r.session.engine.named(l.Top)
	}
	return nil
}
