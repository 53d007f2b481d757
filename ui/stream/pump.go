package stream

import (
	"context"
	"time"

	"specula/engine/event"
)

// Frame is what happened since the last frame.
type Frame struct {
	Events     []event.Event
	LostRounds int // rounds that were too many to keep
}

// FrameInterval bounds redrawing to thirty frames a second: smooth to the eye, cheap beside the engine.
const FrameInterval = time.Second / 30

// Pump turns the ring into frames. It is used by one goroutine at a time.
type Pump struct {
	ring     *Ring
	interval time.Duration
	last     time.Time
}

// NewPump returns a pump whose frames are at least interval apart.
func NewPump(ring *Ring, interval time.Duration) *Pump {
	return &Pump{ring: ring, interval: interval}
}

// Next waits until something has happened and the last frame is long enough ago, and returns all of it. It reports
// false when the ring is closed and empty, or ctx has ended.
func (p *Pump) Next(ctx context.Context) (Frame, bool) {
	for {
		select {
		case <-ctx.Done():
			return Frame{}, false
		case _, open := <-p.ring.ready:
			if wait := p.interval - time.Since(p.last); open && wait > 0 {
				timer := time.NewTimer(wait)
				select {
				case <-ctx.Done():
				case <-timer.C:
				}
				timer.Stop()
			}
			events, lost := p.ring.Take()
			p.last = time.Now()
			if len(events) > 0 || lost > 0 {
				return Frame{Events: events, LostRounds: lost}, true
			}
			if !open {
				return Frame{}, false
			}
		}
	}
}
