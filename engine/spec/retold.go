package spec

import (
	"bytes"
	"context"

	"specula/engine/sample"
)

// Texts maps tokens of the target and of a draft model to each other by their text.
type Texts interface {
	// Spell appends draft tokens with the same text as the target's tokens.
	Spell(dst, target []int32) []int32
	// SpellText appends draft tokens that spell text, which may begin or end inside a character.
	SpellText(dst []int32, text []byte) []int32
	// Retell appends target tokens with the same text as the draft's tokens.
	Retell(dst, draft []int32) []int32
	// TargetBytes and DraftBytes return the text of a token; nil for a control token.
	TargetBytes(id int32) []byte
	DraftBytes(id int32) []byte
	// DraftStop reports whether a draft token ends a reply.
	DraftStop(id int32) bool
}

// Retold drafts with a model of another vocabulary, and spells the model's text in the target's tokens.
// Several drafts may give the same target tokens, so the probability of these tokens is not known. They
// count as certain (q is one-hot), which keeps the text exact with every draft (string-level matching,
// Timor et al. 2025, arXiv 2502.05202).
type Retold struct {
	*DraftModel // works in the draft model's tokens
	texts       Texts
	said        []int32 // the last proposal, in the draft model's tokens
}

// NewRetold returns a proposer that drafts with a model whose vocabulary has own ids.
func NewRetold(model Model, own int, texts Texts) (*Retold, error) {
	d, err := NewDraftModel(model, own, own)
	if err != nil {
		return nil, err
	}
	return &Retold{DraftModel: d, texts: texts}, nil
}

// Begin opens a reply. The draft model gets the context spelled in its own tokens.
func (r *Retold) Begin(tokens []int32) (reused int, err error) {
	r.said = nil
	return r.DraftModel.Begin(r.texts.Spell(nil, tokens))
}

// Propose lets the draft model draw up to ask.Gamma of its own tokens. It proposes target tokens with the
// same text, ask.Gamma of them at most.
func (r *Retold) Propose(ctx context.Context, ask Ask) (Draft, error) {
	own := ask
	own.Inspect, own.Look = false, false
	own.Shapers = nil    // shapers know only the target's tokens
	own.OnDevice = false // the target cannot read tokens of the draft model
	own.IsStop = r.texts.DraftStop
	wrote, err := r.DraftModel.Propose(ctx, own)
	r.said = append(r.said[:0], wrote.Tokens...)
	if err != nil {
		return Draft{}, err
	}
	draft := Draft{Pending: wrote.Pending, Unread: wrote.Unread, Stop: wrote.Stop, Tokens: r.texts.Retell(nil, wrote.Tokens)}
	if len(draft.Tokens) > ask.Gamma {
		draft.Tokens = draft.Tokens[:ask.Gamma]
	}
	for _, id := range draft.Tokens {
		draft.Q = append(draft.Q, sample.OneHot(id))
	}
	return draft, nil
}

// Committed keeps the draft model's own tokens up to the first that differs from the committed text,
// and spells the text after them in new tokens.
func (r *Retold) Committed(tokens []int32) error {
	var text []byte
	n := 0
	for ; n < len(tokens); n++ {
		b := r.texts.TargetBytes(tokens[n])
		if b == nil {
			break
		}
		text = append(text, b...)
	}
	var own []int32
	for _, id := range r.said {
		b := r.texts.DraftBytes(id)
		if len(b) == 0 || !bytes.HasPrefix(text, b) {
			break
		}
		own, text = append(own, id), text[len(b):]
	}
	r.said = r.said[:0]
	// Now own holds the draft model's tokens that stay, and text is the committed text after them, up to
	// the first control token. This text may begin inside a token of the target, whose first bytes own has.
	// The loop goes back from the end of text to that token. Then the rest of that token is spelled, and
	// after it the whole tokens of the target that follow.
	rest := tokens[n:]
	for len(text) > 0 && n > 0 {
		b := r.texts.TargetBytes(tokens[n-1])
		if len(b) > len(text) {
			break
		}
		text, n = text[:len(text)-len(b)], n-1
		rest = tokens[n:]
	}
	if len(text) > 0 {
		own = r.texts.SpellText(own, text)
	}
	return r.DraftModel.Committed(r.texts.Spell(own, rest))
}
