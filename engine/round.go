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

// candidates is how many of each model's best tokens an inspected round keeps.
const candidates = 6

// inspectShare is the part of a session's time that a sparing inspection may take.
const inspectShare = 1.0 / 50

// round drafts, lets the target judge in one pass, commits what stays and rolls both caches back to it.
// It returns why the reply is finished, or "".
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

// wants is what asking the proposer means for the round's time.
func (r *reply) wants() wanted {
	if r.free {
		return wantLookup
	}
	return wantDraft
}

// decide chooses proposer and draft length. A proposer that does not follow this reply yet reads its context here.
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

// ready returns the proposer of the settings, following this reply; nil if there can be none.
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
			r.begun = "" // whoever followed misses this round
			ev.GammaWhy, ev.DraftWhy = "no proposer "+name, refused
			return nil, nil
		}
	}
	return proposer, r.follow(ctx, proposer)
}

// resting reports whether it stands already that this round is plain. Then nothing is weighed, and the proposer is left alone if it may be told
// later what was committed: everything touched here the weights have driven out of the caches, and fetching it takes as long as a hundredth of a
// fast round.
func (r *reply) resting() bool {
	return r.patient && (r.begun == "" || r.begun == r.config.Speculation.Proposer) && r.learned.gamma.Resting()
}

// getToKnow notes what kind of proposer the reply is written with. One may be told later what was committed unless it is asked in every round
// because it is free, or reads what the target's passes leave.
func (r *reply) getToKnow(p spec.Proposer) {
	_, free := p.(spec.Free)
	_, reads := p.(spec.HiddenReader)
	r.proposer, r.free, r.patient = p, free, p != nil && !free && !reads
	r.large = r.engine.isLarge(r.engine.draftParameters(r.config.Speculation))
}

// outlook is what the controller cannot know of the coming round.
func (r *reply) outlook(p spec.Proposer) gamma.Outlook {
	o := gamma.Outlook{Free: r.free, Left: min(r.config.Sampling.MaxTokens-(len(r.context)-r.prompt), r.roomInContext())}
	if reader, ok := p.(spec.Reader); ok && !r.free {
		o.Unread = reader.Unread()
	}
	return o
}

// choose asks the controller. The rules that never choose γ = 0 of their own accord get a plain round now and then, because
// a speed-up is only known against plain rounds on the same context.
func (r *reply) choose(p spec.Proposer) gamma.Decision {
	d := r.learned.gamma.Next(r.outlook(p))
	if r.config.Speculation.Rule != string(gamma.CostAware) && d.Gamma > 0 && r.learned.plain.baselineDue() {
		d.Gamma, d.Probe, d.Expected = 0, true, 1
		d.Why = "a plain round, to measure the speed-up against"
	}
	return d
}

// limit cuts a decision to the room that is left, and notes it.
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

// follow tells a proposer the context of this reply, unless it has followed it all along. A model reads it when a draft is first asked for,
// and never if none is.
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

// tell gives a proposer what was committed since it was told last.
func (r *reply) tell(p spec.Proposer) error {
	if err := p.Committed(r.context[r.told:]); err != nil {
		return fmt.Errorf("rolling proposer %s back: %w", p.Name(), err)
	}
	r.told = len(r.context)
	return nil
}

// draft asks the proposer. A proposer that fails for this round only leaves an empty draft and a reason.
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
	if r.ahead != nil { // the host waited for both at once, and the device knows which took how long
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

// askModel adds what only a proposer with a model needs to know.
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
		// Only this rule knows a price; the others draft what they said, and a greedy draft then moves 4 bytes a token.
		ask.Continue = r.learned.gamma.Continue
	}
	if r.mayRunAhead(ask) {
		ask.Ahead = r.runAhead(ctx)
	}
}

// withoutEnd takes a stop token off the end of a draft: the row in front of it has the target's own opinion, and nothing follows it, so
// that verifying it would bring no token. What was drawn by chance stays, since leaving it out for what it is would favour others.
func (r *reply) withoutEnd(draft *spec.Draft) {
	last := len(draft.Tokens) - 1
	if last < 0 || draft.Q[last].P != nil || !r.ends(draft.Tokens[last]) {
		return
	}
	draft.Tokens, draft.Q = draft.Tokens[:last], draft.Q[:last]
	draft.Confidence = draft.Confidence[:min(last, len(draft.Confidence))]
	draft.Logits = draft.Logits[:min(last, len(draft.Logits))]
}

// confidenceIsCheap reports whether asking the draft how sure it is costs little beside the draft itself. Sampling has the answer
// anyway; a greedy draft would have to take a softmax over the vocabulary for it, which only a larger model outweighs.
func (r *reply) confidenceIsCheap() bool { return r.config.Sampling.Temperature > 0 || r.large }

// isLarge reports whether reading so many weights takes much longer than a softmax.
func (e *Engine) isLarge(parameters int64) bool {
	const parametersPerWeight = 1000
	return parameters >= parametersPerWeight*int64(e.target.Config().Vocab)
}

// verify runs the target over the last committed token and the draft, and judges the draft.
func (r *reply) verify(ctx context.Context, draft spec.Draft, ev *event.Round, watch *stopwatch) (scores, spec.Outcome, error) {
	rows := append([]int32{r.context[len(r.context)-1]}, draft.Tokens...)
	var logits scores
	var host string // why the host judges what a device might have
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
	if _, decided := logits.(ahead); !decided { // of one that a device decided, what was read since was only looked at
		ev.BytesMoved, ev.Syncs = logits.Moved()
	}
	watch.lap(&ev.SampleMS)
	return logits, outcome, err
}

// inspect adds both models' best candidates to the tokens of a round, if somebody wants to look.
func (r *reply) inspect(logits scores, draft spec.Draft, ev *event.Round) error {
	defer func() {
		bytes, _ := logits.Moved()
		ev.InspectBytes = draft.LookBytes + bytes - ev.BytesMoved
	}()
	if !r.inspecting {
		return nil
	}
	watch := r.engine.stopwatch()
	defer func() { watch.lap(&r.session.inspectMS) }()
	seen, err := r.session.verifier.Inspect(candidates, logits, draft, r.terms())
	if err != nil {
		return fmt.Errorf("inspecting a round: %w", err)
	}
	for i, rule := range spec.Rules {
		if len(draft.Tokens) > 0 {
			ev.Rules = append(ev.Rules, event.RuleOutcome{Rule: string(rule), Accepted: seen.Kept[i], Lossy: rule.Lossy()})
		}
	}
	for i := range ev.Draft {
		t := &ev.Draft[i]
		t.Target, t.Draft = r.engine.named(seen.Target[i]), r.engine.named(seen.Draft[i])
		t.P, t.Q = exactly(t.P, seen.P[i]), exactly(t.Q, seen.Q[i])
	}
	if ev.Commit != nil {
		// The committed token stands at the place of the first refused draft token, or behind them all.
		ev.Commit.Target = r.engine.named(seen.Target[ev.Accepted])
		ev.Commit.Draft = r.engine.named(seen.Draft[ev.Accepted])
	}
	return nil
}

// exactly returns a number as it was seen, in place of the fewer digits that were told of it. A number that does not exist stays so.
func exactly(told *float64, seen float64) *float64 {
	if told == nil || seen == spec.Unknown {
		return told
	}
	return &seen
}

// terms are what a round of this reply is judged by, before its tokens are committed.
func (r *reply) terms() spec.Terms {
	t := r.session.terms(r.config)
	t.Uniforms, t.Round, t.Written, t.IsStop = r.uniforms, r.rounds, len(r.context)-r.prompt, r.ends
	return t
}

// terms are those of rounds under a configuration, at this place of the reply, without what differs from round to round.
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
