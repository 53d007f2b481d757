package spec

import (
	"context"
	"fmt"

	"specula/engine/compute"
)

// HiddenReader is a proposer that guesses from hidden states of the target. Whoever runs the target attaches Tap to its passes over the
// proposer's text and tells what they read: Begin says from where on, Read what a pass over the context left in the tap, and Committed, which
// must follow a round's pass before the next, how many of its rows belong to the text: row i is that in front of the committed token i.
type HiddenReader interface {
	Proposer
	// Tap is where passes of the target leave hidden states.
	Tap() *compute.Tap
	// Read takes the first rows rows of the tap: the states behind the tokens from at on, which is not beyond those that are known.
	Read(ctx context.Context, at, rows int) error
}

// HiddenModel is a Model that takes each token together with the target's hidden state in front of it; engine/model has two. Its
// Prefill may take several tokens when the states in front of them are kept, and a single one behind a token that it took last.
type HiddenModel interface {
	Model
	Tap() *compute.Tap
	// Keep takes the states in the first rows of the tap: those behind token at of the text and the ones that follow it. They join
	// those kept before, which they follow, unless fresh is set.
	Keep(at, rows int, fresh bool) error
	// Room is how many states can be kept.
	Room() int
	// Longest is how many tokens can be guessed behind the last one that the target has read.
	Longest() int
	// Embeddings is how many ids can be read.
	Embeddings() int
}

// Heads proposes by trained heads on the target's hidden states: Medusa's, or the layer of EAGLE. It is a draft model that reads
// every token together with the state in front of it. Within a draft those are states of the heads' own; once the round is over the
// target's take their place, so what was read with others is forgotten and read again.
//
// The target must therefore have read everything with its tap attached. What it read without, because another proposer was in force,
// Begin asks it to read again: by the law of package compute the same bits come of it, and the time it takes is paid once.
type Heads struct {
	*DraftModel
	name  string
	model HiddenModel
	known int // the target's states behind the first so many tokens of the context were taken
	held  int // and the last so many of them are kept
}

var _ HiddenReader = (*Heads)(nil)

// NewHeads returns a proposer called name for a target of vocab ids.
func NewHeads(name string, model HiddenModel, vocab int) (*Heads, error) {
	draft, err := NewDraftModel(model, vocab, model.Embeddings())
	if err != nil {
		return nil, err
	}
	return &Heads{DraftModel: draft, name: name, model: model}, nil
}

func (h *Heads) Name() string { return h.name }

// Tap is where passes of the target leave hidden states.
func (h *Heads) Tap() *compute.Tap { return h.model.Tap() }

// Begin keeps what it can of the last context. The target must read the tokens from reused on, and Read be called behind each
// pass: at least the last but one, because its state is needed again.
func (h *Heads) Begin(_ context.Context, tokens []int32, _ func(done, total int)) (reused int, err error) {
	if err := h.forgetOwn(); err != nil {
		return 0, err
	}
	h.context, h.stranger = append(h.context[:0], tokens...), ""
	h.meet(h.context)
	kept, err := h.rollBack(0)
	h.known, h.held = max(0, kept-1), 0
	return h.known, err
}

// forgetOwn drops what was read with other states than the target's: a token is read with that in front of it.
func (h *Heads) forgetOwn() error { return h.truncate(min(len(h.cached), h.known+1)) }

// Read takes hidden states of the context. What was known from there on is forgotten.
func (h *Heads) Read(ctx context.Context, at, rows int) error {
	if at < 0 || at > h.known || at+rows >= len(h.context) {
		return fmt.Errorf("hidden states behind the tokens %d to %d of %d: they must follow the first %d, and the last token has none yet", at, at+rows-1, len(h.context), h.known)
	}
	if at < h.known {
		h.known, h.held = at, 0
		if err := h.forgetOwn(); err != nil {
			return err
		}
	}
	return h.take(ctx, rows)
}

// take keeps states. Where there is no room, it reads those that wait and drops them all.
func (h *Heads) take(ctx context.Context, rows int) error {
	if h.held+rows > h.model.Room() {
		if waiting := h.context[len(h.cached) : h.known+1]; len(waiting) > 0 {
			if _, err := h.read(ctx, waiting, nil); err != nil {
				return fmt.Errorf("reading %d hidden states: %w", len(waiting), err)
			}
		}
		h.held = 0
	}
	if err := h.model.Keep(h.known, rows, h.held == 0); err != nil {
		return err
	}
	h.known, h.held = h.known+rows, h.held+rows
	return nil
}

// Propose drafts as a DraftModel does, as far as the heads reach.
func (h *Heads) Propose(ctx context.Context, ask Ask) (Draft, error) {
	if h.known == 0 || h.known != len(h.context)-1 {
		return Draft{Stop: "there is no hidden state of the target's to guess from yet"}, nil
	}
	most := h.model.Longest()
	cut := ask.Gamma > most
	ask.Gamma = min(ask.Gamma, most)
	ask.Reading = nil // states are read with the first token that is drawn
	draft, err := h.DraftModel.Propose(ctx, ask)
	if cut && err == nil && draft.Stop == "" {
		draft.Stop = fmt.Sprintf("there are %d heads", most)
	}
	return draft, err
}

// Unread is 0: what heads missed, the target reads for them.
func (h *Heads) Unread() int { return 0 }

// Committed takes the states in front of the committed tokens from the target's last pass.
func (h *Heads) Committed(tokens []int32) error {
	if err := h.forgetOwn(); err != nil {
		return err
	}
	if known := h.known; len(tokens) > 0 && known == max(0, len(h.context)-1) {
		// The pass is over and no longer anybody's to cancel.
		if err := h.take(context.Background(), len(tokens)); err != nil {
			return err
		}
	}
	return h.DraftModel.Committed(tokens)
}

// Reset forgets everything.
func (h *Heads) Reset() error {
	h.known, h.held = 0, 0
	return h.DraftModel.Reset()
}
