package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/ui/chats"
	"specula/ui/dialog"
	"specula/ui/export"
	"specula/ui/sanitize"
)

// newChat begins a chat. It writes no file: an empty chat is not saved.
func (m *Model) newChat() {
	now := m.options.Now()
	m.chat = chats.Chat{ID: chats.NewID(now, m.options.Tag), Created: now}
	m.options.Tag++
}

// snapshot returns the chat on screen in the form in which it is saved.
func (m *Model) snapshot() chats.Chat {
	c := m.chat
	c.Updated = m.options.Now()
	c.System = m.settings().Model.System
	if m.state.Ready != nil {
		c.Model = m.state.Ready.Target.Name
	}
	c.Turns = export.Turns(m.state)
	if c.Title == "" && len(c.Turns) > 0 {
		c.Title = chats.TitleFrom(c.Turns[0].Text)
	}
	return c
}

// save returns a command that saves the chat in the background; nil if nothing has to be saved.
// loud means that the user asked for the save, so its result is shown.
func (m *Model) save(loud bool) tea.Cmd {
	switch {
	case m.options.Chats != nil && len(m.state.Messages) > 0:
	case !loud:
		return nil
	case m.options.Chats == nil:
		return m.say(m.whyUnsaved())
	default:
		return m.say("there is nothing to save")
	}
	if loud {
		m.saver.changes++ // the title may have changed
	}
	if !m.saver.pending() {
		return nil
	}
	changes, c := m.saver.changes, m.snapshot()
	return func() tea.Msg {
		saved, moved, err := m.saver.write(changes, c)
		switch {
		case err != nil:
			return notSaved(sanitize.Line(err.Error() + "; the chat goes on, unsaved"))
		case moved:
			return renamed{from: c.ID, to: saved}
		case loud:
			return noteMsg(sanitize.Line(fmt.Sprintf("saved as %q", c.Title)))
		}
		return nil
	}
}

// whyUnsaved says why chats are neither saved nor listed.
func (m *Model) whyUnsaved() string {
	switch {
	case m.options.Load == nil:
		return "a recording is not a chat: there is nothing to save or to open"
	case m.tour != nil:
		return "chats of a tour are not saved; esc ends the tour"
	case !m.config.UI.Save:
		return "chats are neither saved nor listed, because ui.save is false: start with --save, or set it in config.toml"
	}
	return "chats are not saved: their folder could not be opened; start with XDG_DATA_HOME set to a folder that you may write"
}

// notSaved is the message that a chat could not be saved, and why. Saving is tried again after the next
// change and at the end.
type notSaved string

// renamed is the message that the chat has a new name, because another window had changed its file.
type renamed struct {
	from string // ID
	to   chats.Chat
}

func (r renamed) String() string {
	return fmt.Sprintf("another window has changed this chat: yours is saved as %q", r.to.Title)
}

// takeNewName gives the chat on screen its new name.
func (m *Model) takeNewName(msg renamed) tea.Cmd {
	if m.chat.ID == msg.from {
		m.chat.ID, m.chat.Title = msg.to.ID, msg.to.Title
	}
	return m.say(sanitize.Line(msg.String()))
}

// startNewChat saves the chat on screen and begins an empty one.
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
		if m.options.Chats == nil {
			return m.say("a new chat")
		}
		return tea.Batch(saved, m.say("a new chat; the old one is saved (f9)"))
	})
}

// chatList is the message with the list of saved chats, opened the one with a chat that was read.
type (
	chatList struct {
		list   []chats.Chat
		broken int
		err    error
	}
	opened struct {
		chat chats.Chat
		note string // what to say about the chat that was on screen before
		err  error
	}
)

func (m *Model) listChats() tea.Cmd {
	if m.options.Chats == nil {
		return m.say(m.whyUnsaved())
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
		saved := m.save(false)
		return func() tea.Msg {
			note := ""
			if saved != nil {
				switch told := saved().(type) {
				case notSaved:
					return told // do not open another chat: the one on screen is not saved anywhere
				case renamed:
					note = told.String()
				}
			}
			c, err := m.saver.open(id)
			return opened{c, note, err}
		}
	})
}

// reopened shows a saved chat. The settings do not change.
func (m *Model) reopened(msg opened) tea.Cmd {
	if msg.err != nil {
		return m.say(sanitize.Line(msg.err.Error()))
	}
	if m.busy() {
		return m.sayWriting()
	}
	m.chat = msg.chat
	m.chat.Turns = nil // they are in state from now on
	m.lastSeed = -1
	for _, t := range msg.chat.Turns {
		if t.Record != nil {
			m.lastSeed = t.Record.Started.Settings.Seed
		}
	}
	m.state.Reopen(export.Reopened(msg.chat.Turns))
	m.saver.settled()
	m.showSettings()
	m.editing = false
	m.backToComposer()
	m.transcript.Follow()
	switch {
	case m.state.Forgotten > 0:
		return m.say(m.tooLong())
	case msg.note != "":
		return m.say(sanitize.Line(msg.note))
	}
	return m.say(sanitize.Line(fmt.Sprintf("opened %q; your settings stay as they are", m.chat.Title)))
}

// tooLong is the message that the first messages of a chat were dropped, because it has too many.
func (m *Model) tooLong() string {
	return "the chat is too long: its first " + count(m.state.Forgotten) + " messages are neither saved nor sent any more"
}

// copyReply copies the reply in which the cursor is; the last reply if the cursor is in none.
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

// copyText puts the text raw, made safe, on the terminal's clipboard by the escape sequence OSC 52, which
// also works over SSH. If raw is empty, as while a reply is written, it copies partial, which must be safe.
func (m *Model) copyText(raw, partial string) tea.Cmd {
	text := sanitize.Copy(raw)
	if text == "" {
		text = partial
	}
	return tea.Batch(tea.SetClipboard(text), m.say("copied "+count(len([]rune(text)))+" characters, if the terminal allows it"))
}
