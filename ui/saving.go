package ui

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"specula/ui/chats"
	"specula/ui/dialog"
	"specula/ui/export"
	"specula/ui/sanitize"
)

// saver writes chats one after another. Saves run in commands, outside Bubble Tea's loop, where an older one could
// otherwise overtake a newer.
type saver struct {
	store *chats.Store
	mu    sync.Mutex
	asked int // only touched by the model
	done  int // newest revision written
}

func (s *saver) write(revision int, c chats.Chat) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision <= s.done {
		return nil
	}
	if err := s.store.Save(c); err != nil {
		return err
	}
	s.done = revision
	return nil
}

// newChat begins the record of a chat; nothing is written before something was said.
func (m *Model) newChat() {
	now := m.options.Now()
	m.chat = chats.Chat{ID: chats.NewID(now, m.options.Tag), Created: now}
	m.options.Tag++
}

// snapshot is the chat on screen, as it is saved.
func (m *Model) snapshot() chats.Chat {
	c := m.chat
	c.Updated = m.options.Now()
	c.System = m.settings().Model.System
	if m.state.Ready != nil {
		c.Model = m.state.Ready.Target.Name
	}
	c.Turns = []chats.Turn{}
	for t := range m.state.Turns() {
		turn := chats.Turn{Role: t.Role, Text: strings.ToValidUTF8(t.Raw, "\uFFFD"), Reason: t.Reason}
		if t.Totals.Rounds > 0 {
			totals := t.Totals
			turn.Totals = &totals
		}
		c.Turns = append(c.Turns, turn)
	}
	if c.Title == "" && len(c.Turns) > 0 {
		c.Title = chats.TitleFrom(c.Turns[0].Text)
	}
	return c
}

// save saves the chat in the background. Loud tells that it was asked for by name and wants an answer.
func (m *Model) save(loud bool) tea.Cmd {
	if m.options.Chats == nil || len(m.state.Messages) == 0 {
		if loud {
			return m.say("there is nothing to save")
		}
		return nil
	}
	m.saver.asked++
	revision, c := m.saver.asked, m.snapshot()
	return func() tea.Msg {
		if err := m.saver.write(revision, c); err != nil {
			return noteMsg(sanitize.Line(err.Error() + "; the chat goes on, unsaved"))
		}
		if loud {
			return noteMsg(sanitize.Line(fmt.Sprintf("saved as %q", c.Title)))
		}
		return nil
	}
}

// startNewChat keeps the old chat as it was saved.
func (m *Model) startNewChat() tea.Cmd {
	return m.afterReply(func() tea.Cmd {
		if m.options.Load == nil {
			return m.say("this is a recorded reply")
		}
		saved := m.save(false)
		m.state.ClearChat()
		m.newChat()
		m.editing = false
		m.backToComposer()
		m.transcript.Follow()
		return tea.Batch(saved, m.say("a new chat; the old one is saved (f9)"))
	})
}

// chatList and opened bring what was read from disk.
type (
	chatList struct {
		list   []chats.Chat
		broken int
		err    error
	}
	opened struct {
		chat chats.Chat
		err  error
	}
)

func (m *Model) listChats() tea.Cmd {
	if m.options.Chats == nil {
		return m.say("there are no saved chats here")
	}
	store := m.options.Chats
	return func() tea.Msg {
		list, broken, err := store.List()
		return chatList{list, broken, err}
	}
}

func (m *Model) showChats(msg chatList) tea.Cmd {
	if msg.err != nil {
		return m.say(sanitize.Line(msg.err.Error()))
	}
	m.dialog = dialog.NewChats(msg.list, msg.broken, m.theme)
	return nil
}

func (m *Model) openChat(id string) tea.Cmd {
	return m.afterReply(func() tea.Cmd {
		saved, store := m.save(false), m.options.Chats
		return func() tea.Msg {
			if saved != nil {
				if failed := saved(); failed != nil {
					return failed // the chat on screen stays, it is nowhere else
				}
			}
			c, err := store.Open(id)
			return opened{c, err}
		}
	})
}

// reopened shows a saved chat. Its text is data again: no token of it is known, so there are no colours.
func (m *Model) reopened(msg opened) tea.Cmd {
	if msg.err != nil {
		return m.say(sanitize.Line(msg.err.Error()))
	}
	if m.busy() {
		return m.say("a reply is being written: esc stops it")
	}
	m.state.ClearChat()
	m.chat = msg.chat
	m.chat.Turns = nil // they are in state from now on
	for _, t := range msg.chat.Turns {
		m.state.AddStored(t.Role, t.Text)
		last := m.state.Messages[len(m.state.Messages)-1]
		last.Reason = sanitize.Line(t.Reason)
		if t.Totals != nil {
			last.Totals = *t.Totals
		}
	}
	m.editing = false
	m.backToComposer()
	m.transcript.Follow()
	if m.state.Forgotten > 0 {
		return m.say(m.tooLong())
	}
	return nil
}

// tooLong says what became of a chat that is longer than a chat can be.
func (m *Model) tooLong() string {
	return "the chat is too long: its first " + count(m.state.Forgotten) + " messages are neither saved nor sent any more"
}

// copyReply copies the last reply, or the one the cursor is in.
func (m *Model) copyReply() tea.Cmd {
	if t := m.state.Message(m.cursor.Message); t != nil && t.Role == "assistant" {
		return m.copyText(t.Raw, t.Text)
	}
	for i := len(m.state.Messages) - 1; i >= 0; i-- {
		if t := m.state.Messages[i]; t.Role == "assistant" {
			return m.copyText(t.Raw, t.Text)
		}
	}
	return m.say("there is no reply yet")
}

func (m *Model) copyChat() tea.Cmd {
	var sb strings.Builder
	if err := export.Markdown(&sb, m.snapshot()); err != nil {
		return m.say(sanitize.Line(err.Error()))
	}
	return m.copyText(sb.String(), "")
}

// copyText puts safe text on the terminal's clipboard (OSC 52, which also works over SSH).
func (m *Model) copyText(raw, partial string) tea.Cmd {
	text := sanitize.Text(raw)
	if text == "" {
		text = partial
	}
	return tea.Batch(tea.SetClipboard(text), m.say("copied "+count(len([]rune(text)))+" characters, if the terminal allows it"))
}

// export writes the chat to a file that does not exist yet: "md", "json", "md notes.md".
func (m *Model) export(arg string) tea.Cmd {
	format, path, _ := strings.Cut(arg, " ")
	f := export.Format(format)
	if f != export.MarkdownFormat && f != export.JSONFormat {
		return m.say("/export md or /export json, with a file name if you like")
	}
	if path = strings.TrimSpace(path); path == "" {
		path = m.chat.ID + "." + format
	}
	c := m.snapshot()
	return func() tea.Msg {
		out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			err = errors.Join(export.Write(out, c, f), out.Close())
		}
		if err != nil {
			return noteMsg(sanitize.Line("exporting: " + err.Error()))
		}
		return noteMsg(sanitize.Line("exported to " + path))
	}
}
