package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/round"
	"specula/engine/spec"
	"specula/tokenizer/chat"
)

// Session is one conversation on an Engine. Generate must not run twice at the same time. Change and
// Settings are safe to call from any goroutine at any time.
type Session struct {
	engine    *Engine
	loaded    *Engine // the engine that the session began with; fallbacks have the same vocabulary
	control   *control
	target    round.Cached  // the target with its cache
	cached    []int32       // between replies: the tokens whose keys and values the target's cache holds
	companion *round.Guided // target and companion under guidance; nil until guidance is first on
	driver    round.Driver
	isStop    func(id int32) bool          // whether a token ends a reply
	proposers map[string]spec.Proposer     // key: the name; each proposer is made at its first use
	made      map[string]string            // key: the name of a proposer; value: the settings that it was built from, as text
	failed    map[string]string            // key: the name of a proposer; value: why it could not be made
	setbacks  map[string]setback           // key: the name of a proposer; value: why auto has given it up
	corpus    *spec.Corpus                 // prompts and replies so far, for lookups
	costs     map[bool][]gamma.Observation // measured before the first reply; key true: at temperature 0
	rehearser string                       // the proposer whose drafts were measured for costs
	practice  struct {                     // what textTokens returns next
		text []int32 // tokens of calibrationText; nil: not encoded yet
		at   int     // index of the next token
	}
	lessons   map[kind]*lessons
	form      form
	shaping   shaping
	replies   int
	toldLost  bool            // the user was told that some bytes of the chat have no token
	advised   bool            // the user was told the target's advice (round.Pass.Advice)
	age       round.Stopwatch // time since the session began
	inspectMS float64         // milliseconds of age that inspection took

	// seed returns the seed of each reply while a proof runs; nil: the settings give it.
	seed func() int64
}

// NewSession allocates the target's cache and measures what rounds cost (see calibrate). Other caches are
// allocated when they are first needed.
func (e *Engine) NewSession(ctx context.Context) (*Session, error) {
	target, err := e.newTarget()
	if err != nil {
		return nil, fmt.Errorf("allocating the target's cache: %w", err)
	}
	s := &Session{engine: e, loaded: e, control: newControl(e.options.Config), target: target, proposers: map[string]spec.Proposer{},
		made: map[string]string{}, failed: map[string]string{}, setbacks: map[string]setback{}, corpus: spec.NewCorpus(),
		lessons: map[kind]*lessons{}, costs: map[bool][]gamma.Observation{}, age: round.NewStopwatch(e.options.Now)}
	s.driver = round.Driver{Target: target, Verifier: spec.NewVerifier(), Watch: s.age}
	s.isStop = func(id int32) bool { return s.engine.stops[id] }
	if err := s.takeForm(ctx, e.options.Config.Constraint); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if _, err := s.reshape(e.options.Config); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.calibrate(ctx); err != nil {
		if weightsDamaged(err) {
			err = fmt.Errorf("%w: %w", ErrModel, e.blame(err))
		}
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Request asks for one reply.
type Request struct {
	Messages []chat.Message // the conversation; the last message is the user's
	Inspect  bool           // collect each token's best candidates of both models
	// Sparing, with Inspect, skips inspection while it has taken more than inspectShare of the
	// session's time. A small model at full speed writes faster than candidates can be sorted. At a
	// pace that eyes can follow, every round is inspected.
	Sparing bool
	Drafts  string // the drafts of an earlier reply (event.ReplyEnded), to write it again; empty: the settings decide
}

// Generate writes one reply. The last event is event.ReplyEnded, unless the loop over the events stops
// earlier. The session stays usable for the next reply, even if the loop stops, if the context is cancelled
// or if an error occurs.
func (s *Session) Generate(ctx context.Context, req Request) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		s.replies++
		r := &reply{session: s, request: req, out: listener{yield: yield}}
		r.run(ctx)
	}
}

// Change sets a setting by any of its names, and the settings that follow from it (config.Imply). The
// change takes effect at the next round, or at the next reply if the setting cannot change in mid-reply.
// Change refuses a setting that only takes effect when the program starts, and a value that is not allowed,
// such as a layer that does not exist. Then it changes nothing and returns an error.
func (s *Session) Change(name, value string) error {
	values, _, err := config.Imply([]config.Value{{Name: name, Text: value}})
	if err != nil {
		return err
	}
	return s.control.ask(values, s.loaded.check)
}

// Settings returns the settings with all changes that were asked for, even if they are not in force
// yet.
func (s *Session) Settings() config.Config { return s.control.settings() }

// Ready returns what Load has emitted about models and devices.
func (s *Session) Ready() event.Ready { return s.loaded.ready }

// cache returns the target's cache; nil if the target is on a server.
func (s *Session) cache() compute.Cache {
	if local, ok := s.target.(*round.Local); ok {
		return local.Cache
	}
	return nil
}

// Reset empties caches and proposers, and forgets the finished replies in which proposers look up
// text. It keeps what was learned about costs and acceptance.
func (s *Session) Reset() error {
	s.corpus.Clear()
	return s.empty()
}

// empty empties the caches and the proposers.
func (s *Session) empty() error {
	err := s.target.Truncate(0)
	s.cached = s.cached[:0]
	if s.companion != nil {
		err = errors.Join(err, s.companion.Forget())
	}
	for _, p := range s.proposers {
		err = errors.Join(err, p.Reset())
	}
	return err
}

// Close frees the caches.
func (s *Session) Close() error {
	err := s.target.Close()
	if s.companion != nil {
		err = errors.Join(err, s.companion.Close())
	}
	for _, p := range s.proposers {
		err = errors.Join(err, p.Close())
	}
	return err
}
