package engine

import (
	"context"
	"fmt"

	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/round"
)

// reusable returns how many tokens at the start of a new context the target's cache already holds. If heads
// are to draft, it tells them the context, and counts only tokens whose hidden states the heads know.
func (r *reply) reusable(tokens []int32) (int, error) {
	s := r.session
	n := min(commonPrefix(s.cached, tokens), max(len(tokens)-1, 0))
	n = compute.Reach(s.cache(), n)
	if !r.config.Speculation.Enabled {
		return n, nil
	}
	p, refused := s.proposer(r.config.Speculation.Proposer, r.config.Speculation)
	if refused != "" || !drafterNamed(p.Name()).Hidden() {
		return n, nil
	}
	r.take(p)
	known, err := r.open(p, tokens)
	return compute.Reach(s.cache(), min(n, known)), err
}

// commonPrefix returns the number of tokens at the start that a and b share.
func commonPrefix(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// prefill lets the target read the context without its last token. At the start of a reply the context is the
// prompt. reused is how many tokens the cache already holds.
func (r *reply) prefill(ctx context.Context, reused int) error {
	s := r.session
	if err := s.target.Truncate(reused); err != nil {
		return fmt.Errorf("keeping %d tokens of the target's cache: %w", reused, err)
	}
	s.cached = s.cached[:min(reused, len(s.cached))]
	if reused == len(r.context)-1 {
		return nil
	}
	err := r.timed("target", &r.totals.PrefillMS, func(progress func(done, total int)) error { return r.read(ctx, reused, progress) })
	if err != nil {
		return fmt.Errorf("reading the prompt: %w", err)
	}
	return nil
}

// read lets the target read the context without its last token, beginning at index at.
func (r *reply) read(ctx context.Context, at int, progress func(done, total int)) error {
	rest := r.context[at : len(r.context)-1]
	return compute.ReadWithCheckpoint(r.session.cache(), rest, func(part []int32, before int) error {
		return r.readPart(ctx, at+before, part, func(done, _ int) { progress(before+done, len(rest)) })
	})
}

// readPart lets the target read rest, the part of the context that begins at index at. If heads follow the
// reply, readPart gives them the hidden states of each pass.
func (r *reply) readPart(ctx context.Context, at int, rest []int32, progress func(done, total int)) error {
	target := r.session.engine.target
	if r.heads == nil || r.follows("") {
		return r.session.target.Prefill(ctx, rest, progress)
	}
	defer target.Attach(nil)
	for done := 0; done < len(rest); {
		piece := rest[done:min(done+target.Config().PrefillRows, len(rest))]
		target.Attach(r.heads.Tap())
		if err := r.session.target.Prefill(ctx, piece, nil); err != nil {
			return err
		}
		if err := r.heads.Take(ctx, at+done, len(piece)); err != nil {
			return fmt.Errorf("reading hidden states into proposer %s: %w", r.heads.Name(), err)
		}
		done += len(piece)
		progress(done, len(rest))
	}
	return nil
}

// timed runs read, which lets a model read text. It emits the progress and adds the milliseconds to sum. If
// read tells no progress, nothing was read and sum stays: some servers read the prompt in the first round.
func (r *reply) timed(model string, sum *float64, read func(progress func(done, total int)) error) error {
	watch := round.NewStopwatch(r.session.engine.options.Now)
	var ms float64
	begun := false
	err := watch.Reading(&ms, r.tellReading(model), func(progress func(done, total int)) error {
		return read(func(done, total int) { begun = true; progress(done, total) })
	})
	if begun {
		*sum += ms
	}
	return err
}

// tellReading returns a function that emits the progress of a model that reads.
func (r *reply) tellReading(model string) round.Progress {
	return func(done, total int, ms float64) error {
		return r.out.emit(event.Prefill{Model: model, Done: done, Total: total, MS: ms})
	}
}
