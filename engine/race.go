package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/spec"
	"specula/tokenizer/chat"
)

// Race answers one conversation in two lanes. Each lane is a session with settings of its own; both share one
// engine.
//
// The lanes take turns, one round each: the lane that has used less of the engine's time goes next. So at any
// moment both have had the same time, up to one round, and the lane with more text is the faster one. The time
// in which the target reads the prompt does not count. Two lanes never compute at the same time. If after is
// true, the second lane starts when the first has ended.
type Race struct {
	lanes    [2]*Session
	settings [2]config.Config
	after    bool
	ended    [2]*event.ReplyEnded
}

// NewRace opens a race between two lists of settings, each of which is applied to base. If after is
// true, the lanes run one after the other. Both lanes get the same seed, unless one asks for its own.
func (e *Engine) NewRace(ctx context.Context, base config.Config, lanes [2][]config.Value, after bool) (*Race, error) {
	r := &Race{after: after}
	if base.Sampling.Seed < 0 {
		seed := strconv.FormatInt(e.options.NewSeed(), 10)
		if err := base.Set("sampling.seed", seed); err != nil {
			return nil, err
		}
		if base.Speculation.Costs == "auto" { // as in a reply: the user did not choose this seed, so γ keeps measured costs
			base.Speculation.Costs = "measured"
		}
	}
	for i, values := range lanes {
		c := base.Clone()
		if err := c.SetAll(values...); err != nil {
			return nil, errors.Join(fmt.Errorf("the settings of lane %c: %w", 'a'+i, err), r.Close())
		}
		if err := errors.Join(sameStart(base, c), e.check(base, c)); err != nil {
			return nil, errors.Join(fmt.Errorf("the settings of lane %c: %w", 'a'+i, err), r.Close())
		}
		s, err := e.NewSession(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening lane %c: %w", 'a'+i, err), r.Close())
		}
		s.control = newControl(c)
		r.lanes[i], r.settings[i] = s, c
	}
	return r, nil
}

// sameStart refuses settings that take effect at the next start only, because both lanes share one engine.
func sameStart(base, lane config.Config) error {
	for _, s := range config.Settings() {
		if s.Applies != config.NextStart {
			continue
		}
		before, errBefore := base.Get(s.Name)
		after, errAfter := lane.Get(s.Name)
		if err := errors.Join(errBefore, errAfter); err != nil {
			return err
		}
		if before != after {
			return fmt.Errorf("%s holds for both lanes, which share the models: give it as a flag, --%s", s.Name, s.Flag)
		}
	}
	return nil
}

// Run writes both replies. It yields the number of a lane, 0 or 1, with each event of that lane's session.
func (r *Race) Run(ctx context.Context, messages []chat.Message) iter.Seq2[int, event.Event] {
	return func(yield func(int, event.Event) bool) {
		r.ended = [2]*event.ReplyEnded{}
		var lanes [2]*lane
		for i := range lanes {
			l := &lane{}
			var stop func()
			l.next, stop = iter.Pull(r.lanes[i].Generate(ctx, Request{Messages: messages}))
			defer stop()
			lanes[i] = l
		}
		for {
			i := r.turn(lanes)
			if lanes[i].over {
				return
			}
			if !r.step(i, lanes[i], yield) {
				return
			}
		}
	}
}

// lane is one reply that is being written.
type lane struct {
	next func() (event.Event, bool)
	ms   float64 // milliseconds of the lane's rounds; without those in which the target read the prompt
	over bool
}

// turn returns the lane that goes next. If one lane is over, the other lane goes next.
func (r *Race) turn(lanes [2]*lane) int {
	switch {
	case lanes[0].over:
		return 1
	case lanes[1].over, r.after, lanes[0].ms <= lanes[1].ms:
		return 0
	}
	return 1
}

// step runs a lane until its next round or its reply ends. It returns false if yield did.
func (r *Race) step(i int, l *lane, yield func(int, event.Event) bool) bool {
	for {
		e, ok := l.next()
		if !ok {
			l.over = true
			return true
		}
		if !yield(i, e) {
			return false
		}
		switch e := e.(type) {
		case event.ReplyEnded:
			r.ended[i] = &e
			l.over = true
			return true
		case event.Round:
			l.ms += e.MS()
			return true
		case event.Prefill:
			// Not the end of a round. The time in which the target reads the prompt does not count, because
			// a race compares decoding. What a draft model reads is part of its next round (ReadMS).
		}
	}
}

// Outcome compares the two texts, if the settings require that they are equal. Call it after Run.
func (r *Race) Outcome() event.RaceOutcome {
	o := event.RaceOutcome{Position: -1}
	var must bool
	if must, o.Why = mustEqual(r.settings[0], r.settings[1]); !must {
		return o
	}
	a, b := r.ended[0], r.ended[1]
	if a == nil || b == nil || slices.ContainsFunc([]string{a.Reason, b.Reason}, func(s string) bool { return s == endCancelled || s == endError }) {
		o.Why = "a lane did not come to its end"
		return o
	}
	o.Compared, o.Same = true, slices.Equal(a.IDs, b.IDs)
	if !o.Same {
		o.Position = commonPrefix(a.IDs, b.IDs)
	}
	return o
}

// mustEqual says whether two lanes with the settings a and b must write the same text, and why.
func mustEqual(a, b config.Config) (bool, string) {
	drawn := spec.Rule(a.Speculation.Acceptance).Drawn() && spec.Rule(b.Speculation.Acceptance).Drawn()
	x, y := a.Clone(), b.Clone()
	x.Speculation, y.Speculation = config.Speculation{}, config.Speculation{}
	x.UI, y.UI = config.UI{}, config.UI{}
	if a.Sampling.Temperature == 0 && b.Sampling.Temperature == 0 {
		x.Sampling.Seed, y.Sampling.Seed = 0, 0
	}
	switch {
	case !reflect.DeepEqual(x, y):
		return false, "the lanes ask for different texts: their settings differ in more than speculation"
	case a.Sampling.Temperature == 0:
		return true, "at temperature 0 there is one text"
	case drawn:
		return true, "acceptance exact and one seed: the target's own draws decide"
	}
	return false, "drawn texts need not be equal; they are at temperature 0 and with acceptance exact"
}

// Close frees the lanes.
func (r *Race) Close() error {
	var err error
	for _, s := range r.lanes {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// NewRace opens a race that begins with the settings of this session; see Engine.NewRace.
func (s *Session) NewRace(ctx context.Context, lanes [2][]config.Value, after bool) (*Race, error) {
	return s.engine.NewRace(ctx, s.Settings(), lanes, after)
}
