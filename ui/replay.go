package ui

import (
	"context"
	"iter"
	"time"

	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/pace"
)

// longestGap is the longest wait between two recorded events. Longer gaps come from typing.
const longestGap = time.Second

// play starts the recording. The paces work as with a live reply.
func (m *Model) play() {
	ctx, cancel := context.WithCancel(m.ctx)
	m.reply = reply{stop: cancel, started: true}
	records := m.options.Replay
	m.guard.Go("the recording", func() {
		defer m.ring.Push(replyOver{})
		m.pacer.Play(ctx, recording(ctx, m.pacer, records), m.ring.Push)
	})
}

// recording yields recorded events. At full speed it waits between them as long as was recorded, up
// to longestGap. At another pace only the pacer delays them.
func recording(ctx context.Context, p *pace.Pacer, records []trace.Record) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		last := 0.0
		for _, r := range records {
			gap := min(time.Duration((r.AtMS-last)*float64(time.Millisecond)), longestGap)
			last = r.AtMS
			if mode, _ := p.Mode(); mode == pace.Full && gap > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(gap):
				}
			}
			if ctx.Err() != nil || !yield(r.Event) {
				return
			}
		}
	}
}
