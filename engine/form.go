package engine

import (
	"fmt"
	"reflect"

	"specula/engine/config"
	"specula/engine/constrain"
)

// form is the constraint of a session's replies. It outlives them, and with it the masks that it has worked out.
type form struct {
	of     config.Constraint // with the contents of files
	shaper *constrain.Shaper // nil: replies may have any form
}

// newForm compiles a constraint for the target's vocabulary.
func (e *Engine) newForm(c config.Constraint) (*constrain.Shaper, error) {
	compiled, err := c.Compile()
	if compiled == nil || err != nil {
		return nil, err
	}
	return constrain.NewShaper(compiled, e.spelling())
}

// newSpelling reads the vocabulary as what it can spell.
func (e *Engine) newSpelling() *constrain.Vocabulary {
	return constrain.NewVocabulary(e.tokens.VocabSize(), e.tokens.Bytes, e.tokens.StopTokens(), e.tokens.DropsFirstSpace())
}

// takeForm puts a constraint in force for the next reply. Files are read again, since they may have changed.
func (s *Session) takeForm(c config.Constraint) error {
	read, err := c.Read()
	if err == nil && !reflect.DeepEqual(read, s.form.of) {
		var shaper *constrain.Shaper
		if shaper, err = s.engine.newForm(read); err == nil {
			s.form = form{read, shaper}
		}
	}
	if err != nil {
		return fmt.Errorf("the form of the reply: %w", err)
	}
	return nil
}

// bound tells the constraint how long the reply may become.
func (r *reply) bound() {
	if f := r.session.form.shaper; f != nil {
		f.Limit(min(r.config.Sampling.MaxTokens, len(r.context)-r.prompt+r.roomInContext()))
	}
}

// roomInContext is how many more tokens every cache can take.
func (r *reply) roomInContext() int {
	return r.session.cache.Cap() - max(len(r.context), r.companionLen())
}

// checkRoom refuses a reply that cannot have its form within its length.
func (r *reply) checkRoom() error {
	f := r.session.form.shaper
	if f == nil {
		return nil
	}
	switch shortest, room := f.Shortest(), r.roomInContext(); {
	case shortest > r.config.Sampling.MaxTokens:
		return fmt.Errorf("the shortest reply that fits the %s may need %d tokens, and sampling.max_tokens is %d: raise it", f.Name(), shortest, r.config.Sampling.MaxTokens)
	case shortest > room:
		return fmt.Errorf("the shortest reply that fits the %s may need %d tokens, and only %d are left in the context: begin a new chat, or set context.overflow to drop-oldest", f.Name(), shortest, room)
	}
	return nil
}

// expected says in words what the constraint expects next.
func (r *reply) expected() string {
	if f := r.session.form.shaper; f != nil {
		return f.Expects()
	}
	return ""
}

// complete reports that nothing may follow and that the vocabulary has no token that says so.
func (r *reply) complete() bool {
	f := r.session.form.shaper
	return f != nil && len(r.engine.stops) == 0 && f.Ended()
}
