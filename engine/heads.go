package engine

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/model"
	"specula/engine/spec"
	"specula/engine/weights/safetensors"
)

// Trained heads guess from the target's hidden states, so the target's passes over their text must leave these on the device
// (compute.Tap). Passes for anybody else are run without a tap and cost what they always did.

// loadHeads loads the heads that the settings name. A file that cannot be read is an error that wraps ErrModel; one that does not fit the
// target is none: the proposers eagle and medusa then say why.
func (e *Engine) loadHeads(ctx context.Context, emit func(event.Event)) error {
	path := e.options.Config.Model.Heads
	if path == "" {
		return nil
	}
	file, err := safetensors.Open(ctx, path, func(done, total int64) {
		emit(event.Loading{What: "heads", Name: path, DoneBytes: done, TotalBytes: total})
	})
	if err != nil {
		return fmt.Errorf("loading the heads %q: %w: %w", path, ErrModel, err)
	}
	head, err := model.LoadHead(ctx, e.target, file)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		e.headsRefused = err.Error()
		return nil
	}
	e.head = head
	e.ready.Heads = fmt.Sprintf("%s, %.1f million parameters", head.Kind, float64(head.Parameters)/1e6)
	return nil
}

// noHeads says why there are no heads of a kind, "eagle" or "medusa"; "" if there are.
func (e *Engine) noHeads(name string) string {
	switch {
	case e.head != nil && e.head.Name == name:
		return ""
	case e.head != nil:
		return fmt.Sprintf("the heads in %q are %s: choose the proposer %s", e.options.Config.Model.Heads, e.head.Kind, e.head.Name)
	case e.headsRefused != "":
		return e.headsRefused
	}
	return "no trained heads for this target are loaded: name a safetensors file of them by --heads"
}

// buildHeads makes the proposer of the loaded heads.
func buildHeads(s *Session, _ config.Speculation) (spec.Proposer, error) {
	e := s.engine
	var state spec.HiddenModel
	var err error
	if e.head.Eagle != nil {
		state, err = e.head.Eagle.NewState()
	} else {
		state, err = e.head.Medusa.NewState()
	}
	if err != nil {
		return nil, err
	}
	return spec.NewHeads(e.head.Name, state, e.tokens.VocabSize())
}

// headParameters are how many weights the guessing of one token reads.
func headParameters(e *Engine, _ config.Speculation) int64 { return e.head.ParametersPerToken() }

// rehearseHeads lets the target read a token for heads, so that they can draft in a rehearsal.
func (s *Session) rehearseHeads(ctx context.Context, heads spec.HiddenReader) error {
	target := s.engine.target
	target.Attach(heads.Tap())
	defer target.Attach(nil)
	if _, err := target.Prefill(ctx, s.cache, make([]int32, 1), nil); err != nil {
		return err
	}
	if _, err := heads.Begin(ctx, make([]int32, 2), nil); err != nil {
		return err
	}
	return errors.Join(heads.Read(ctx, 0, 1), s.cache.Truncate(0))
}

// reusable is how many tokens of a new context the target's cache holds and need not be read again. Heads that are to draft need a
// state behind each token and say from where on they lack it.
func (r *reply) reusable(ctx context.Context, tokens []int32) (int, error) {
	s := r.session
	n := min(commonPrefix(s.cached, tokens), max(len(tokens)-1, 0))
	if !r.config.Speculation.Enabled {
		return n, nil
	}
	p, _ := s.proposer(r.config.Speculation.Proposer, r.config.Speculation)
	heads, ok := p.(spec.HiddenReader)
	if !ok {
		return n, nil
	}
	known, err := heads.Begin(ctx, tokens, nil)
	r.begun = heads.Name()
	return min(n, known), err
}

// catchUp brings heads to which the user has just turned to this place of the reply: the target reads again what it read without a tap.
func (r *reply) catchUp(ctx context.Context, heads spec.HiddenReader) error {
	known, err := heads.Begin(ctx, r.context, nil)
	if err != nil {
		return err
	}
	r.begun = heads.Name()
	return r.prefill(ctx, min(known, r.session.cache.Len()))
}

// read lets the target read the context from token at on, all but the last, and hands the hidden states of each pass to heads that follow.
func (r *reply) read(ctx context.Context, at int, progress func(done, total int)) error {
	target, cache, rest := r.engine.target, r.session.cache, r.context[at:len(r.context)-1]
	heads, ok := r.session.proposers[r.begun].(spec.HiddenReader)
	if !ok {
		_, err := target.Prefill(ctx, cache, rest, progress)
		return err
	}
	defer target.Attach(nil)
	for done := 0; done < len(rest); {
		piece := rest[done:min(done+target.Config().PrefillRows, len(rest))]
		target.Attach(heads.Tap())
		if _, err := target.Prefill(ctx, cache, piece, nil); err != nil {
			return err
		}
		if err := heads.Read(ctx, at+done, len(piece)); err != nil {
			return fmt.Errorf("reading hidden states into proposer %s: %w", heads.Name(), err)
		}
		done += len(piece)
		progress(done, len(rest))
	}
	return nil
}

// attach makes the target's passes leave hidden states for the proposer of a round if it reads them, until the returned function is called.
func (r *reply) attach(p spec.Proposer) (detach func()) {
	if heads, ok := p.(spec.HiddenReader); ok {
		r.engine.target.Attach(heads.Tap())
	}
	return func() { r.engine.target.Attach(nil) }
}
