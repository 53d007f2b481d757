package engine

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/sample"
	"specula/engine/spec"
)

// round writes the next tokens: draft, one target pass, verification, commit. It cuts both caches back to the committed
// tokens. It returns why the reply is finished, or "".
func (r *reply) round(ctx context.Context) (reason string, err error) {
	ev := event.Round{Index: r.rounds, GammaRule: r.config.Speculation.Rule, Proposer: "none", Temperature: r.config.Sampling.Temperature}
	r.ahead = nil
	if err := r.followNegative(ctx); err != nil {
		return "", err
	}
	r.bound(ctx)
	r.turnTo(r.config) // something that changed scores may have ended
	watch := r.engine.stopwatch()
	proposer, decision, err := r.decide(ctx, &ev, watch)
	if err != nil {
		return "", err
	}
	watch.lap(&ev.OtherMS)
	r.inspecting = r.request.Inspect && !(r.request.Sparing && r.session.inspectMS > inspectShare*r.session.age.elapsed())
	watch.skip()
	var draft spec.Draft
	if r.want = wantNothing; decision.Gamma > 0 {
		r.want = r.wants()
		if draft, err = r.draft(ctx, proposer, decision.Gamma, &ev, watch); err != nil {
			if err = r.goOnWithout(proposer, err, &ev); err != nil {
				return "", err
			}
			proposer, draft = nil, spec.Draft{}
		}
	}
	detach := r.attach(proposer)
	logits, outcome, err := r.verify(ctx, draft, &ev, watch)
	detach()
	if err != nil {
		return "", err
	}
	r.drafted.note(draft)
	if err := r.inspect(logits, draft, &ev); err != nil {
		return "", err
	}
	watch.skip()
	reason = r.commit(&outcome, &ev)
	ev.Constraint = r.expected()
	if err := r.rollBack(proposer, &ev); err != nil {
		return "", err
	}
	watch.lap(&ev.OtherMS)
	r.learn(draft, &ev, watch)
	r.rounds++
	return reason, r.emit(ev)
}

// wants says under which heading the time of a draft is counted: a lookup or a draft model.
func (r *reply) wants() wanted {
	if r.free {
		return wantLookup
	}
	return wantDraft
}

// decide chooses the proposer and the draft length gamma. A proposer that has not read this reply's tokens so far reads
// them here.
func (r *reply) decide(ctx context.Context, ev *event.Round, watch *stopwatch) (spec.Proposer, gamma.Decision, error) {
	name := r.config.Speculation.Proposer
	if !r.config.Speculation.Enabled {
		ev.GammaWhy = "speculation is off"
		if r.begun == name {
			return r.proposer, gamma.Decision{}, nil // it goes on following
		}
		r.begun = ""
		return nil, gamma.Decision{}, nil
	}
	if r.drafted.next(r.rounds); r.drafted.given == nil && r.resting() {
		return nil, r.limit(r.learned.gamma.Next(gamma.Outlook{}), ev), nil
	}
	proposer, err := r.ready(ctx, ev)
	if proposer == nil || err != nil {
		return nil, gamma.Decision{}, err
	}
	watch.skip()
	if r.drafted.given != nil {
		return proposer, r.limit(r.drafted.decision(), ev), nil
	}
	return proposer, r.limit(r.choose(proposer), ev), nil
}

// ready returns the proposer that the settings name, after it has read the reply's tokens so far. It returns nil if there
// is no such proposer.
func (r *reply) ready(ctx context.Context, ev *event.Round) (spec.Proposer, error) {
	proposer, name := r.proposer, r.config.Speculation.Proposer
	if r.begun != name {
		var refused string
		if proposer, refused = r.session.proposer(name, r.config.Speculation); refused != "" {
			other, err := r.giveUp(refused, 0)
			switch {
			case err != nil:
				return nil, err
			case other:
				return r.ready(ctx, ev)
			}
			r.begun = "" // the proposer so far will not see this round's tokens
			ev.GammaWhy, ev.DraftWhy = "no proposer "+name, refused
			return nil, nil
		}
	}
	return proposer, r.follow(ctx, proposer)
}

// resting reports whether it is certain already that this round drafts nothing. Then gamma's costs are not compared, and
// a proposer that may learn of committed tokens later is not called. This saves time: the weights have pushed the
// proposer's data out of the processor's caches, and to load it again takes about 1 % of a fast round.
func (r *reply) resting() bool {
	return r.patient && (r.begun == "" || r.begun == r.config.Speculation.Proposer) && r.learned.gamma.Resting()
}

// getToKnow notes the kind of the reply's proposer. It may learn of committed tokens later (patient), with two
// exceptions: a proposer that costs nothing is asked in every round, and one that reads the target's hidden states
// needs those of every pass.
func (r *reply) getToKnow(p spec.Proposer) {
	_, free := p.(spec.Free)
	_, reads := p.(spec.HiddenReader)
	r.proposer, r.free, r.patient = p, free, p != nil && !free && !reads
	r.large = r.engine.isLarge(r.engine.draftParameters(r.config.Speculation))
}

// outlook tells gamma's controller what only the reply knows of the coming round.
func (r *reply) outlook(p spec.Proposer) gamma.Outlook {
	o := gamma.Outlook{Free: r.free, Left: min(r.config.Sampling.MaxTokens-(len(r.context)-r.prompt), r.roomInContext())}
	if reader, ok := p.(spec.Reader); ok && !r.free {
		o.Unread = reader.Unread()
	}
	return o
}

// choose asks gamma's controller. Some rules never choose gamma = 0. They get a plain round now and then, because the
// speed-up can only be measured against plain rounds on the same context.
func (r *reply) choose(p spec.Proposer) gamma.Decision {
	d := r.learned.gamma.Next(r.outlook(p))
	if r.config.Speculation.Rule != string(gamma.CostAware) && d.Gamma > 0 && r.learned.plain.baselineDue() {
		d.Gamma, d.Probe, d.Expected = 0, true, 1
		d.Why = "a plain round, to measure the speed-up against"
	}
	return d
}

// limit cuts gamma to the tokens that still fit the reply and the context, and notes the decision in the event.
func (r *reply) limit(d gamma.Decision, ev *event.Round) gamma.Decision {
	ev.GammaWhy, ev.GammaOff, ev.Probe = d.Why, d.Off, d.Probe
	ev.AcceptanceByPosition, ev.ExpectedTokens = d.Acceptance, d.Expected
	if d.Gamma == 0 {
		return d
	}
	// The draft is followed by one token of the target's own.
	room := max(0, min(r.config.Sampling.MaxTokens-(len(r.context)-r.prompt), r.roomInContext())-1)
	if d.Gamma > room {
		d.Gamma = room
		ev.GammaWhy = fmt.Sprintf("only %d more tokens fit this reply", room+1)
		ev.ExpectedTokens = min(ev.ExpectedTokens, float64(room+1))
	}
	if guided(r.config) && d.Gamma > guidedGamma {
		d.Gamma = guidedGamma
		ev.GammaWhy = fmt.Sprintf("guidance doubles the rows of a pass: at most %d draft tokens", guidedGamma)
	}
	ev.Gamma = d.Gamma
	return d
}

// follow tells a proposer the tokens of this reply that it has not seen yet. A draft model reads them when it is first asked
// for a draft. If it is never asked, it never reads them.
func (r *reply) follow(ctx context.Context, p spec.Proposer) error {
	if r.begun == p.Name() {
		if r.told == len(r.context) {
			return nil
		}
		return r.tell(p)
	}
	r.getToKnow(p)
	if heads, reads := p.(spec.HiddenReader); reads {
		return r.catchUp(ctx, heads)
	}
	var err error
	if reader, ok := p.(spec.Reader); ok {
		_, err = reader.Follow(r.context)
	} else {
		_, err = p.Begin(ctx, r.context, nil)
	}
	if err != nil {
		return fmt.Errorf("telling proposer %s the context: %w", p.Name(), err)
	}
	r.begun, r.told = p.Name(), len(r.context)
	return nil
}

// tell gives a proposer the tokens that were committed since the last call.
func (r *reply) tell(p spec.Proposer) error {
	if err := p.Committed(r.context[r.told:]); err != nil {
		return fmt.Errorf("rolling proposer %s back: %w", p.Name(), err)
	}
	r.told = len(r.context)
	return nil
}

// draft asks the proposer for a draft of at most length tokens. If the proposer has none for this round, the draft is empty
// and the event says why.
func (r *reply) draft(ctx context.Context, p spec.Proposer, length int, ev *event.Round, watch *stopwatch) (spec.Draft, error) {
	ask := spec.Ask{Gamma: length, IsStop: r.ends, Shapers: r.session.shaping.drafts.Active(), Trust: r.config.Speculation.SuffixTrust}
	if r.looking = false; !r.free {
		r.askModel(ctx, &ask, ev, watch)
	}
	if r.drafted.given != nil {
		r.drafted.again(&ask)
	}
	r.drafted.sharpen = ask.Sharpen
	draft, err := r.drafted.propose(ctx, p, ask)
	ev.Read = draft.Read
	if failed := r.countFailures(&draft, err); failed != nil {
		return spec.Draft{}, failed
	}
	spec.DropForbidden(&draft, ask.Shapers)
	watch.lap(&ev.DraftMS)
	if r.ahead != nil { // the host waited for draft and target pass together; the device timed them apart
		ev.VerifyMS = min(r.ahead.passMS(), ev.DraftMS)
		ev.DraftMS -= ev.VerifyMS
	}
	if errors.Is(err, spec.ErrNoDraft) {
		ev.DraftWhy = err.Error()
		return spec.Draft{}, nil
	}
	if err != nil {
		return spec.Draft{}, fmt.Errorf("drafting by %s: %w", p.Name(), err)
	}
	ev.DraftStop = draft.Stop
	r.withoutEnd(&draft)
	r.trim(&draft, ev)
	if len(draft.Tokens) == 0 {
		return draft, nil
	}
	ev.Proposer, ev.ProposerWhy, ev.DraftTemperature = p.Name(), draft.ByWhy, draft.Temperature
	if draft.By != "" {
		ev.Proposer = draft.By
	}
	drafted := event.Drafted{Round: r.rounds, Gamma: length, Probe: ev.Probe, Proposer: ev.Proposer, DraftMS: ev.DraftMS}
	for i, id := range draft.Tokens {
		t := r.engine.token(id)
		if q := draft.Q[i]; q.IsElsewhere() {
			t.Q = known(draft.Confidence[i])
		} else if q.P != nil {
			t.Q = known(q.Prob(id))
		}
		drafted.Tokens = append(drafted.Tokens, t)
	}
	err = r.emit(drafted)
	watch.skip()
	return draft, err
}

// askModel adds to a question what only a proposer with a model needs.
func (r *reply) askModel(ctx context.Context, ask *spec.Ask, ev *event.Round, watch *stopwatch) {
	r.looking = r.learned.sharpness.due(params(r.config))
	ask.Params, ask.Uniforms, ask.Round = params(r.config), r.uniforms, r.rounds
	ask.Inspect, ask.Look, ask.Sharpen = r.inspecting, r.looking, r.learned.sharpness.factor()
	ask.Reading = func(read func(progress func(done, total int)) error) error {
		watch.lap(&ev.DraftMS)
		defer watch.skip()
		return r.timed("draft", &ev.ReadMS, read)
	}
	if r.config.Speculation.Rule == string(gamma.CostAware) && r.confidenceIsCheap() {
		// Only the rule cost-aware ends a draft early by its confidence. With the other rules, a greedy draft has no use for the
		// confidence, and a device then returns 4 bytes a token.
		ask.Continue = r.learned.gamma.Continue
	}
	if r.mayRunAhead(ask) {
		ask.Ahead = r.runAhead(ctx)
	}
}

// withoutEnd removes a stop token from the end of a greedy draft. To verify it would bring no token: the row before it
// already yields the target's own choice, and no token follows a stop token. A stop token that was drawn at random stays:
// removing a token because of its value would change the distribution.
func (r *reply) withoutEnd(draft *spec.Draft) {
	last := len(draft.Tokens) - 1
	if last < 0 || draft.Q[last].P != nil || !r.ends(draft.Tokens[last]) {
		return
	}
	draft.Tokens, draft.Q = draft.Tokens[:last], draft.Q[:last]
	draft.Confidence = draft.Confidence[:min(last, len(draft.Confidence))]
	draft.Logits = draft.Logits[:min(last, len(draft.Logits))]
}

// confidenceIsCheap reports whether the probability of each draft token costs little compared with the draft. Sampling
// computes it anyway. A greedy draft needs a softmax over the vocabulary for it, which is little only for a large model.
func (r *reply) confidenceIsCheap() bool { return r.config.Sampling.Temperature > 0 || r.large }

// isLarge reports whether a pass over so many parameters takes much longer than a softmax over the vocabulary.
func (e *Engine) isLarge(parameters int64) bool {
	const parametersPerWeight = 1000
	return parameters >= parametersPerWeight*int64(e.target.Config().Vocab)
}

// verify runs one target pass over the last committed token and the draft tokens, and judges the draft by its logits.
func (r *reply) verify(ctx context.Context, draft spec.Draft, ev *event.Round, watch *stopwatch) (scores, spec.Outcome, error) {
	rows := append([]int32{r.context[len(r.context)-1]}, draft.Tokens...)
	var logits scores
	var host string // why the host judges a draft that the device could judge otherwise
	var err error
	if r.ahead != nil {
		logits = r.ahead
	} else {
		logits, err = r.forward(ctx, rows, ev)
		if err == nil && r.session.path(r.config) == spec.Stochastic {
			logits, host, err = r.session.judge(logits, draft, params(r.config), r.uniforms, r.rounds)
		}
	}
	watch.lap(&ev.VerifyMS)
	if err != nil {
		return nil, spec.Outcome{}, fmt.Errorf("verifying %d rows: %w", len(rows), err)
	}
	terms := r.terms()
	outcome, err := r.session.verifier.Verify(logits, draft, terms)
	ev.BytesMoved, ev.Syncs = logits.Moved()
	if err == nil && len(draft.Tokens) > 0 {
		err = r.sharpen(logits, draft, outcome.Path)
	}
	watch.lap(&ev.SampleMS)
	ev.Shaped = terms.Shapers.Names()
	ev.Path, ev.PathWhy = string(outcome.Path), outcome.PathWhy
	if host != "" {
		ev.Path, ev.PathWhy = string(spec.Fallback), host
	}
	ev.Rule, ev.Lossy = string(terms.Rule), terms.Rule.Lossy() && terms.Params.Temperature > 0
	if err != nil {
		return nil, spec.Outcome{}, err
	}
	ev.Accepted, ev.Tested = outcome.Accepted, outcome.Tested
	for _, j := range outcome.Draft {
		ev.Draft = append(ev.Draft, r.engine.judged(j))
	}
	if outcome.Commit.Verdict != "" {
		t := r.engine.judged(outcome.Commit)
		ev.Commit = &t
	}
	err = r.logprobs(logits, &outcome, ev)
	if _, decided := logits.(ahead); !decided { // when the device has judged, the bytes read after that served inspection only
		ev.BytesMoved, ev.Syncs = logits.Moved()
	}
	watch.lap(&ev.SampleMS)
	return logits, outcome, err
}

// terms are the conditions under which the next round of this reply is judged.
func (r *reply) terms() spec.Terms {
	t := r.session.terms(r.config)
	t.Uniforms, t.Round, t.Written, t.IsStop = r.uniforms, r.rounds, len(r.context)-r.prompt, r.ends
	return t
}

// terms are the conditions that a configuration sets. Those that differ from round to round are left empty.
func (s *Session) terms(c config.Config) spec.Terms {
	t := spec.Terms{
		Params: params(c), Shapers: s.shaping.shapers.Active(), Logprobs: c.Sampling.Logprobs, Rule: spec.Rule(c.Speculation.Acceptance),
		Typical: spec.Typical{Epsilon: c.Speculation.TypicalEpsilon, Delta: c.Speculation.TypicalDelta},
	}
	if guided(c) {
		t.Mixed = fmt.Sprintf("guidance %g: two rows for each token", c.Guidance.Scale)
	}
	return t
}

// params are the filters of a configuration.
func params(c config.Config) sample.Params {
	f := c.Sampling
	return sample.Params{Temperature: f.Temperature, TopK: f.TopK, TopP: f.TopP, MinP: f.MinP, TemperatureLast: f.TemperatureLast}
}
