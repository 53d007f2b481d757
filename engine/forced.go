package engine

import (
	"specula/engine/gamma"
	"specula/engine/round"
)

// Forced text. A form, such as a JSON schema, sometimes permits only one text next: a key of an object, a
// closing bracket. This text is drafted without a proposer, as the tokens into which the tokenizer splits it.
// The target may choose other tokens for the same text. So the forced tokens are a draft like any other: each
// counts as drafted with q = 1, and the target's verdict decides.

// force replaces the proposer's draft by the text that the form forces, if there is any. Three rules
// limit this. If a model is to draft more tokens than the forced text has, the model drafts, because
// its draft goes on after the forced text. Under the rules fixed and windowed, a forced draft has at most
// gamma tokens; the rule cost-aware allows up to gamma_max, because a forced draft costs nothing to make. A
// target on a server gets no forced draft, because that would end the stream in which the server writes
// plain text fastest.
//
// Sometimes the target spells a forced text in other tokens than the draft. force drafts the next
// forced text all the same. Measurements showed that it is worse to stop, because the target soon
// spells as expected again.
func (r *reply) force(c *choice) {
	form, s := r.session.form.shaper, r.config.Speculation
	if form == nil || r.session.engine.target == nil {
		return
	}
	most := c.Gamma
	if s.Rule == string(gamma.CostAware) {
		most = s.GammaMax
	}
	ids := r.session.engine.tokens.EncodeNext(string(wholeCharacters(form.Forced())))
	if ids = ids[:min(len(ids), most)]; len(ids) > 0 && (r.traits.Lookup() || len(ids) >= c.Gamma) {
		c.forced, c.because = ids, formForces
		c.Decision = gamma.Decision{Gamma: len(ids), Expected: float64(len(ids) + 1)}
	}
}

// giveForced puts the forced draft into the input of the round.
func (c *choice) giveForced(in *round.Input) {
	if c.forced != nil {
		c.forced = c.forced[:in.Ask.Gamma]
		in.Ask.Continue, in.Ask.Look, in.Ask.OnDevice, in.Given = nil, false, false, c.forced
	}
}
