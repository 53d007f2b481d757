package ui

import (
	"context"
	"fmt"
	"iter"
	"sort"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/keys"
	"specula/ui/pace"
)

// longestGap limits the wait between two recorded events. A longer gap is usually that of a user who types.
const longestGap = time.Second

// playFrom plays the recording from the event with index at on. Earlier events are shown at once. The
// paces work as with a live reply.
func (m *Model) playFrom(at int) tea.Cmd {
	records := m.options.Replay
	var cmds []tea.Cmd
	for _, r := range records[:at] {
		cmds = append(cmds, m.apply(r.Event))
	}
	m.playedTo.Store(int64(at))
	ctx, cancel := context.WithCancel(m.ctx)
	m.reply = reply{stop: cancel, started: true}
	m.guard.Go("the recording", func() {
		defer m.ring.Push(replyOver{})
		m.pacer.Play(ctx, recording(ctx, m.pacer, records, &m.playedTo), m.ring.Push)
	})
	return tea.Batch(cmds...)
}

// startOfReplay returns the index of the event from which a recording is played. It is the number of
// events if the recording has no round of this number.
func (m *Model) startOfReplay() int {
	o := &m.options
	if o.ReplayRound > 0 {
		for i, r := range o.Replay {
			if e, ok := r.Event.(event.Round); ok && e.Index+1 == o.ReplayRound {
				return i + 1
			}
		}
		return len(o.Replay)
	}
	if o.ReplayAt <= 0 {
		return 0
	}
	return eventAt(o.Replay, float64(o.ReplayAt)/float64(time.Millisecond))
}

// recording yields the recorded events from the index in played on, and adds 1 to played before each. At
// full speed it waits between events as long as was recorded, up to longestGap. At another pace only the
// pacer delays events. If earlier events are on the screen already, recording first waits once, as long as
// the pacer holds a draft.
func recording(ctx context.Context, p *pace.Pacer, records []trace.Record, played *atomic.Int64) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		last := 0.0
		from := played.Load()
		if from > 0 {
			last = records[from-1].AtMS
			if int(from) < len(records) && p.Wait(ctx) != nil {
				return
			}
		}
		for _, r := range records[from:] {
			gap := min(time.Duration((r.AtMS-last)*float64(time.Millisecond)), longestGap)
			last = r.AtMS
			if mode, _ := p.Mode(); mode == pace.Full && gap > 0 {
				select {
				case <-ctx.Done():
				case <-time.After(gap):
				}
			}
			if ctx.Err() != nil {
				return
			}
			played.Add(1)
			if !yield(r.Event) {
				return
			}
		}
	}
}

// seek goes to another event of a recording, and plays on from there.
func (m *Model) seek(a keys.Action) tea.Cmd {
	records, now := m.options.Replay, int(m.playedTo.Load())
	if len(records) == 0 {
		return nil
	}
	length := records[len(records)-1].AtMS
	jump := func(by float64) int { return eventAt(records, records[max(now-1, 0)].AtMS+by*length) }
	to := 0
	switch a {
	case keys.RoundBack:
		to = roundBefore(records, roundBefore(records, now)-1)
	case keys.RoundForth:
		to = roundAfter(records, now)
	case keys.TenthBack:
		to = jump(-0.1)
	case keys.TenthForth:
		to = max(jump(0.1), min(now+1, len(records)))
	case keys.RecordingEnd:
		to = len(records)
	}
	return m.afterReply(func() tea.Cmd {
		m.present()
		m.state.ClearChat()
		m.state.Lengths, m.state.Warmths = nil, nil // they come again with the events
		return m.playFrom(to)
	})
}

// roundBefore returns the number of events up to the end of the last round among the first n; 0 if there
// is none.
func roundBefore(records []trace.Record, n int) int {
	for ; n > 0; n-- {
		if _, ok := records[n-1].Event.(event.Round); ok {
			return n
		}
	}
	return 0
}

// roundAfter returns the number of events up to the end of the first round after the first n, or the number
// of all events if there is none.
func roundAfter(records []trace.Record, n int) int {
	for ; n < len(records); n++ {
		if _, ok := records[n].Event.(event.Round); ok {
			return n + 1
		}
	}
	return n
}

// eventAt returns the number of events in the first ms milliseconds of a recording.
func eventAt(records []trace.Record, ms float64) int {
	return sort.Search(len(records), func(i int) bool { return records[i].AtMS > ms })
}

// place returns how much of a recording has played and its length, for the status line; "" without a
// recording or before its first event.
func (m *Model) place() string {
	records, now := m.options.Replay, int(m.playedTo.Load())
	if len(records) == 0 || now == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f of %.2f s", records[now-1].AtMS/1000, records[len(records)-1].AtMS/1000)
}
