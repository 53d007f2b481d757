package stream

import (
	"context"
	"sync/atomic"
	"time"
)

// FrameInterval limits drawing to thirty frames per second: smooth to the eye, and cheap compared
// with the engine.
const FrameInterval = time.Second / 30

// longestInterval limits the time between two frames, however long it takes to make one.
const longestInterval = time.Second / 8

// drawingShare limits the part of the time in which frames are made: after a frame that took d to make,
// the next is due d/drawingShare later, or longestInterval later if that is less. Bubble Tea takes once
// or twice as long again to find out what has changed. Without the limit, the screen would cost an
// engine that uses both of two cores more than 5 % (BenchmarkRealEngine, AMD EPYC Zen 5). Keys do not wait
// for this: their frames are drawn at once.
const drawingShare = 1.0 / 128

// Pump says when the next frame is due. It takes nothing out of the ring, so no event is lost if a
// frame is never drawn. One goroutine uses it at a time.
type Pump struct {
	ring     *Ring
	interval time.Duration
	last     time.Time
	took     atomic.Int64 // duration of the last frame, in nanoseconds
}

// NewPump returns a pump whose frames are at least interval apart.
func NewPump(ring *Ring, interval time.Duration) *Pump {
	return &Pump{ring: ring, interval: interval}
}

// Took tells the pump how long it took to make a frame. Any goroutine may call it.
func (p *Pump) Took(d time.Duration) { p.took.Store(int64(d)) }

// Wait blocks until there are events and the last frame is long enough ago, and returns true. It returns
// false when the ring was closed or ctx has ended.
func (p *Pump) Wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case _, open := <-p.ring.ready:
		if !open {
			return false
		}
	}
	interval := max(p.interval, min(time.Duration(float64(p.took.Load())/drawingShare), longestInterval))
	timer := time.NewTimer(interval - time.Since(p.last))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	p.last = time.Now()
	return true
}
