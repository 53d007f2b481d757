package engine

import (
	"context"
	"errors"

	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/sample"
)

// reply is the state of one reply while it is written.
type reply struct {
	session   *Session
	request   Request
	out       listener
	config    config.Config
	uniforms  sample.Uniforms
	learned   *lessons // what rounds of the same kind as the coming round have taught
	text      *text
	script    // the tokens of prompt and reply so far
	follower  // the proposer of the reply
	rounds    int
	hindsight hindsight
	totals    totals
	drafted   drafted
	server    watching // the stream, when a server's own rounds are watched
}

// script is the prompt and the reply so far, as tokens.
type script struct {
	context  []int32 // the prompt and all committed tokens
	prompt   int     // length of the prompt
	negative []int32 // prompt of the companion, which is the second sequence under guidance; nil until guidance is first on
}

func (s *script) last() int32    { return s.context[len(s.context)-1] }
func (s *script) reply() []int32 { return s.context[s.prompt:] }
func (s *script) written() int   { return len(s.context) - s.prompt }

// listener is whoever reads the events of a reply.
type listener struct {
	yield func(event.Event) bool
	gone  bool // yield has returned false: it must not be called any more
}

// errReaderGone ends a reply whose events nobody reads any more.
var errReaderGone = errors.New("nobody reads the reply any more")

// emit gives an event to the listener. It returns errReaderGone if nobody reads.
func (l *listener) emit(e event.Event) error {
	if l.gone || !l.yield(e) {
		l.gone = true
		return errReaderGone
	}
	return nil
}

// Reasons for the end of a reply: the values of event.ReplyEnded.Reason.
const (
	endStop       = "stop"
	endStopString = "stop string"
	endLength     = "length"
	endContext    = "context"
	endCancelled  = "cancelled"
	endError      = "error"
)

// run writes the reply. It leaves the session consistent after every end of the reply, even if yield
// panics.
func (r *reply) run(ctx context.Context) {
	healthy := false
	defer func() { r.settle(healthy) }()
	reason, err := r.write(ctx)
	switch {
	case err == nil:
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		reason, err = endCancelled, nil
	case errors.Is(err, errReaderGone):
		reason, err = endCancelled, nil
	default:
		reason = endError
	}
	healthy = err == nil
	if err != nil && r.out.emit(event.Failed{Error: r.session.engine.blame(err).Error(), Device: deviceFailed(err), Model: weightsDamaged(err)}) != nil {
		return
	}
	ended := event.ReplyEnded{Reply: r.session.replies, Reason: reason, Totals: r.totals.Totals, Served: r.server.served, IDs: append([]int32{}, r.reply()...)}
	if r.config.Sampling.Temperature > 0 {
		ended.Drafts = config.FormatDrafts(r.drafted.done)
	}
	if r.text != nil {
		if reason != endStopString {
			ended.Tail = r.text.flush()
		}
		ended.Text = r.text.String()
	}
	_ = r.out.emit(ended) // the last event, so it does not matter whether anybody still reads
}

// settle adds the context to the corpus. It cuts the target's cache back to the committed tokens without the
// last one, or further if the cache cannot be cut back to this length. After an error or a panic it only empties
// all caches, because a failed pass may have left wrong values in them. After a reply that was refused before
// anything was computed, settle changes neither corpus nor caches. The cache of a draft model may hold refused
// tokens; the next reply cuts this cache back when it begins (spec.DraftModel.Begin).
func (r *reply) settle(healthy bool) {
	s := r.session
	r.closeWatch()
	s.target.Rest()
	if r.context == nil {
		return // the reply was refused before anything was computed
	}
	if !healthy {
		// The error is ignored: emptying a healthy cache cannot fail, and a device that failed was
		// reported already.
		_ = s.empty()
		return
	}
	s.corpus.Add(r.context)
	keep := compute.Reach(s.cache(), min(s.target.Len(), max(len(r.context)-1, 0)))
	if s.target.Truncate(keep) == nil {
		s.cached = append(s.cached[:0], r.context[:keep]...)
	}
}

// write writes the reply, from the prompt to the last round, and returns why it ended.
func (r *reply) write(ctx context.Context) (reason string, err error) {
	if err := r.begin(ctx); err != nil {
		if err := r.fallBack(ctx, err, r.prompt); err != nil {
			return "", err
		}
	}
	for {
		if err := r.applyChanges(); err != nil {
			return "", err
		}
		if reason := r.full(); reason != "" {
			return reason, nil
		}
		written := len(r.context)
		reason, err := r.round(ctx)
		if err != nil {
			err = r.fallBack(ctx, err, written)
		}
		if err != nil || reason != "" {
			return reason, err
		}
	}
}

// begin puts the changed settings into force, emits the start of the reply and lets the target read the
// prompt.
func (r *reply) begin(ctx context.Context) error {
	s := r.session
	asked, changed := s.control.apply(-1)
	if r.request.Drafts != "" {
		asked.Speculation.Drafts = r.request.Drafts
	}
	tokens, dropped, errFit := r.session.engine.fit(ctx, r.request.Messages, asked, s.target.Cap())
	s.forgive(len(tokens), asked)
	c := r.resolved(asked)
	r.config = c
	seed := c.Sampling.Seed
	switch {
	case s.seed != nil:
		seed = s.seed()
	case seed < 0:
		seed = r.session.engine.options.NewSeed()
	}
	r.uniforms = sample.NewPhilox(uint64(seed), 0)
	errForm := s.takeForm(ctx, c.Constraint)
	errPlan := r.drafted.follow(c.Speculation.Drafts, r.session.engine.shape.Vocab)
	_, errShape := s.reshape(c)
	if err := s.prepareProposers(c); err != nil {
		return err
	}
	r.take(s.proposers[c.Speculation.Proposer])
	r.text = newText(r.session.engine.tokens.NewDecoder(), c.Sampling.Stop)
	r.text.think(r.session.engine.template.Marks(), r.session.engine.spelled(tokens), r.session.engine.control)
	for _, e := range changed {
		if err := r.out.emit(e); err != nil {
			return err
		}
	}
	started := event.ReplyStarted{
		Reply: r.session.replies, PromptTokens: len(tokens), ContextTokens: s.target.Cap(), DroppedTurns: dropped,
		Settings: asked.Shown(seed), Config: r.recipe(asked, seed),
	}
	if n := len(r.request.Messages); n > 0 {
		started.Prompt = r.request.Messages[n-1].Content
	}
	if r.auto {
		started.Settings.AutoProposer = c.Speculation.Proposer
	}
	var errHeads error
	started.ReusedTokens, errHeads = r.reusable(tokens)
	if err := errors.Join(errFit, errPlan, errForm, errShape, errHeads, r.out.emit(started)); err != nil {
		return err
	}
	if err := r.tellLost(); err != nil {
		return err
	}
	if len(tokens) == 0 {
		return errors.New("the prompt has no tokens: write something, or check the chat template")
	}
	r.context, r.prompt = tokens, len(tokens)
	if guided(c) {
		var err error
		if r.negative, err = s.negativePrompt(ctx, r.request.Messages, c); err != nil { // the negative prompt takes room in the context, too
			return err
		}
	}
	r.bound(ctx)
	if err := errors.Join(r.retell(), r.checkRoom()); err != nil {
		return err
	}
	r.learned = s.learned(c)
	r.learned.gamma.BeginReply()
	return r.prefill(ctx, started.ReusedTokens)
}

// applyChanges puts the settings that the user has changed into force, from this round on.
func (r *reply) applyChanges() error {
	c, changed := r.session.control.apply(r.rounds)
	if len(changed) == 0 {
		return nil
	}
	if err := r.adopt(r.resolved(c)); err != nil {
		return err
	}
	for _, e := range changed {
		if err := r.out.emit(e); err != nil {
			return err
		}
	}
	return nil
}

// resolved replaces auto by the proposer that it stands for, and notes in r.auto whether it did.
func (r *reply) resolved(c config.Config) config.Config {
	r.auto = c.Speculation.Proposer == auto
	return r.session.resolve(c)
}

// adopt puts settings into force that were changed during the reply.
func (r *reply) adopt(c config.Config) error {
	s := r.session
	reshaped, err := s.reshape(c)
	if err == nil && reshaped {
		err = r.retell()
	}
	if err != nil {
		return err
	}
	r.turnTo(c)
	r.config = c
	r.learned.gamma.Configure(s.gammaOptions(c))
	return nil
}

// full says why the reply cannot get another token; "" if it can.
func (r *reply) full() string {
	switch {
	case r.complete():
		return endStop
	case r.written() >= r.config.Sampling.MaxTokens:
		return endLength
	case len(r.context) >= r.session.target.Cap(), r.companionLen() >= r.session.target.Cap():
		return endContext
	}
	return ""
}
