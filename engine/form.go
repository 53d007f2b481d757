package engine

import (
	"context"
	"fmt"
	"reflect"

	"specula/engine/config"
	"specula/engine/constrain"
)

// form is the constraint on a session's replies. The session keeps it for later replies, because the
// masks that the shaper has computed stay valid.
type form struct {
	of     config.Constraint // the constraint that shaper was compiled from, with the contents of files
	shaper *constrain.Shaper // nil: replies may have any form
}

// newForm compiles a constraint for the target's vocabulary. It returns nil if c sets none.
func (e *Engine) newForm(ctx context.Context, c config.Constraint) (*constrain.Shaper, error) {
	compiled, err := c.Compile(ctx)
	if compiled == nil || err != nil {
		return nil, err
	}
	return constrain.NewShaper(ctx, compiled, e.spelling())
}

// newSpelling returns the texts of the vocabulary's tokens, which constraints compare with.
func (e *Engine) newSpelling() *constrain.Vocabulary {
	return constrain.NewVocabulary(e.tokens.VocabSize(), e.tokens.Bytes, e.tokens.StopTokens(), e.tokens.DropsFirstSpace())
}

// takeForm puts a constraint into force for the next reply. It reads files again, since they may have changed.
func (s *Session) takeForm(ctx context.Context, c config.Constraint) error {
	read, err := c.Read()
	if err == nil && !reflect.DeepEqual(read, s.form.of) {
		var shaper *constrain.Shaper
		if shaper, err = s.engine.newForm(ctx, read); err == nil {
			s.form = form{read, shaper}
		}
	}
	if err != nil {
		return fmt.Errorf("the form of the reply: %w", err)
	}
	return nil
}

// bound tells the constraint how many tokens the reply may get, and gives it ctx, which can cancel its work.
func (r *reply) bound(ctx context.Context) {
	if f := r.session.form.shaper; f != nil {
		f.Bound(ctx, min(r.config.Sampling.MaxTokens, r.written()+r.roomInContext()))
	}
}

// roomInContext is how many more tokens fit into the caches of target and companion.
func (r *reply) roomInContext() int {
	return r.session.target.Cap() - max(len(r.context), r.companionLen())
}

// checkRoom returns an error if the constraint seems to need more tokens than the reply may have. It first
// checks a lower bound that is quick to compute (AtLeast). If that fits, it counts the tokens of a shortest
// text that obeys the constraint (Shortest). That text is shortest in bytes, and another one may have fewer
// tokens; so the error then says "may need".
func (r *reply) checkRoom() error {
	f := r.session.form.shaper
	if f == nil {
		return nil
	}
	most, room := r.config.Sampling.MaxTokens, r.roomInContext()
	needs, how := f.AtLeast(), "needs at least"
	if needs <= min(most, room) {
		var err error
		if needs, err = f.Shortest(); err != nil {
			return err
		}
		how = "may need"
	}
	switch {
	case needs > most:
		return fmt.Errorf("the shortest reply that fits the %s %s %d tokens, and sampling.max_tokens is %d: "+
			"raise it, or ask for less", f.Name(), how, needs, most)
	case needs > room:
		return fmt.Errorf("the shortest reply that fits the %s %s %d tokens, and only %d are left in the context: "+
			"begin a new chat, or set context.overflow to drop-oldest", f.Name(), how, needs, room)
	}
	return nil
}

// expected says what the constraint allows next, as text for people.
func (r *reply) expected() string {
	if f := r.session.form.shaper; f != nil {
		return f.Expects()
	}
	return ""
}

// complete reports whether the constraint allows no further token and the vocabulary has no token
// to end the reply with.
func (r *reply) complete() bool {
	f := r.session.form.shaper
	return f != nil && len(r.session.engine.stops) == 0 && f.Ended()
}
