package stream

import (
	"context"
	"time"
)

// FrameInterval limits drawing to thirty frames per second: smooth to the eye, and cheap compared
// with the engine.
const FrameInterval = time.Second / 30

// Pump says when the next frame is due. It takes nothing out of the ring, so no event is lost if a
// frame is never drawn. One goroutine uses it at a time.
type Pump struct {
	ring     *Ring
	interval time.Duration
	last     time.Time
}

// NewPump returns a pump whose frames are at least interval apart.
func NewPump(ring *Ring, interval time.Duration) *Pump {
	return &Pump{ring: ring, interval: interval}
}

// Wait returns true when there are events and the last frame is long enough ago. It returns false
// when the ring was closed or ctx has ended.
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
