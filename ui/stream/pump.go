package stream

import (
	"context"
	"sync/atomic"
	"time"
)

// FrameInterval limits drawing to thirty frames per second: smooth to the eye, and cheap compared
// with the engine.
const FrameInterval = time.Second / 30

// longestInterval is between two frames at most, however long it takes to make one.
const longestInterval = time.Second / 8

// drawingShare bounds the part of the time in which frames are made: after one that took d, the next is
// due d/drawingShare later at the earliest. Bubble Tea then takes as long again, or twice as long, to find
// out what has changed. On two cores, both of which the engine uses, the screen would otherwise cost it more
// than 5 % (BenchmarkRealEngine). Keys do not wait for this: their frames are drawn at once.
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

// Took tells how long it took to make a frame. Any goroutine may call it.
func (p *Pump) Took(d time.Duration) { p.took.Store(int64(d)) }

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
