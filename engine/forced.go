package engine

import (
	"specula/engine/gamma"
	"specula/engine/round"
)

// Forced text. Under a form, such as a JSON schema, some text can only follow in one way: a key of an
// object, a closing bracket. It is drafted without a proposer, as the tokens that the target itself would
// spell it with. The target may spell it in other tokens, so these tokens are a draft like any other: each
// has a one-hot q, and the target's verdict decides.

// force drafts the text that the form forces, if there is any, in place of the proposer. It leaves the
// round to a model that was to draft more tokens, because that draft goes on after the forced text. A
// fixed or windowed gamma limits the forced draft; the rule cost-aware lets it have as many tokens as
// gamma may ever be, because it costs nothing to draft. Not to try again after the target spelled a forced
// text in its own way was measured and is worse: it returns to the usual tokens soon. A target on a server
// gets none: that would end the stream in which the server writes plain text fastest.
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
