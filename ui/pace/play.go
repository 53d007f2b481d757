package pace

import (
	"context"
	"iter"

	"specula/engine/event"
)

// Play pulls events, shows them, and holds each phase of a round for as long as the pace asks. It
// returns when the events end. When ctx ends, it stops holding and passes the other events on at
// once, because the source ends by itself and its last event must be shown.
func (p *Pacer) Play(ctx context.Context, events iter.Seq[event.Event], show func(event.Event)) {
	for e := range events {
		switch e := e.(type) {
		case event.Drafted:
			show(e)
			_ = p.Wait(ctx)
		case event.Round:
			if mode, _ := p.Mode(); mode != Full && len(e.Draft) > 0 && ctx.Err() == nil {
				show(judged(e))
				_ = p.Wait(ctx)
			}
			show(e)
			_ = p.Wait(ctx)
		default:
			show(e)
		}
	}
}

// judged is the draft of a round with its verdicts, for showing before the round is part of the
// reply.
func judged(r event.Round) event.Drafted {
	return event.Drafted{Round: r.Index, Gamma: r.Gamma, Probe: r.Probe, Proposer: r.Proposer, Tokens: r.Draft, DraftMS: r.DraftMS}
}
