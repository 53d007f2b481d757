package engine

import (
	"fmt"
	"reflect"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/sample"
	"specula/engine/shape"
	"specula/engine/spec"
)

// shaping is what changes the scores of rows, and the settings that ask for it. Making it may take a look at every token of the
// vocabulary, so it is made when these change.
type shaping struct {
	settings shapeSettings
	shapers  sample.Shapers
}

// shapeSettings are all those that shapers are made of.
type shapeSettings struct {
	shape.Settings
	Constraint config.Constraint
}

func shapeSettingsOf(c config.Config) shapeSettings { return shapeSettings{shape.Of(c), c.Constraint} }

// shapers makes those that a configuration asks for, in the order in which they work.
func (e *Engine) shapers(c config.Config) (sample.Shapers, error) {
	shapers, err := shape.New(shape.Of(c), e.tokens.StopTokens(), e.words)
	if err != nil {
		return nil, fmt.Errorf("the setting %w", err)
	}
	return shapers, nil
}

// reshape brings the session's shapers to a configuration. New ones know no context yet.
func (s *Session) reshape(c config.Config) (changed bool, err error) {
	settings := shapeSettingsOf(c)
	if reflect.DeepEqual(settings, s.shaping.settings) {
		return false, nil
	}
	shapers, err := s.engine.shapers(c)
	if err != nil {
		return false, err
	}
	s.shaping = shaping{settings, shapers}
	return true, nil
}

// checkShapers finds what is wrong with a change of settings before it is queued.
func (e *Engine) checkShapers(from, to config.Config) error {
	if reflect.DeepEqual(shapeSettingsOf(from), shapeSettingsOf(to)) {
		return nil
	}
	_, err := e.shapers(to)
	return err
}

// retell lets the shapers know the context of this reply, and nothing else.
func (r *reply) retell() error {
	return r.session.shaping.shapers.Reset(r.context[:r.prompt], r.context[r.prompt:])
}

// path is the one that rounds under a configuration take with the shapers in force.
func (s *Session) path(c config.Config) spec.Path {
	path, _ := spec.Eligible(params(c), s.shaping.shapers, c.Sampling.Logprobs)
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
