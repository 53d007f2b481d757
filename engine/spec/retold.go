package spec

import (
	"bytes"
	"context"

	"specula/engine/sample"
)

// Texts maps between the tokens of target and draft model by their text.
type Texts interface {
	// Spell appends draft tokens that say what the target's tokens say.
	Spell(dst, target []int32) []int32
	// SpellText appends draft tokens that spell text. text may begin or end inside a character.
	SpellText(dst []int32, text []byte) []int32
	// Retell appends target tokens that say what the draft's tokens say.
	Retell(dst, draft []int32) []int32
	// TargetBytes and DraftBytes are the text of a token; nil for a control token.
	TargetBytes(id int32) []byte
	DraftBytes(id int32) []byte
	// DraftStop reports whether a draft token ends a reply.
	DraftStop(id int32) bool
}

// Retold drafts with a model of another vocabulary: it spells the model's text in the target's tokens.
// Different draft tokens may give the same target tokens, so the probability of these is not known.
// They count as certain (q is one-hot), which is exact for any draft (string-level matching, Timor et
// al. 2025, arXiv 2502.05202).
type Retold struct {
	*DraftModel // in its own tokens
	texts       Texts
	said        []int32 // the draft model's own tokens of the last proposal
}

// NewRetold returns a proposer by a model that knows own ids.
func NewRetold(model Model, own int, texts Texts) (*Retold, error) {
	d, err := NewDraftModel(model, own, own)
	if err != nil {
		return nil, err
	}
	return &Retold{DraftModel: d, texts: texts}, nil
}

// Begin opens a reply whose context is spelled in the draft model's tokens.
func (r *Retold) Begin(tokens []int32) (reused int, err error) {
	r.said = nil
	return r.DraftModel.Begin(r.texts.Spell(nil, tokens))
}

// Propose lets the draft model draw ask.Gamma tokens of its own, and proposes at most as many target
// tokens with the same text.
func (r *Retold) Propose(ctx context.Context, ask Ask) (Draft, error) {
	own := ask
	own.Inspect, own.Look = false, false
	own.Shapers = nil    // they know the target's tokens
	own.OnDevice = false // the target cannot read these
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

// Committed keeps the draft model's own tokens as far as the committed tokens have the same text, and
// spells the rest.
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
	// text is what the kept tokens do not spell. It begins at a target token or inside one. Spell
	// the target tokens that lie in it, and the remaining bytes of a token that was cut.
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
