package spec

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Model is what DraftModel needs of a transformer; engine/model has it.
type Model interface {
	NewCache() (compute.Cache, error)
	// Prefill appends ids to the cache and returns one row of logits, that of the last id. If it
	// fails half-way, the cache holds a prefix of ids.
	Prefill(ctx context.Context, cache compute.Cache, ids []int32, progress func(done, total int)) (compute.Logits, error)
}

// DraftModel proposes by running a small model ahead of the target: a model of its own, or the
// target without some of its layers.
//
// Between rounds its cache holds keys and values of a prefix of the committed tokens, never of the
// last one: to read that one next yields the logits of the first draft token. During Propose the
// cache also holds draft tokens. Committed cuts it back to the accepted ones.
type DraftModel struct {
	name       string
	model      Model
	cache      compute.Cache
	vocab      int     // number of ids that the target knows; the draft model may have more, for padding
	own        int     // ids the draft model knows
	lexicon    Lexicon // nil: target and draft model have the same vocabulary
	context    []int32 // all committed tokens, in the draft model's vocabulary
	stranger   string  // names a token of context that the draft model cannot read; "" if there is none
	cached     []int32 // what the cache holds: a prefix of context, in Propose followed by drafted tokens
	sound      int     // tokens in the cache at the end of the last round; what this round adds may not be finite
	sampler    sample.Sampler
	q          [][]float64    // (γ, vocab) memory of Draft.Q
	scores     [][]float32    // (γ, draft vocab) memory of Draft.Logits
	translated [][]float32    // (γ, vocab) the same in the target's vocabulary, where that is another
	best       []int32        // (1)
	tokens     compute.Tokens // of drafts that stay on the device; nil until there is one
	room       int            // how many drafted tokens have memory in tokens
}

// NewDraftModel returns a proposer that drafts with a model. vocab is the size of the target's
// vocabulary, own that of the model's. The proposer owns a cache of the model; Close frees it.
func NewDraftModel(model Model, vocab, own int) (*DraftModel, error) {
	cache, err := model.NewCache()
	if err != nil {
		return nil, fmt.Errorf("making the draft model's cache: %w", err)
	}
	return &DraftModel{name: "draft", model: model, cache: cache, vocab: vocab, own: own, best: make([]int32, 1)}, nil
}

// Named changes the name that the proposer goes by, "draft" at first.
func (d *DraftModel) Named(name string) *DraftModel {
	d.name = name
	return d
}

func (d *DraftModel) Name() string { return d.name }

// NewTranslatedDraft returns a proposer that drafts with a model of another vocabulary. vocab is
// the size of the target's vocabulary, own that of the model's. It drafts only tokens that both
// vocabularies have. The draft model's scores are brought into the target's vocabulary before
// anything is drawn. So q is what was drawn from, and the draft is exact (token-level intersection,
// Timor et al. 2025, arXiv 2502.05202).
func NewTranslatedDraft(model Model, vocab, own int, lexicon Lexicon) (*DraftModel, error) {
	d, err := NewDraftModel(model, vocab, own)
	if err != nil {
		return nil, err
	}
	d.lexicon = lexicon
	return d, nil
}

// Lexicon relates a target's tokens to those of a draft model with another vocabulary.
type Lexicon interface {
	// Spell appends tokens of the draft model with the same text as the target's tokens. A target
	// token that the draft model has, too, becomes that one token, whatever stands around it.
	Spell(dst, target []int32) []int32
	// Rescore writes the draft model's scores to the places of the same tokens in the target's
	// vocabulary, and −Inf to all others.
	Rescore(dst, draft []float32)
}

// spell returns tokens of the target in the draft model's vocabulary.
func (d *DraftModel) spell(target []int32) []int32 {
	if d.lexicon == nil {
		return target
	}
	return d.lexicon.Spell(nil, target)
}

// Begin cuts the cache back to the beginning that it shares with tokens. The rest is read before the
// next draft. A context that is longer than the cache, or has a token that the draft model does not
// know, is no error: there is no draft then.
func (d *DraftModel) Begin(tokens []int32) (reused int, err error) {
	d.context, d.stranger = append(d.context[:0], d.spell(tokens)...), ""
	d.meet(d.context)
	return d.rollBack(0)
}

// Unread is the number of committed tokens that the cache lacks. It counts neither the last
// committed token nor tokens that the model cannot read.
func (d *DraftModel) Unread() int {
	most := max(0, len(d.context)-1)
	if most > d.cache.Cap() || d.stranger != "" {
		return 0
	}
	return max(0, most-len(d.cached))
}

// mostMissed is the largest number of committed tokens that the first pass of a draft reads. With
// so few, this pass costs about as much as any draft step. If more are missing, Read reads them
// first.
const mostMissed = 8

// Read reads what the cache lacks of the context.
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
// before, shaped by ask.Shapers. Its first pass reads the committed tokens that the cache lacks. If
// they are more than mostMissed, Propose drafts nothing and returns their number in Draft.Unread:
// the caller then calls Read.
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
	pushed := 0
	defer func() { ask.Shapers.Pop(pushed) }()
	for i := 0; i < ask.Gamma && len(unread) > 0; i++ {
		if len(d.cached)+len(unread) > d.cache.Cap() {
			draft.Stop = fmt.Sprintf("draft context full: %d tokens", d.cache.Cap())
			break
		}
		logits, err := d.read(ctx, unread, nil)
		if err == nil {
			err = d.draw(i, logits, ask, &draft)
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

// damaged ends a draft at token i, whose logits are not finite. It keeps the tokens before i. Their
// values decide whether the draft gets this far, so to drop them would favour other tokens, and the
// text would not have the target's distribution. The cache is cut back to its length at the start
// of the round: what this round has written to it may not be finite either.
func (d *DraftModel) damaged(draft Draft, i int, cause error) (Draft, error) {
	if i == 0 {
		return Draft{}, errors.Join(fmt.Errorf("%w: draft token 0: %w", ErrNoDraft, cause), d.truncate(d.sound))
	}
	draft.Logits = draft.Logits[:min(i, len(draft.Logits))]
	draft.Stop = fmt.Sprintf("draft token %d: %v", i, cause)
	return draft, d.truncate(d.sound)
}

// meet notes a token of the context that the draft model cannot read, because its vocabulary has
// fewer padding tokens.
func (d *DraftModel) meet(tokens []int32) {
	for _, id := range tokens {
		if int(id) >= d.own && d.stranger == "" {
			d.stranger = fmt.Sprintf("the draft model does not know token %d of the context", id)
		}
	}
}

// enough says why the draft ends with token i, or "".
func (d *DraftModel) enough(i int, draft *Draft, ask Ask) string {
	switch {
	case ask.IsStop != nil && ask.IsStop(draft.Tokens[i]):
		return stopEnds
	case ask.Continue != nil && i+1 < ask.Gamma:
		return ask.Continue(i, draft.Confidence[i])
	}
	return ""
}

// draw draws draft token i from the only row of logits and appends it.
func (d *DraftModel) draw(i int, logits compute.Logits, ask Ask, draft *Draft) error {
	greedy := ask.Params.Temperature == 0
	if greedy && ask.Continue == nil && !ask.Inspect && d.lexicon == nil && len(ask.Shapers) == 0 {
		// Only the id is wanted, and only 4 bytes need to cross from the device.
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

// rows returns the memory of draft position i.
func (d *DraftModel) rows(i, draftVocab int) (q []float64, scores []float32) {
	for len(d.q) <= i {
		d.q = append(d.q, make([]float64, d.vocab))
		d.scores = append(d.scores, make([]float32, draftVocab))
	}
	return d.q[i], d.scores[i]
}

// inTarget returns the memory of position i's scores in the target's vocabulary.
func (d *DraftModel) inTarget(i int) []float32 {
	for len(d.translated) <= i {
		d.translated = append(d.translated, make([]float32, d.vocab))
	}
	return d.translated[i]
}

// read appends ids to the cache, and to cached as many as the cache really holds, also after a
// cancelled pass.
func (d *DraftModel) read(ctx context.Context, ids []int32, progress func(done, total int)) (compute.Logits, error) {
	logits, err := d.model.Prefill(ctx, d.cache, ids, progress)
	d.cached = append(d.cached, ids[:d.cache.Len()-len(d.cached)]...)
	return logits, err
}

// Committed adds tokens to the context and cuts the cache back to what agrees with it.
func (d *DraftModel) Committed(tokens []int32) error {
	agreed := min(len(d.cached), len(d.context))
	added := d.spell(tokens)
	d.meet(added)
	d.context = append(d.context, added...)
	_, err := d.rollBack(agreed)
	return err
}

// rollBack cuts the cache back to the longest beginning that it shares with the context, the
// context's last token excluded. It returns the number of tokens kept. The first agreed tokens are
// known to be the same and are not compared.
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
