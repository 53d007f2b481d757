package pace

import (
	"context"
	"iter"
	"time"

	"specula/engine/event"
)

// Play pulls events, shows them, and holds each phase of a round for as long as the pace asks. It
// returns when the events end. When ctx ends, it holds nothing any more and shows each further event at
// once, because the source ends by itself and its last event must be shown.
func (p *Pacer) Play(ctx context.Context, events iter.Seq[event.Event], show func(event.Event)) {
	for e := range events {
		show(e)
		if n := parts(e); n > 0 {
			_ = p.wait(ctx, n)
		}
	}
}

// parts returns how long an event stays on the screen. The unit is one of the roundParts parts of the time
// that a round with a draft takes. A draft stays for one part, a plain token for one, a verdict for
// verdictParts. Any other event is not held.
func parts(e event.Event) int {
	switch e := e.(type) {
	case event.Drafted:
		return 1
	case event.Round:
		if len(e.Draft) > 0 {
			return verdictParts
		}
		return 1
	case interface{ Parts() int }: // an event of the screen, such as a round of a race
		return e.Parts()
	}
	return 0
}

// Hold returns how long the slow pace keeps an event on the screen. It is for films, which do not wait in
// real time.
func Hold(e event.Event, roundsPerSecond float64) time.Duration {
	return held(clamp(roundsPerSecond), parts(e))
}

func held(roundsPerSecond float64, parts int) time.Duration {
	return time.Duration(float64(time.Second) / roundsPerSecond * float64(parts) / roundParts)
}
