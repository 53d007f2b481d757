package spec

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// A draft under shapers that a device can do, such as a form. The host must see each token before it can say how
// the next row changes. So the device picks the tokens one by one, and the host waits for each; but it gets the
// token alone, in place of a row.

// picker returns the model whose device picks the tokens of this draft; nil if the host picks them from rows.
func (d *DraftModel) picker(ask Ask) Chainer {
	model, ok := d.model.(Chainer)
	if !ok || !model.Feeds() || len(ask.Shapers) == 0 || !ask.Shapers.Editable() || d.lexicon != nil {
		return nil
	}
	_, can := ask.sampling(ask.Gamma, d.vocab)
	if drawn := ask.Params.Temperature > 0; drawn && !(can && ask.OnDevice) || !drawn && ask.Inspect {
		return nil
	}
	return model
}

// beginPicks makes room on the device, and says how the tokens are drawn, if they are.
func (d *DraftModel) beginPicks(model Chainer, ask Ask, draft *Draft) error {
	if err := d.roomForTokens(model, ask.Gamma+1); err != nil || ask.Params.Temperature == 0 {
		return err
	}
	draft.Drawn = d.tokens
	by, _ := ask.sampling(ask.Gamma, d.vocab)
	return d.tokens.Sample(by)
}

// pick appends draft token i to the draft, which the device picks from the only row of logits. The pass runs on
// the device while the host computes how the row changes.
func (d *DraftModel) pick(i int, logits compute.Logits, ask Ask, draft *Draft) error {
	edits, err := ask.Shapers.Edits(nil, logits.Vocab())
	if err != nil {
		return err
	}
	if err := d.tokens.Edit(edits); err != nil {
		return err
	}
	picked, err := logits.(compute.Picker).Pick(d.tokens, i+1, draft.Drawn != nil)
	switch {
	case err != nil:
		return err
	case picked.ID < 0:
		return d.unpicked(i, logits, ask)
	case int(picked.ID) >= d.vocab:
		return fmt.Errorf("%w: the target does not know token %d", sample.ErrNothingLeft, picked.ID)
	}
	draft.Tokens = append(draft.Tokens, picked.ID)
	if draft.Drawn == nil {
		draft.Q = append(draft.Q, sample.OneHot(picked.ID))
	} else {
		draft.Q, draft.Confidence = append(draft.Q, sample.Elsewhere()), append(draft.Confidence, picked.Q)
	}
	return nil
}

// unpicked says why the device could not pick a token: the shapers leave none, or the row is not finite.
func (d *DraftModel) unpicked(i int, logits compute.Logits, ask Ask) error {
	_, scores := d.rows(i, logits.Vocab())
	if err := logits.Row(0, scores); err != nil {
		return err
	}
	if err := ask.Shapers.Shape(scores); err != nil {
		return err
	}
	if _, err := sample.Argmax(scores); err != nil {
		return err
	}
	return sample.ErrNothingLeft // Shape allows the end of the reply, which need not be drafted
}

// endPicks copies to the host what ask.Inspect or ask.Look asks for, of a draft that the device has drawn.
func (d *DraftModel) endPicks(ask Ask, draft *Draft) error {
	if draft.Drawn == nil || len(draft.Tokens) == 0 {
		return nil
	}
	if err := d.look(ask, len(draft.Tokens), draft); err != nil {
		return err
	}
	for i := range draft.Q {
		draft.Q[i] = d.seen(ask, i, draft)
	}
	return nil
}
