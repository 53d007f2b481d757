package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/spec"
)

// fallback is the engine that replaces one whose device has failed. All sessions of the failed engine
// share it.
type fallback struct {
	once   sync.Once
	engine *Engine
	err    error
}

// deviceFailed reports whether an error comes from a device. Then another device may work.
func deviceFailed(err error) bool {
	return errors.Is(err, compute.ErrDevice) || errors.Is(err, compute.ErrDeviceLost)
}

// successor returns the engine that takes the place of e. At the first call it loads all models again, on the
// device that Options.Fallback opens.
func (e *Engine) successor(ctx context.Context) (*Engine, error) {
	e.next.once.Do(func() {
		o := e.options
		o.Backend, o.DraftBackend, o.Fallback, o.DeviceWhy = e.options.Fallback(), nil, nil, "the device before it failed"
		e.next.engine, e.next.err = Load(context.WithoutCancel(ctx), o, func(event.Event) {})
	})
	return e.next.engine, e.next.err
}

// fallBack loads the models on another device, so that the reply continues there after its last committed
// token. It returns nil if the reply can go on. It returns cause if cause does not come from a device, if
// there is no other device, if the reply has no context yet, or if the failed round has committed tokens
// already. written is the length of the context before the failed round.
func (r *reply) fallBack(ctx context.Context, cause error, written int) error {
	s := r.session
	if !deviceFailed(cause) || s.engine.options.Fallback == nil || r.context == nil || len(r.context) != written {
		return cause
	}
	err := r.out.emit(event.Notice{Level: "warning", Text: fmt.Sprintf("%v: loading the models again, on the processor", cause)})
	if err != nil {
		return err
	}
	next, err := s.engine.successor(ctx)
	if err == nil {
		err = s.moveTo(next)
	}
	if err != nil {
		return errors.Join(cause, fmt.Errorf("going on without the device: %w", err))
	}
	r.leave()
	if r.auto {
		r.config.Speculation.Proposer = next.auto(nil).Proposer
	}
	r.learned = s.learned(r.config)
	r.learned.gamma.BeginReply()
	if err := r.prefill(ctx, 0); err != nil {
		return err
	}
	return r.out.emit(event.Notice{Level: "warning", Text: "the reply goes on on " + next.ready.Device})
}

// moveTo makes the session use the models of another engine. It closes what the session holds on the
// failed device, as far as the device still allows.
func (s *Session) moveTo(e *Engine) error {
	target, err := e.newTarget()
	if err != nil {
		return fmt.Errorf("allocating the target's cache: %w", err)
	}
	_ = s.Close() // the failure of the device has been reported already
	s.engine, s.target, s.cached, s.companion = e, target, nil, nil
	s.proposers, s.made, s.failed = map[string]spec.Proposer{}, map[string]string{}, map[string]string{}
	clear(s.setbacks)
	s.lessons, s.costs = map[kind]*lessons{}, map[bool][]gamma.Observation{} // measured on the failed device
	return nil
}
