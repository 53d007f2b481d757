package ui

import (
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
	"specula/ui/sanitize"
)

// keptBytes bounds the memory for events of the session that are kept in case /record is used later.
const keptBytes = 32 << 20

// recordTo begins a recording or, if one is going on, ends it. The recording includes the events that
// m.events has kept of the session so far. arg is a file, "off", or "" for a file named after the chat.
func (m *Model) recordTo(arg string) tea.Cmd {
	switch {
	case m.options.Load == nil:
		return m.say("this is a recording already")
	case m.recording != nil:
		return m.say(m.endRecording())
	case arg == "off":
		return m.say("nothing is being recorded")
	case arg == "":
		arg = m.chat.ID + ".jsonl"
	}
	f, err := m.create(arg)
	if err != nil {
		return m.say(sanitize.Line("recording: " + err.Error()))
	}
	m.recording = f
	_, whole := m.events.Records()
	return func() tea.Msg {
		if err := m.events.Begin(f); err != nil {
			return noteMsg(sanitize.Line("recording: " + err.Error()))
		}
		if !whole {
			return noteMsg(sanitize.Line("recording to " + arg + ", with the newest replies; /record ends it"))
		}
		return noteMsg(sanitize.Line("recording to " + arg + ", with all since the start; /record ends it"))
	}
}

// endRecording ends a recording, and returns a message about it.
func (m *Model) endRecording() string {
	if m.recording == nil {
		return ""
	}
	m.events.End()
	f := m.recording
	m.recording = nil
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return sanitize.Line("recording: " + err.Error())
	}
	return sanitize.Line(fmt.Sprintf("recorded %s kB to %s", count(int(info.Size()/1000)), f.Name()))
}

// record keeps an event for a later /record, writes it to the file of a /record that is going on, and hands
// it to Options.Record. It is called on the goroutine that gets the engine's events.
func (m *Model) record(e event.Event) {
	if err := m.events.Put(e); err != nil {
		m.ring.Push(event.Notice{Level: "warning", Text: "the recording has ended: " + err.Error()})
	}
	if m.options.Record != nil {
		m.options.Record(e)
	}
}
