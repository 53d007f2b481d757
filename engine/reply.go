package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/sample"
	"specula/engine/spec"
)

// reply is the state of one reply while it is written.
type reply struct {
	session *Session
	engine  *Engine
	request Request
	yield   func(event.Event) bool
	gone    bool // the reader stopped reading: nothing may be yielded any more
	number  int
	ends    func(id int32) bool // whether a token ends a reply

	config     config.Config
	uniforms   sample.Uniforms
	kind       kind // of the rounds that learned is about
	learned    *lessons
	text       *text
	context    []int32       // prompt and everything committed
	prompt     int           // tokens of context that are the prompt
	negative   []int32       // the companion's prompt; nil until guidance is asked for
	begun      string        // the proposer that follows this context; others are told of it when they are chosen
	proposer   spec.Proposer // that one, if any follows
	told       int           // tokens of context that it was told of
	patient    bool          // it may be told later
	free       bool          // it only looks up
	large      bool          // it reads much for a token
	draftLen   int           // tokens in its cache when it was told last
	rounds     int
	ahead      ahead    // the target's pass of this round, if it was queued with the draft
	inspecting bool     // in this round
	bestFixed  *int     // by hindsight, and what it would have saved
	regret     *float64 // as of the last look back
	looking    bool     // whether the draft should be sharper, in this round
	want       wanted   // of the proposer, in this round
	auto       bool     // the proposer is the one that the setting auto stands for
	failures   int      // drafts in a row that it failed to make
	totals     totals
	drafted    drafted
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

// errReaderGone ends a reply whose reader stopped reading.
var errReaderGone = errors.New("nobody reads the reply any more")

// emit gives an event to the reader.
func (r *reply) emit(e event.Event) error {
	if r.gone {
		return errReaderGone
	}
	if !r.yield(e) {
		r.gone = true
		return errReaderGone
	}
	return nil
}

// run writes the reply. It leaves the session consistent in any case, also when the reader panics.
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
	if err != nil && r.emit(event.Failed{Error: r.engine.blame(err).Error(), Device: deviceFailed(err), Model: weightsDamaged(err)}) != nil {
		return
	}
	ended := event.ReplyEnded{Reply: r.number, Reason: reason, Totals: r.totals.Totals, IDs: append([]int32{}, r.context[r.prompt:]...)}
	if r.config.Sampling.Temperature > 0 {
		ended.Drafts = config.FormatDrafts(r.drafted.done)
	}
	if r.text != nil {
		if reason != endStopString {
			ended.Tail = r.text.flush()
		}
		ended.Text = r.text.String()
	}
	_ = r.emit(ended) // the last event: whether anyone reads on does not matter
}

// settle cuts the caches back to the committed tokens. After an error it empties them: what a failed pass wrote must never
// be used again.
func (r *reply) settle(healthy bool) {
	s := r.session
	if r.context == nil {
		return // refused before anything was computed
	}
	if !healthy {
		// Truncating to nothing cannot fail for a live cache, and a dead one has been reported already.
		_ = s.empty()
		return
	}
	s.corpus.Add(r.context)
	if keep := min(s.cache.Len(), max(len(r.context)-1, 0)); s.cache.Truncate(keep) == nil {
		s.cached = append(s.cached[:0], r.context[:keep]...)
	}
}

// write writes the reply, from reading the prompt to the last round.
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

// begin fixes the settings, lets the models read the prompt and emits the start of the reply.
func (r *reply) begin(ctx context.Context) error {
	s := r.session
	asked, changed := s.control.apply(-1)
	if r.request.Drafts != "" {
		asked.Speculation.Drafts = r.request.Drafts
	}
	tokens, dropped, errFit := r.engine.fit(ctx, r.request.Messages, asked, s.cache.Cap())
	s.forgive(len(tokens), asked)
	c := r.resolved(asked)
	r.config = c
	seed := c.Sampling.Seed
	switch {
	case s.seed != nil:
		seed = s.seed()
	case seed < 0:
		seed = r.engine.options.NewSeed()
	}
	r.uniforms = sample.NewPhilox(uint64(seed), 0)
	errForm := s.takeForm(ctx, c.Constraint)
	errPlan := r.drafted.follow(c.Speculation.Drafts, r.engine.target.Config().Vocab)
	_, errShape := s.reshape(c)
	if err := s.prepareProposers(c); err != nil {
		return err
	}
	r.getToKnow(s.proposers[c.Speculation.Proposer])
	r.text = newText(r.engine.tokens.NewDecoder(), c.Sampling.Stop)
	for _, e := range changed {
		if err := r.emit(e); err != nil {
			return err
		}
	}
	started := event.ReplyStarted{
		Reply: r.number, PromptTokens: len(tokens), ContextTokens: s.cache.Cap(), DroppedTurns: dropped,
		Settings: asked.Shown(seed), Config: r.recipe(asked, seed),
	}
	if n := len(r.request.Messages); n > 0 {
		started.Prompt = r.request.Messages[n-1].Content
	}
	if r.auto {
		started.Settings.AutoProposer = c.Speculation.Proposer
	}
	var errHeads error
	started.ReusedTokens, errHeads = r.reusable(ctx, tokens)
	if err := errors.Join(errFit, errPlan, errForm, errShape, errHeads, r.emit(started)); err != nil {
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
		if r.negative, err = r.negativePrompt(ctx); err != nil { // which takes room, too
			return err
		}
	}
	r.bound(ctx)
	if err := errors.Join(r.retell(), r.checkRoom()); err != nil {
		return err
	}
	r.kind, r.learned = s.kindOf(c), s.learned(c)
	if slices.ContainsFunc(changed, matters) {
		r.learned.gamma.Configure(s.gammaOptions(c)) // what was decided under other settings holds no longer
	}
	r.learned.gamma.BeginReply()
	return r.prefill(ctx, started.ReusedTokens)
}

// matters reports whether a changed setting can change how long drafts should be. The seed cannot, the
// switch that turns speculation on and off cannot, and neither can a plan of drafts to repeat.
func matters(e event.SettingChanged) bool {
	return e.Name != "sampling.seed" && e.Name != "speculation.enabled" && e.Name != "speculation.drafts"
}

// prefill lets the target read the prompt up to its last token. The first reused tokens are in the cache already.
func (r *reply) prefill(ctx context.Context, reused int) error {
	s := r.session
	if err := s.cache.Truncate(reused); err != nil {
		return fmt.Errorf("keeping %d tokens of the target's cache: %w", reused, err)
	}
	s.cached = s.cached[:min(reused, len(s.cached))]
	if reused == len(r.context)-1 {
		return nil
	}
	err := r.timed("target", &r.totals.PrefillMS, func(progress func(done, total int)) error { return r.read(ctx, reused, progress) })
	if err != nil {
		return fmt.Errorf("reading the prompt: %w", err)
	}
	return nil
}

// timed runs a prefill of a model, emits its progress and adds its milliseconds to sum.
func (r *reply) timed(model string, sum *float64, read func(progress func(done, total int)) error) error {
	var ms float64
	var gone error
	watch := r.engine.stopwatch()
	err := read(func(done, total int) {
		watch.lap(&ms)
		if gone == nil {
			gone = r.emit(event.Prefill{Model: model, Done: done, Total: total, MS: ms})
		}
		watch.skip()
	})
	watch.lap(&ms)
	*sum += ms
	return errors.Join(err, gone)
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
		if err := r.emit(e); err != nil {
			return err
		}
	}
	return nil
}

// resolved replaces the proposer auto by the one that it stands for, and notes that it did.
func (r *reply) resolved(c config.Config) config.Config {
	r.auto = c.Speculation.Proposer == auto
	return r.session.resolve(c)
}

// adopt puts other settings into force.
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
	r.learned.follow(c.Speculation.Proposer)
	r.config = c
	r.learned.gamma.Configure(s.gammaOptions(c))
	return nil
}

// full says why no further token fits, or "".
func (r *reply) full() string {
	switch {
	case r.complete():
		return endStop
	case len(r.context)-r.prompt >= r.config.Sampling.MaxTokens:
		return endLength
	case len(r.context) >= r.session.cache.Cap(), r.companionLen() >= r.session.cache.Cap():
		return endContext
	}
	return ""
}

// commonPrefix returns the number of tokens at the start that a and b share.
func commonPrefix(a, b []int32) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
