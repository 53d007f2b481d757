package stream

import (
	"context"
	"time"
)

// FrameInterval bounds redrawing to thirty frames a second: smooth to the eye, cheap beside the engine.
const FrameInterval = time.Second / 30

// Pump says when the next frame is due. It takes nothing out of the ring, so whatever comes of a frame that nobody draws
// any more, no event is lost with it. It is used by one goroutine at a time.
type Pump struct {
	ring     *Ring
	interval time.Duration
	last     time.Time
}

// NewPump returns a pump whose frames are at least interval apart.
func NewPump(ring *Ring, interval time.Duration) *Pump {
	return &Pump{ring: ring, interval: interval}
}

// Wait returns when something has happened and the last frame is long enough ago. It reports false when the ring was
// closed or ctx has ended.
func (p *Pump) Wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case _, open := <-p.ring.ready:
		if !open {
			return false
		}
	}
	timer := time.NewTimer(p.interval - time.Since(p.last))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	p.last = time.Now()
	return true
}
