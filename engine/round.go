package engine

import (
	"context"
	"fmt"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/remote"
	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
)

// round writes the next tokens: draft, one target pass, verification, commit. It cuts the caches back
// (rollBack) and emits the round's event. It returns why the reply is finished, or "" if the reply goes on.
func (r *reply) round(ctx context.Context) (reason string, err error) {
	if err := r.followNegative(ctx); err != nil {
		return "", err
	}
	r.bound(ctx)
	if r.watches() {
		return r.watch(ctx)
	}
	r.closeWatch()
	r.turnTo(r.config) // a shaper may have no effect from here on, and then the rounds are of another kind
	var did round.Result
	driver := r.driver()
	driver.Watch.Skip()
	choice, err := r.choose(ctx)
	if err != nil {
		return "", err
	}
	driver.Watch.Lap(&did.Times.Other)
	in := r.input(&choice)
	driver.Watch.Skip()
	choice.asked = choice.Gamma > 0
	var ev event.Round
	detach := r.attach(choice.proposer)
	if choice.Gamma > 0 {
		err = r.draft(ctx, &choice, &in, &did)
	}
	if err == nil {
		err = r.verify(ctx, &choice, &in, &did, &ev)
	}
	detach()
	if err != nil {
		return "", err
	}
	r.drafted.note(&did.Draft, in.Ask.Sharpen)
	if err := r.inspect(&in, &did, &ev); err != nil {
		return "", err
	}
	driver.Watch.Skip()
	reason = r.commit(&did.Outcome, &ev)
	ev.Constraint = r.expected()
	if err := r.rollBack(&choice, &ev); err != nil {
		return "", err
	}
	driver.Watch.Lap(&did.Times.Other)
	narrateTimes(&did, &ev)
	r.learn(&choice, &did, &ev)
	r.rounds++
	if err := r.out.emit(ev); err != nil {
		return reason, err
	}
	return reason, r.advise(did.Pass.Advice)
}

// advise emits the target's advice to the user, once in a session; "" is no advice.
func (r *reply) advise(advice string) error {
	if advice == "" || r.session.advised {
		return nil
	}
	r.session.advised = true
	return r.out.emit(event.Notice{Level: "warning", Text: advice})
}

// driver returns the session's driver. Its Target is the session's target, or under guidance the target
// with its companion.
func (r *reply) driver() *round.Driver {
	s := r.session
	s.driver.Target = s.target
	if guided(r.config) {
		s.driver.Target = s.companion
	}
	return &s.driver
}

// choice is which proposer drafts in a round, and how many tokens.
type choice struct {
	gamma.Decision
	proposer spec.Proposer // nil: no proposer is asked or told
	because  because
	asked    bool    // a draft was asked for, even if none came
	room     int     // the most draft tokens that still fit the reply; set only where this limit lowered gamma
	forced   []int32 // the draft that the form forces; nil: the proposer drafts
	refused  string  // why the proposer of the settings cannot be made; "" if it can
	passed   *passed
}

// passed is the first token of a looked-up draft that was not worth verifying; nil if there is none.
type passed struct {
	id         int32
	confidence float64
}

// because is what gamma was set by: the controller, or a reason that overrules it.
type because int

const (
	controllerChose because = iota
	speculationOff
	noProposer
	planRepeats   // speculation.drafts is set: an earlier reply is written again
	replyEnds     // the reply or the context has no room for more
	guidanceLimit // guidance doubles the rows of a pass
	formForces    // the form of the reply permits only one text
)

// choose selects a proposer and a draft length gamma for the round. It tells the proposer the tokens of this
// reply that the proposer was not told yet. If speculation is off, choose only keeps a proposer that already
// follows the reply.
func (r *reply) choose(ctx context.Context) (c choice, err error) {
	if !r.config.Speculation.Enabled {
		c.because = speculationOff
		if r.follows(r.config.Speculation.Proposer) {
			c.proposer = r.proposer // it stays up to date, for when speculation is turned on again
		} else {
			r.leave()
		}
		return c, nil
	}
	r.drafted.next(r.rounds)
	if err := r.ready(ctx, &c); err != nil || c.proposer == nil {
		return c, err
	}
	r.session.driver.Watch.Skip()
	if given := r.drafted.given; given != nil {
		c.Decision, c.because = gamma.Decision{Gamma: given.Length}, planRepeats
	} else {
		c.Decision = r.learned.gamma.Next(r.outlook(c.proposer))
		r.force(&c)
	}
	r.limit(&c)
	return c, nil
}

// ready finds the proposer that the settings name, and tells it the tokens of this reply.
func (r *reply) ready(ctx context.Context, c *choice) error {
	c.proposer = r.proposer
	if name := r.config.Speculation.Proposer; !r.follows(name) {
		if c.proposer, c.refused = r.session.proposer(name, r.config.Speculation); c.refused != "" {
			other, err := r.giveUp(c.refused, 0)
			if other && err == nil {
				*c = choice{}
				return r.ready(ctx, c)
			}
			r.leave() // the proposer so far will not be told this round's tokens
			c.because = noProposer
			return err
		}
	}
	return r.follow(ctx, c.proposer)
}

// outlook returns what gamma's controller must be told about the coming round.
func (r *reply) outlook(p spec.Proposer) gamma.Outlook {
	o := gamma.Outlook{Left: r.left(), Unread: p.Unread()}
	if t, ok := r.session.target.(*remote.Target); ok {
		o.Streams, o.MissedMS = t.Streams(), t.MissedMS(r.config.Speculation.GammaMax)
	}
	return o
}

// left is the number of tokens that still fit the reply and the context.
func (r *reply) left() int {
	return min(r.config.Sampling.MaxTokens-r.written(), r.roomInContext())
}

// limit lowers gamma to what still fits the reply and the context, and under guidance to guidedGamma. Room
// for one token stays free: the target adds a token after the draft.
func (r *reply) limit(c *choice) {
	if room := max(0, r.left()-1); c.Gamma > room {
		c.Gamma, c.room, c.because = room, room, replyEnds
		c.Expected = min(c.Expected, float64(room+1))
	}
	if guided(r.config) && c.Gamma > guidedGamma {
		c.Gamma, c.because = guidedGamma, guidanceLimit
	}
}

// input returns the input of the round.
func (r *reply) input(c *choice) round.Input {
	s := r.session
	in := round.Input{Last: r.last(), Terms: r.terms()}
	in.Ask.Inspect = r.request.Inspect && !(r.request.Sparing && s.inspectMS > inspectShare*s.age.Elapsed())
	if c.Gamma == 0 {
		return in
	}
	ask := &in.Ask
	ask.Gamma, ask.IsStop, ask.Shapers = c.Gamma, s.isStop, s.shaping.drafts.Active()
	ask.Trust = r.config.Speculation.SuffixTrust
	if !r.traits.Lookup() {
		ask.Look = r.learned.sharpness.due(in.Terms.Params)
		ask.Params, ask.Uniforms, ask.Round = in.Terms.Params, r.uniforms, r.rounds
		ask.Rule, ask.Written = in.Terms.Rule, in.Terms.Written
		ask.Sharpen = r.learned.sharpness.factor()
		if r.config.Speculation.Rule == string(gamma.CostAware) && r.confidenceIsCheap() {
			// Only the rule cost-aware ends a draft early by the probabilities of its tokens. If Continue is
			// nil, a greedy draft does not need them, and a device returns only an id of 4 bytes for each token.
			ask.Continue = r.learned.gamma.Continue
		}
		ask.OnDevice = s.engine.draftsStay() && judgesUnseen(&in)
	}
	if r.drafted.given != nil {
		r.drafted.again(&in)
	}
	c.giveForced(&in)
	return in
}

// judgesUnseen reports whether a device may judge a draft that the host has not seen. Inspection needs
// the draft on the host. At temperature 0 the host therefore judges an inspected round itself, and
// chooses the same tokens as the device would. In a sampled round the host may draw other tokens than
// the device. So the device judges an inspected round, too, and its rows are read afterwards.
func judgesUnseen(in *round.Input) bool {
	path := spec.Eligible(&in.Terms)
	return path == spec.Greedy && !in.Ask.Inspect || path == spec.Stochastic
}

// draftsStay reports whether drafts can stay on the target's device.
func (e *Engine) draftsStay() bool {
	return e.target != nil && e.target.Feeds() && (e.draft == nil || e.target.Shares(e.draft))
}

// draft asks the proposer for a draft. If drafting fails, the round goes on without a draft where it can.
func (r *reply) draft(ctx context.Context, c *choice, in *round.Input, did *round.Result) error {
	driver := &r.session.driver
	if err := driver.Draft(ctx, c.proposer, in, r.tellReading("draft"), did); err != nil {
		did.Failed = err
		err = r.goOnWithout(c.proposer, err)
		c.proposer = nil
		return err
	}
	if c.forced != nil {
		did.Draft.By, did.Draft.ByWhy = event.FromForm, "the form permits no other text here"
	} else if err := r.countFailures(did); err != nil || did.Failed != nil {
		return err
	} else {
		r.trim(c, &did.Draft)
	}
	if len(did.Draft.Tokens) == 0 {
		return nil
	}
	err := r.out.emit(r.narrateDraft(c, in, did))
	driver.Watch.Skip()
	return err
}

// verify lets the target judge the draft, and fills the event of the round.
func (r *reply) verify(ctx context.Context, c *choice, in *round.Input, did *round.Result, ev *event.Round) error {
	driver := &r.session.driver
	if err := driver.Verify(ctx, in, did); err != nil {
		return err
	}
	if in.Ask.Look && did.Outcome.Path != spec.Greedy && did.Outcome.Path != spec.Drawn {
		if err := r.learned.sharpness.look(driver.Verifier, did.Pass.Scores, did.Draft); err != nil {
			return fmt.Errorf("comparing draft model and target: %w", err)
		}
	}
	r.narrate(c, in, did, ev)
	if err := r.logprobs(did.Pass.Scores, &did.Outcome, ev); err != nil {
		return err
	}
	if !did.Pass.Judged { // if the device has judged, bytes that were copied afterwards serve inspection only
		ev.BytesMoved, ev.Syncs = did.Pass.Moved()
	}
	driver.Watch.Lap(&did.Times.Sample)
	return nil
}

// confidenceIsCheap reports whether the probability of each draft token costs little beside the draft.
// Sampling computes it anyway. For a greedy draft it needs a softmax over the vocabulary, which is
// cheap only compared with a large model.
func (r *reply) confidenceIsCheap() bool { return r.config.Sampling.Temperature > 0 || r.large }

// isLarge reports whether a pass over so many parameters takes much longer than a softmax over the
// vocabulary: 1000 parameters or more for each token of the vocabulary.
func (e *Engine) isLarge(parameters int64) bool {
	const parametersPerToken = 1000
	return parameters >= parametersPerToken*int64(e.shape.Vocab)
}

// terms are the conditions under which the next round of this reply is judged.
func (r *reply) terms() spec.Terms {
	t := r.session.terms(r.config)
	t.Uniforms, t.Round, t.Written, t.Left, t.IsStop = r.uniforms, r.rounds, r.written(), r.left(), r.session.isStop
	t.Inspected = r.request.Inspect
	return t
}

// terms are the conditions that the settings give. The fields that differ from round to round stay empty.
func (s *Session) terms(c config.Config) spec.Terms {
	return spec.Terms{
		Params: params(c), Shapers: s.shaping.shapers.Active(), Logprobs: c.Sampling.Logprobs, Rule: spec.Rule(c.Speculation.Acceptance),
		Typical: spec.Typical{Epsilon: c.Speculation.TypicalEpsilon, Delta: c.Speculation.TypicalDelta}, Mixed: guided(c),
		Device: s.engine.target != nil && s.engine.target.Feeds(),
	}
}

// params are the filters of a configuration.
func params(c config.Config) sample.Params {
	f := c.Sampling
	return sample.Params{Temperature: f.Temperature, TopK: f.TopK, TopP: f.TopP, MinP: f.MinP, TemperatureLast: f.TemperatureLast}
}
