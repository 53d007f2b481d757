package engine

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/sample"
	"specula/engine/spec"
)

// fed is a proposer that reads hidden states, with passes of the target of its own, so that in a proof it is a proposer like any
// other: nobody else has to run the target for it. Its guesses are those it makes in replies.
//
// A pass costs time, and so one serves a whole proof: Close leaves it as it is, free ends it.
type fed struct {
	spec.HiddenReader
	target  *model.Model
	cache   compute.Cache
	context []int32 // everything committed; the cache holds all but the last token between rounds
}

func (e *Engine) newFed(heads spec.HiddenReader) (*fed, error) {
	cache, err := e.target.NewCache()
	if err != nil {
		return nil, err
	}
	return &fed{HiddenReader: heads, target: e.target, cache: cache}, nil
}

// Remember lets the heads keep the distributions they compute.
func (f *fed) Remember(m *sample.Memo) {
	if r, ok := f.HiddenReader.(interface{ Remember(*sample.Memo) }); ok {
		r.Remember(m)
	}
}

// Begin lets the target read what the heads lack.
func (f *fed) Begin(ctx context.Context, tokens []int32, _ func(done, total int)) (int, error) {
	known, err := f.HiddenReader.Begin(ctx, tokens, nil)
	if err != nil {
		return 0, err
	}
	at := min(known, f.cache.Len(), commonPrefix(f.context, tokens), len(tokens)-1)
	if err := f.cache.Truncate(at); err != nil {
		return 0, err
	}
	f.context = append(f.context[:0], tokens...)
	f.target.Attach(f.Tap())
	defer f.target.Attach(nil)
	for at < len(tokens)-1 {
		piece := tokens[at:min(at+f.target.Config().PrefillRows, len(tokens)-1)]
		if _, err := f.target.Prefill(ctx, f.cache, piece, nil); err != nil {
			return 0, err
		}
		if err := f.Read(ctx, at, len(piece)); err != nil {
			return 0, fmt.Errorf("reading hidden states into proposer %s: %w", f.Name(), err)
		}
		at += len(piece)
	}
	return at, nil
}

// Committed runs the pass in front of the committed tokens, which in a reply is the round's own.
func (f *fed) Committed(tokens []int32) error {
	if len(tokens) > 0 {
		f.target.Attach(f.Tap())
		defer f.target.Attach(nil)
		rows := append([]int32{f.context[len(f.context)-1]}, tokens[:len(tokens)-1]...)
		if _, err := f.target.Forward(context.Background(), f.cache, rows); err != nil {
			return err
		}
		f.context = append(f.context, tokens...)
	}
	return f.HiddenReader.Committed(tokens)
}

func (f *fed) Close() error { return nil }

func (f *fed) free() error { return errors.Join(f.cache.Close(), f.HiddenReader.Close()) }
