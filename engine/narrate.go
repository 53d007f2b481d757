package engine

import (
	"fmt"
	"strings"

	"specula/engine/event"
	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
)

// This file makes the events of a round, for the screen and for traces, from its results. The
// controller, the proposer and the pass give reasons as text, which go into the events unchanged. Most
// other sentences about a round are written here; those about a server's own rounds are in watch.go.

// narrateDraft makes the event of a draft that the target has not judged yet.
func (r *reply) narrateDraft(c *choice, in *round.Input, did *round.Result) event.Drafted {
	e := event.Drafted{Round: r.rounds, Gamma: in.Ask.Gamma, Probe: c.Probe, Proposer: whoDrafted(c, did), DraftMS: did.Times.Draft}
	for i, id := range did.Draft.Tokens {
		t := r.session.engine.token(id)
		if q := did.Draft.Q[i]; q.IsElsewhere() {
			t.Q = known(did.Draft.Confidence[i])
		} else if q.P != nil {
			t.Q = known(q.Prob(id))
		}
		e.Tokens = append(e.Tokens, t)
	}
	return e
}

// whoDrafted names the proposer of the draft.
func whoDrafted(c *choice, did *round.Result) string {
	switch {
	case len(did.Draft.Tokens) == 0:
		return "none"
	case did.Draft.By != "":
		return did.Draft.By
	}
	return c.proposer.Name()
}

// narrate fills ev with the verdicts of a round and the reasons for its choices. Other functions add the texts of
// committed tokens, the lengths of caches and the times.
func (r *reply) narrate(c *choice, in *round.Input, did *round.Result, ev *event.Round) {
	e, terms, outcome := r.session.engine, &in.Terms, &did.Outcome
	*ev = event.Round{
		Index: r.rounds, Temperature: terms.Params.Temperature, Proposer: whoDrafted(c, did), DraftWhy: draftWhy(c, did), DraftStop: did.Draft.Stop,
		GammaRule: r.config.Speculation.Rule, Gamma: c.Gamma, GammaWhy: r.gammaWhy(c), GammaOverruled: c.because != controllerChose, GammaOff: c.Off, Probe: c.Probe,
		AcceptanceByPosition: c.Acceptance, ExpectedTokens: c.Expected, Read: did.Read,
		Path: string(outcome.Path), PathWhy: r.pathWhy(terms, did), Shaped: terms.Shapers.Names(),
		Rule: string(terms.Rule), Lossy: terms.Rule.Lossy() && terms.Params.Temperature > 0,
		Accepted: outcome.Accepted, Tested: outcome.Tested, BytesMoved: did.BytesMoved, Syncs: did.Syncs,
	}
	if outcome.Path == spec.Drawn {
		ev.Rule, ev.Lossy = string(spec.ExactMatch), false // the server has drawn the tokens, so no rule of the settings applies
	}
	if did.Pass.Host != round.NoReason {
		ev.Path = string(spec.Fallback)
	}
	if terms.Mixed {
		ev.GuidanceScale = r.config.Guidance.Scale
	}
	if len(did.Draft.Tokens) > 0 {
		ev.ProposerWhy, ev.DraftTemperature = did.Draft.ByWhy, did.Draft.Temperature
	}
	for _, j := range outcome.Draft {
		ev.Draft = append(ev.Draft, e.judged(j))
	}
	if outcome.Commit.Verdict != "" {
		t := e.judged(outcome.Commit)
		ev.Commit = &t
	}
}

// narrateTimes copies the times of a round into its event.
func narrateTimes(did *round.Result, ev *event.Round) {
	t := &did.Times
	ev.ReadMS, ev.DraftMS, ev.VerifyMS, ev.SampleMS, ev.OtherMS = t.Read, t.Draft, t.Verify, t.Sample, t.Other
}

// gammaWhy says, as text, what gamma was set by: the controller, or a reason that overrules it.
func (r *reply) gammaWhy(c *choice) string {
	switch c.because {
	case speculationOff:
		return "speculation is off"
	case noProposer:
		return "no proposer " + r.config.Speculation.Proposer
	case planRepeats:
		return "as when the reply was first written"
	case formForces:
		return "the form of the reply permits no other text here"
	case replyEnds:
		return fmt.Sprintf("only %d more tokens fit this reply", c.room+1)
	case guidanceLimit:
		return fmt.Sprintf("guidance doubles the rows of a pass: at most %d draft tokens", guidedGamma)
	}
	return c.Why
}

// draftWhy says why there is no draft although one was wanted; "" otherwise.
func draftWhy(c *choice, did *round.Result) string {
	if did.Failed != nil {
		return did.Failed.Error()
	}
	return c.refused
}

// pathWhy says why the round took its path of verification.
func (r *reply) pathWhy(t *spec.Terms, did *round.Result) string {
	if did.Pass.Why != "" {
		return did.Pass.Why
	}
	switch did.Pass.Host {
	case round.NotForIt:
		return fmt.Sprintf("the device cannot judge %d draft tokens at temperature %g", len(did.Draft.Tokens), t.Params.Temperature)
	case round.DrawnHere:
		return "what the draft was drawn from is on the processor, so whole rows are judged there"
	}
	if did.Outcome.Path != spec.Fallback && (len(t.Shapers) > 0 || t.Mixed) {
		by := t.Shapers.Names()
		if t.Mixed {
			by = append([]string{fmt.Sprintf("guidance %g", r.config.Guidance.Scale)}, by...)
		}
		return fmt.Sprintf("temperature %g; the device changes the scores by %s", t.Params.Temperature, sample.Listed(by))
	}
	var why []string // the reasons why whole rows are needed
	if len(t.Shapers) > 0 {
		why = append(why, "scores are changed by "+sample.Listed(t.Shapers.Names()))
	}
	if t.Mixed {
		why = append(why, fmt.Sprintf("guidance %g: two rows for each token", r.config.Guidance.Scale))
	}
	if t.Logprobs > 0 && !t.Device {
		why = append(why, "log-probabilities are asked for")
	}
	if t.RuleNeedsRows() {
		why = append(why, "the rule "+string(t.Rule)+" needs whole rows")
	}
	switch {
	case len(why) > 0:
		return strings.Join(why, "; ")
	case t.Params.Temperature == 0:
		return "temperature 0: the best token of each row decides"
	}
	return fmt.Sprintf("temperature %g, and no filter depends on earlier tokens", t.Params.Temperature)
}

// token describes a token without its verdict.
func (e *Engine) token(id int32) event.Token {
	return event.Token{ID: id, Raw: e.tokens.Bytes(id), Text: e.tokens.Readable(id)}
}

// judged describes a token with its verdict.
func (e *Engine) judged(j spec.Judged) event.Token {
	t := e.token(j.ID)
	t.Verdict, t.P, t.Q, t.U, t.Bound = j.Verdict, known(j.P), known(j.Q), known(j.U), known(j.Bound)
	return t
}

// named adds to each candidate the text of its token.
func (e *Engine) named(list []sample.Candidate) []event.Candidate {
	out := make([]event.Candidate, len(list))
	for i, c := range list {
		out[i] = event.Candidate{ID: c.ID, Text: e.tokens.Readable(c.ID), P: c.P}
	}
	return out
}

// known returns a pointer to x, or nil if x is not known.
func known(x float64) *float64 {
	if x == spec.Unknown {
		return nil
	}
	return &x
}
