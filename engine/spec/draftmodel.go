package spec

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Model is what DraftModel needs of a transformer. engine/model implements it.
type Model interface {
	NewCache() (compute.Cache, error)
	// Prefill appends ids to the cache and returns one row of logits, that of the last id. After an error,
	// the cache has got the first of ids, or none.
	Prefill(ctx context.Context, cache compute.Cache, ids []int32, progress func(done, total int)) (compute.Logits, error)
}

// DraftModel drafts by running a small model ahead of the target: a draft model, or the target without
// some of its layers.
//
// Between rounds its cache holds the first committed tokens: all but the last one, or fewer. The first pass of
// a draft reads the committed tokens that are missing there (at most mostMissed and the last one), and gives the
// logits of the first draft token. Propose adds draft tokens to the cache. Committed removes those that were not
// accepted.
type DraftModel struct {
	name       string
	model      Model
	cache      compute.Cache
	vocab      int     // ids of the target; the draft model may have more, as padding
	own        int     // number of ids of the draft model
	lexicon    Lexicon // nil: target and draft model have the same vocabulary
	context    []int32 // all committed tokens, in the draft model's vocabulary
	stranger   string  // an error text that names a token of context the draft model cannot read; "" if there is none
	cached     []int32 // the tokens in the cache: a prefix of context, during Propose followed by draft tokens
	sound      int     // tokens in the cache before this round; only these are known to have finite values
	sampler    sample.Sampler
	q          [][]float64    // memory of Draft.Q: for each draft token a probability for each of the target's ids
	scores     [][]float32    // memory of Draft.Logits: for each draft token a score for each of the draft model's ids
	translated [][]float32    // as scores, but by the target's ids; used if the draft model has another vocabulary
	best       []int32        // memory for the best token of a row
	tokens     compute.Tokens // memory of drafts that stay on the device; nil until first used
	room       int            // number of tokens that fit in tokens
}

// NewDraftModel returns a proposer that drafts with a model. vocab is the size of the target's
// vocabulary, own the size of the model's. The proposer owns a cache, which Close frees.
func NewDraftModel(model Model, vocab, own int) (*DraftModel, error) {
	cache, err := model.NewCache()
	if err != nil {
		return nil, fmt.Errorf("making the draft model's cache: %w", err)
	}
	return &DraftModel{name: "draft", model: model, cache: cache, vocab: vocab, own: own, best: make([]int32, 1)}, nil
}

// Named sets the name of the proposer, which is "draft" otherwise.
func (d *DraftModel) Named(name string) *DraftModel {
	d.name = name
	return d
}

func (d *DraftModel) Name() string { return d.name }

// NewTranslatedDraft returns a proposer that drafts with a model of another vocabulary. vocab is the size
// of the target's vocabulary, own the size of the model's. It drafts only tokens that both vocabularies
// have. The draft's scores are moved to the target's ids before a token is drawn. So q is the distribution
// that was drawn from, and the text stays exact. (Token-level intersection, Timor et al. 2025, arXiv
// 2502.05202)
func NewTranslatedDraft(model Model, vocab, own int, lexicon Lexicon) (*DraftModel, error) {
	d, err := NewDraftModel(model, vocab, own)
	if err != nil {
		return nil, err
	}
	d.lexicon = lexicon
	return d, nil
}

// Lexicon maps the tokens of a target to those of a draft model with another vocabulary.
type Lexicon interface {
	// Spell appends tokens of the draft model with the same text as the target's tokens. A target
	// token that the draft model has becomes that token, whatever is next to it.
	Spell(dst, target []int32) []int32
	// Rescore writes the draft model's scores to the ids of the same tokens in the target's vocabulary,
	// and −Inf to all other ids.
	Rescore(dst, draft []float32)
}

// spell translates tokens of the target into the draft model's vocabulary.
func (d *DraftModel) spell(target []int32) []int32 {
	if d.lexicon == nil {
		return target
	}
	return d.lexicon.Spell(nil, target)
}

// Begin cuts the cache back to the beginning that it shares with tokens. The rest is read before the
// next draft. A context that does not fit in the cache, or has a token that the draft model does not
// know, is no error: then there is no draft.
func (d *DraftModel) Begin(tokens []int32) (reused int, err error) {
	d.context, d.stranger = append(d.context[:0], d.spell(tokens)...), ""
	d.meet(d.context)
	return d.rollBack(0)
}

// Unread is the number of committed tokens that are missing in the cache. It leaves out the last
// committed token, and is 0 if the model cannot read the context.
func (d *DraftModel) Unread() int {
	most := max(0, len(d.context)-1)
	if most > d.cache.Cap() || d.stranger != "" {
		return 0
	}
	return max(0, most-len(d.cached))
}

// mostMissed is the largest number of missing tokens (Unread) that the first pass of a draft reads with
// the last committed one. Such a pass costs about as much as any draft step. If more are missing, the
// caller must call Read first.
const mostMissed = 8

// Read reads the missing tokens of the context into the cache.
func (d *DraftModel) Read(ctx context.Context, progress func(done, total int)) error {
	missed := d.Unread()
	if missed == 0 {
		return nil
	}
	err := compute.ReadWithCheckpoint(d.cache, d.context[len(d.cached):len(d.context)-1], func(part []int32, before int) error {
		_, err := d.read(ctx, part, func(done, _ int) {
			if progress != nil {
				progress(before+done, missed)
			}
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("reading %d tokens of context into the draft model: %w", missed, err)
	}
	return nil
}

// Propose draws up to ask.Gamma tokens, each from the draft model's distribution after the token
// before, shaped by ask.Shapers. Its first pass also reads the missing committed tokens. If more than
// mostMissed are missing, Propose drafts nothing and returns their number in Draft.Unread; then the
// caller must call Read.
func (d *DraftModel) Propose(ctx context.Context, ask Ask) (Draft, error) {
	if missed := d.Unread(); missed > mostMissed && ask.Gamma > 0 {
		return Draft{Unread: missed}, nil
	}
	return d.propose(ctx, ask)
}

func (d *DraftModel) propose(ctx context.Context, ask Ask) (Draft, error) {
	var draft Draft
	draft.Temperature = ask.drafting().Temperature
	if draft.Stop = d.stranger; draft.Stop != "" {
		return draft, nil
	}
	unread := d.context[len(d.cached):]
	draft.Pending = len(unread)
	if model, ok := d.chainer(ask); ok && len(unread) > 0 && ask.Gamma > 0 && len(d.context) <= d.cache.Cap() {
		return d.chain(ctx, model, ask, draft)
	}
	draw := d.draw
	if model := d.picker(ask); model != nil && ask.Gamma > 0 {
		if err := d.beginPicks(model, ask, &draft); err != nil {
			return Draft{}, fmt.Errorf("drafting on the device: %w", err)
		}
		draw = d.pick
	}
	draft, err := d.step(ctx, ask, draft, unread, draw)
	if err != nil {
		return draft, err
	}
	return draft, d.endPicks(ask, &draft)
}

// step drafts one token after the other: a pass over the tokens unread, or the last drafted token, and then draw.
func (d *DraftModel) step(ctx context.Context, ask Ask, draft Draft, unread []int32,
	draw func(i int, logits compute.Logits, ask Ask, draft *Draft) error) (Draft, error) {
	pushed := 0
	defer func() { ask.Shapers.Pop(pushed) }()
	for i := 0; i < ask.Gamma && len(unread) > 0; i++ {
		if len(d.cached)+len(unread) > d.cache.Cap() {
			draft.Stop = fmt.Sprintf("draft context full: %d tokens", d.cache.Cap())
			break
		}
		logits, err := d.read(ctx, unread, nil)
		if err == nil {
			err = draw(i, logits, ask, &draft)
		}
		if errors.Is(err, sample.ErrNothingLeft) {
			draft.Stop = "no token may be written next"
			break
		}
		if errors.Is(err, compute.ErrNotFinite) {
			return d.damaged(draft, i, err)
		}
		if err != nil {
			return Draft{}, fmt.Errorf("drafting token %d: %w", i, err)
		}
		if draft.Stop = d.enough(i, &draft, ask); draft.Stop != "" {
			break
		}
		ask.Shapers.Push(draft.Tokens[i])
		pushed++
		unread = d.spell(draft.Tokens[i : i+1])
	}
	return draft, nil
}

// damaged ends a draft at token i, whose logits are not finite. It keeps the tokens before i. Whether the
// draft gets to token i depends on them, so to drop them would favour other tokens and change the
// distribution of the text. It cuts the cache back to its length before the round, because what this round
// has written may not be finite either.
func (d *DraftModel) damaged(draft Draft, i int, cause error) (Draft, error) {
	if i == 0 {
		return Draft{}, errors.Join(fmt.Errorf("%w: draft token 0: %w", ErrNoDraft, cause), d.truncate(d.sound))
	}
	draft.Logits = draft.Logits[:min(i, len(draft.Logits))]
	draft.Stop = fmt.Sprintf("draft token %d: %v", i, cause)
	return draft, d.truncate(d.sound)
}

// meet notes the first token of the context that the draft model cannot read. The target may have more
// ids than the draft model, and such a token is one of the additional ids.
func (d *DraftModel) meet(tokens []int32) {
	for _, id := range tokens {
		if int(id) >= d.own && d.stranger == "" {
			d.stranger = fmt.Sprintf("the draft model does not know token %d of the context", id)
		}
	}
}

// enough says why the draft ends after token i; "" if it goes on.
func (d *DraftModel) enough(i int, draft *Draft, ask Ask) string {
	switch {
	case ask.IsStop != nil && ask.IsStop(draft.Tokens[i]):
		return stopEnds
	case ask.Continue != nil && i+1 < ask.Gamma && i < len(draft.Confidence):
		return ask.Continue(i, draft.Confidence[i])
	}
	return ""
}

// draw draws draft token i from the only row of logits, and appends it to the draft.
func (d *DraftModel) draw(i int, logits compute.Logits, ask Ask, draft *Draft) error {
	greedy := ask.Params.Temperature == 0
	if greedy && ask.Continue == nil && !ask.Inspect && d.lexicon == nil && len(ask.Shapers) == 0 {
		// Only the id is needed, so only 4 bytes are copied from the device.
		if err := logits.Argmax(d.best); err != nil {
			return err
		}
		if id := d.best[0]; int(id) < d.vocab {
			draft.Tokens = append(draft.Tokens, id)
			draft.Q = append(draft.Q, sample.OneHot(id))
			return nil
		}
	}
	d.sampler.Use(logits)
	q, scores := d.rows(i, logits.Vocab())
	if err := logits.Row(0, scores); err != nil {
		return err
	}
	known := scores[:min(d.vocab, len(scores))]
	if d.lexicon != nil {
		known = d.inTarget(i)
		d.lexicon.Rescore(known, scores)
	}
	if err := ask.Shapers.Shape(known); err != nil {
		return err
	}
	dist, err := d.sampler.FromLogits(q, known, ask.drafting())
	if err != nil {
		return err
	}
	id := sample.Draw(dist, ask.Uniforms.Uniform(sample.DraftDraw, ask.Round, i))
	draft.Tokens = append(draft.Tokens, id)
	draft.Q = append(draft.Q, dist)
	if ask.Continue != nil || ask.Inspect {
		confidence := dist.Prob(id)
		if greedy {
			confidence = d.sampler.Confidence(known, id)
		}
		draft.Confidence = append(draft.Confidence, confidence)
	}
	if ask.Inspect || ask.Look && i == 0 {
		draft.Logits = append(draft.Logits, known)
	}
	return nil
}

// rows returns the memory for q and logits of draft token i.
func (d *DraftModel) rows(i, draftVocab int) (q []float64, scores []float32) {
	for len(d.q) <= i {
		d.q = append(d.q, make([]float64, d.vocab))
		d.scores = append(d.scores, make([]float32, draftVocab))
	}
	return d.q[i], d.scores[i]
}

// inTarget returns the memory for the scores of draft token i in the target's vocabulary.
func (d *DraftModel) inTarget(i int) []float32 {
	for len(d.translated) <= i {
		d.translated = append(d.translated, make([]float32, d.vocab))
	}
	return d.translated[i]
}

// read appends ids to the cache. It appends to d.cached only the ids that the cache really got: after a
// cancelled pass, these are not all.
func (d *DraftModel) read(ctx context.Context, ids []int32, progress func(done, total int)) (compute.Logits, error) {
	logits, err := d.model.Prefill(ctx, d.cache, ids, progress)
	d.cached = append(d.cached, ids[:d.cache.Len()-len(d.cached)]...)
	return logits, err
}

// Committed adds tokens to the context, and cuts the cache back to its common beginning with the
// context.
func (d *DraftModel) Committed(tokens []int32) error {
	agreed := min(len(d.cached), len(d.context))
	added := d.spell(tokens)
	d.meet(added)
	d.context = append(d.context, added...)
	_, err := d.rollBack(agreed)
	return err
}

// rollBack cuts the cache back to the longest beginning that it shares with the context without its
// last token, or further if the cache cannot be cut back to this length (compute.Reach). It returns how
// many tokens stay. The parameter agreed is how many of the first tokens are known to be equal; rollBack
// does not compare these.
func (d *DraftModel) rollBack(agreed int) (int, error) {
	most := min(len(d.cached), max(0, len(d.context)-1))
	keep := min(agreed, most)
	for keep < most && d.cached[keep] == d.context[keep] {
		keep++
	}
	keep = compute.Reach(d.cache, keep)
	d.sound = keep
	return keep, d.truncate(keep)
}

func (d *DraftModel) truncate(n int) error {
	if err := d.cache.Truncate(n); err != nil {
		return fmt.Errorf("rolling the draft model's cache back to %d tokens: %w", n, err)
	}
	d.cached = d.cached[:n]
	return nil
}

// Len is the number of tokens in the draft model's cache.
func (d *DraftModel) Len() int { return d.cache.Len() }

func (d *DraftModel) Reset() error {
	d.context, d.stranger, d.sound = d.context[:0], "", 0
	return d.truncate(0)
}

func (d *DraftModel) Close() error {
	if d.tokens == nil {
		return d.cache.Close()
	}
	return errors.Join(d.tokens.Close(), d.cache.Close())
}
