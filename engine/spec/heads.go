package spec

import (
	"context"
	"fmt"

	"specula/engine/compute"
)

// HiddenReader is a proposer that drafts from hidden states of the target. The caller that runs the
// target attaches Tap to its passes and reports them in this order:
//
//	Begin → { pass over the context with Tap, Take }… → { Propose, pass of the round with Tap, Committed }…
//
// Begin returns the number of tokens whose states are known; the passes over the context start after
// these tokens. Committed takes the states of the committed tokens from the round's pass, so call it before
// the next pass. Row i of that pass leaves the state before the round's committed token i in the tap.
type HiddenReader interface {
	Proposer
	// Tap is where passes of the target leave hidden states.
	Tap() *compute.Tap
	// Take takes the first states of the tap, as many as the argument rows says: the states after the
	// tokens from position at on. The states of all tokens before position at must be known already.
	Take(ctx context.Context, at, rows int) error
}

// HiddenModel is a Model that reads each token together with the target's hidden state before it.
// engine/model has three: MedusaState, LayerState and AssistantState. Prefill reads any number of tokens if
// the states before them are kept (Keep). Without a kept state it reads only one token, which must follow
// the token that it read last; the state then comes from the HiddenModel itself.
type HiddenModel interface {
	Model
	Tap() *compute.Tap
	// Keep takes the first states of the tap, as many as the argument rows says: the states after the
	// tokens from position at of the text on. If fresh is set, they replace all kept states. Otherwise they
	// replace the kept states from position at on, and the state before that position must be kept.
	Keep(at, rows int, fresh bool) error
	// Reads reports whether reading committed tokens takes time. It does not if the model computes only after
	// the last of them.
	Reads() bool
	// Room is the number of states that can be kept at a time.
	Room() int
	// Longest is the number of tokens that can be drafted after the last token that the target has
	// read.
	Longest() int
	// Embeddings is the number of ids that the model can read.
	Embeddings() int
}

// Heads drafts with heads on the target's hidden states: Medusa's, or a layer of EAGLE or MTP. It is a
// draft model that reads each token together with the state before it. Within a draft these states come
// from the heads. After the round the target's states replace them. So the tokens that were read with
// states of the heads are dropped from the cache and read again.
//
// Heads need the target's states of the whole context. If another proposer was in force, the target
// has read part of it without the tap; Begin then asks the target to read that part again. By the law
// of package compute this gives the same bits. It costs the time of reading that part once more.
type Heads struct {
	*DraftModel
	name  string
	model HiddenModel
	known int // number of context tokens whose target state was taken
	held  int // how many of these states the model keeps: the last ones
	since int // tokens committed since the last draft; after Begin, those that are not in the cache
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

// Begin keeps as much of the last context as agrees with tokens. The target must read the tokens from
// reused on, with a Take after each pass. These are at least the last two tokens, because the state
// after the token before the last is needed again.
func (h *Heads) Begin(tokens []int32) (reused int, err error) {
	if err := h.forgetOwn(); err != nil {
		return 0, err
	}
	agreed := 0 // tokens of the last context
	for agreed < min(len(h.context), len(tokens)-2) && h.context[agreed] == tokens[agreed] {
		agreed++
	}
	h.context, h.stranger = append(h.context[:0], tokens...), ""
	h.meet(h.context)
	cached, err := h.rollBack(0)
	needed, first := max(0, cached-1), h.known-h.held // the first state that the next pass needs, and the first that is kept
	if first > needed {
		agreed = needed
	}
	h.know(min(agreed, h.known))
	h.since = len(tokens) - cached
	return h.known, err
}

// know forgets the known states except those after the first n tokens.
func (h *Heads) know(n int) {
	h.held = max(0, n-(h.known-h.held))
	h.known = n
}

// forgetOwn drops from the cache the tokens that were read with states of the heads. One token more
// than there are known states stays, because each token is read with the state before it.
func (h *Heads) forgetOwn() error { return h.truncate(min(len(h.cached), h.known+1)) }

// Take takes hidden states of the context. It forgets the known states from position at on.
func (h *Heads) Take(ctx context.Context, at, rows int) error {
	if at < 0 || at > h.known || at+rows >= len(h.context) {
		return fmt.Errorf("hidden states after the tokens %d to %d of %d: they must follow the first %d, and the last token has none yet", at, at+rows-1, len(h.context), h.known)
	}
	if at < h.known {
		h.know(at)
		if err := h.forgetOwn(); err != nil {
			return err
		}
	}
	return h.keep(ctx, rows)
}

// keep takes as many further states as the argument rows says. If there is no room for them, it first reads
// the tokens whose states are kept, and then drops the kept states.
func (h *Heads) keep(ctx context.Context, rows int) error {
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

// Propose drafts as a DraftModel does, with at most as many tokens as the heads can draft. It gives no
// draft if the state before the last token is not known.
func (h *Heads) Propose(ctx context.Context, ask Ask) (Draft, error) {
	if h.known == 0 || h.known != len(h.context)-1 {
		return Draft{Stop: "there is no hidden state of the target's to guess from yet"}, nil
	}
	most := h.model.Longest()
	cut := ask.Gamma > most
	ask.Gamma = min(ask.Gamma, most)
	h.sound = len(h.cached)
	draft, err := h.propose(ctx, ask) // this pass also reads the kept states
	if err == nil {
		h.since = 0
	}
	if cut && err == nil && draft.Stop == "" {
		draft.Stop = fmt.Sprintf("there are %d heads", most)
	}
	return draft, err
}

// Unread is the number of committed tokens that the first pass of the next draft reads with kept states
// (Draft.Pending). A few tokens take hardly longer than the last one alone, and count as none. Unread is
// too high if the kept states had to be read earlier, because there was no room. Unread must not depend on
// how many states the heads kept from earlier replies, or the same seed would not give the same γ.
func (h *Heads) Unread() int {
	if n := min(h.since-1, h.model.Room()); h.model.Reads() && n > mostMissed {
		return n
	}
	return 0
}

// Read reads nothing: Propose does.
func (h *Heads) Read(context.Context, func(done, total int)) error { return nil }

// Committed takes the states before the committed tokens from the target's last pass.
func (h *Heads) Committed(tokens []int32) error {
	if err := h.forgetOwn(); err != nil {
		return err
	}
	if known := h.known; len(tokens) > 0 && known == max(0, len(h.context)-1) {
		// A background context is enough: the pass is over, so nothing remains to cancel.
		if err := h.keep(context.Background(), len(tokens)); err != nil {
			return err
		}
	}
	h.since += len(tokens)
	return h.DraftModel.Committed(tokens)
}

// Reset forgets everything.
func (h *Heads) Reset() error {
	h.known, h.held, h.since = 0, 0, 0
	return h.DraftModel.Reset()
}
