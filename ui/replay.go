package ui

import (
	"context"
	"iter"
	"time"

	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/pace"
)

// longestGap bounds the silence between two recorded events: nobody wants to wait again for what was typed then.
const longestGap = time.Second

// play starts the recording. Pausing, slowing and stepping work as on a live reply.
func (m *Model) play() {
	ctx, cancel := context.WithCancel(m.ctx)
	m.reply = reply{stop: cancel, started: true}
	records := m.options.Replay
	m.guard.Go("the recording", func() {
		defer m.ring.Push(replyOver{})
		m.pacer.Play(ctx, recording(ctx, m.pacer, records), m.ring.Push)
	})
}

// recording yields recorded events. At full speed they come as far apart as they were recorded; at any other pace the
// pacer alone holds them.
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
