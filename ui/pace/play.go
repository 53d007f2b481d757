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
			show(e)
			parts := 1
			if len(e.Draft) > 0 {
				parts = verdictParts
			}
			_ = p.wait(ctx, parts)
		default:
			show(e)
		}
	}
}
