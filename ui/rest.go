package ui

import (
	"bytes"
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/ui/stream"
)

// rest stops the ticker of Bubble Tea's renderer while nothing changes, so that a still screen uses no
// processor. The renderer otherwise wakes thirty times a second to look for a new view, and has no
// option against it.
//
// The ticker must not stop before the newest view is on the terminal. So after each message rest sends a
// mark (restMark), which Bubble Tea queues as if it were text for the terminal. At a tick the renderer
// writes the queued text, then the view. Once output.Write finds the mark, the view that follows is the
// newest, unless another message came after the mark. The next message starts the ticker again.
type rest struct {
	tea.Model
	program *tea.Program

	mu      sync.Mutex
	sent    bool // a mark is on its way to Bubble Tea
	newest  bool // no message came after the last mark
	stopped bool // the ticker is stopped
}

// restMark is a mark in the text for the terminal. output.Write removes it. (A terminal would ignore it,
// too.)
type restMark struct{}

func (restMark) String() string { return "\x1b_specula rests\x1b\\" }

func isRestMark(msg tea.Msg) bool {
	raw, ok := msg.(tea.RawMsg)
	if !ok {
		return false
	}
	_, ok = raw.Msg.(restMark)
	return ok
}

// filter is called with each message before Bubble Tea acts on it. If the message is a mark, Bubble Tea
// queues the mark next, and no other message has come after it.
func (r *rest) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if isRestMark(msg) {
		r.mu.Lock()
		r.sent, r.newest = false, true
		r.mu.Unlock()
	}
	return msg
}

// Update starts the ticker for the view that follows msg, sends a mark that comes after msg, and gives msg
// to the Model. If msg is itself a mark, Update does nothing.
func (r *rest) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if isRestMark(msg) {
		return r, nil
	}
	r.wake()
	_, cmd := r.Model.Update(msg)
	return r, cmd
}

func (r *rest) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = false
	if t := rendererTicker(r.program); t != nil && r.stopped {
		r.stopped = false
		t.Reset(stream.FrameInterval / 2) // as long as a key waits on average while the ticker runs
	}
	if !r.sent {
		r.sent = true
		go r.program.Send(tea.RawMsg{Msg: restMark{}})
	}
}

// written removes the marks from a text for the terminal, and returns the rest. If there was a mark, and
// the view that follows it is the newest, written stops the ticker.
func (r *rest) written(p []byte) []byte {
	mark := []byte(restMark{}.String())
	if !bytes.Contains(p, mark) {
		return p
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := rendererTicker(r.program); t != nil && r.newest {
		r.stopped = true
		t.Stop()
	}
	return bytes.ReplaceAll(p, mark, nil)
}

// rendererTicker returns the ticker of p's renderer, an unexported field of p. It returns nil before the
// renderer starts. It also returns nil if another version of Bubble Tea has no such field; then the ticker
// is never stopped.
func rendererTicker(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(field.UnsafePointer())
}
