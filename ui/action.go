package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/ui/command"
	"specula/ui/dialog"
	"specula/ui/keys"
	"specula/ui/sanitize"
	"specula/ui/state"
	"specula/ui/transcript"
)

// pressed does the action of a key. In the prompt, a key without an action is text.
func (m *Model) pressed(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "alt+esc" {
		// Two quick presses of esc, as from a key held down, look like alt+esc.
		k.Mod &^= tea.ModAlt
		return tea.Batch(m.pressed(k), m.pressed(k))
	}
	if m.tour != nil {
		return m.pressedInTour(k)
	}
	if m.dialog != nil {
		return m.pressedInDialog(k)
	}
	armed := m.quitArmed
	m.quitArmed = false
	a := m.keys.Lookup(m.focus, k.String())
	switch {
	case a == keys.Interrupt:
		return m.interrupt(armed)
	case a == keys.Stop:
		return m.back()
	case a == keys.Race:
		return m.raceLast("")
	case a == keys.Demo:
		return m.startDemo("")
	}
	if cmd, done := m.changeByKey(a); done {
		return cmd
	}
	if cmd, done := m.screenAction(a); done {
		return cmd
	}
	if m.focus == keys.Read {
		return m.readAction(a)
	}
	return m.composeAction(a, k)
}

// pressedInDialog gives a key to the open dialog. Some keys do not reach the dialog: those that close
// it, suspend the program or take a picture and, on the screen of a race, those of pressedInRace.
func (m *Model) pressedInDialog(k tea.KeyPressMsg) tea.Cmd {
	filter, ok := m.dialog.(interface{ Filtering() bool })
	filtering := ok && filter.Filtering()
	inRace := m.inRace()
	if inRace {
		if cmd, done := m.pressedInRace(m.keys.Lookup(keys.Compose, k.String()), k.String()); done {
			return cmd
		}
	}
	closed := k.String() == "ctrl+c" || k.String() == "f1" || !filtering && slices.Contains([]string{"esc", "q", "?"}, k.String())
	switch {
	case closed && inRace:
		m.dialog = nil
		return m.leaveRace()
	case closed:
		m.dialog = nil
		return nil
	case k.String() == "ctrl+z":
		return m.suspend
	case k.String() == "ctrl+p":
		return m.picture()
	}
	return m.dialog.Update(k)
}

// interrupt does what ctrl+c asks for, the first of these that is possible: stop a reply that is not a
// recording, or the change to another target; take back a prompt that waits to be sent; clear the
// prompt. If none is possible, a first ctrl+c only announces that a second one quits. armed says that
// this is the second.
func (m *Model) interrupt(armed bool) tea.Cmd {
	switch {
	case m.busy() && m.options.Load != nil, m.moving.cancel != nil:
		return m.stop()
	case m.waits():
		return m.withdraw()
	case m.composer.Value() != "":
		m.editing = false
		m.composer.SetValue("")
		m.arrange()
		return nil
	case armed:
		return tea.Quit
	}
	m.quitArmed = true
	return m.say("ctrl+c again quits")
}

// back does what esc asks for, the first of these that is possible: close the inspector, return from
// the past to the present, move from the reply back to the prompt, stop editing the last message,
// take back a prompt that waits to be sent, close the list of completions, quit before a race has
// begun, stop the reply or the change to another target.
func (m *Model) back() tea.Cmd {
	switch {
	case m.inspector:
		m.inspector = false
		m.arrange()
	case m.past != state.Moment{}:
		m.present()
	case m.focus == keys.Read:
		m.backToComposer()
	case m.editing:
		m.editing = false
		m.composer.SetValue("")
		m.arrange()
	case m.waits():
		return m.withdraw()
	case m.closeMenu():
	case m.options.Race != nil && m.engine == nil:
		return tea.Quit // the race has not begun yet
	default:
		return m.stop()
	}
	return nil
}

func (m *Model) backToComposer() {
	m.focus, m.cursor, m.inspector = keys.Compose, state.Ref{}, false
	m.present()
	m.composer.SetFocus(true)
	m.arrange()
}

// screenAction does an action that does not depend on the focus. done is false for other actions.
func (m *Model) screenAction(a keys.Action) (cmd tea.Cmd, done bool) {
	switch a {
	case keys.Help:
		m.dialog = dialog.NewHelp()
	case keys.Opening:
		cmd = m.otherOpening()
	case keys.Pace:
		cmd = m.nextPace()
	case keys.PaceFaster:
		cmd = m.changePace(1)
	case keys.PaceSlower:
		cmd = m.changePace(-1)
	case keys.Tradeoff:
		m.tradeoff = !m.tradeoff
	case keys.View:
		m.reading = !m.reading
	case keys.Rejected:
		cmd = m.nextRejected()
	case keys.Mouse:
		cmd = m.setUI("ui.mouse", toggled(m.config.UI.Mouse))
	case keys.Theme:
		cmd = m.setUI("ui.theme", after(m.config.UI.Theme, choices("ui.theme")...))
	case keys.Regenerate:
		cmd = m.regenerate()
	case keys.EditLast:
		cmd = m.editLast()
	case keys.CopyReply:
		cmd = m.copyReply()
	case keys.CopyChat:
		cmd = m.copyChat()
	case keys.NewChat:
		cmd = m.startNewChat()
	case keys.OpenChat:
		cmd = m.listChats()
	case keys.Picture:
		cmd = m.picture()
	case keys.PageUp:
		m.transcript.Scroll(-max(1, m.rects.Chat.H-2))
	case keys.PageDown:
		m.transcript.Scroll(max(1, m.rects.Chat.H-2))
	case keys.Suspend:
		cmd = m.suspend
	case keys.Redraw:
		cmd = tea.ClearScreen
	default:
		return nil, false
	}
	return cmd, true
}

// nextAudience switches between showing everything and showing only what an audience needs (/present).
func (m *Model) nextAudience() tea.Cmd {
	m.audience = !m.audience
	m.arrange()
	if m.audience {
		return m.say("shown is what an audience needs; /present shows everything again")
	}
	return m.say("everything is shown again")
}

func (m *Model) nextRejected() tea.Cmd {
	m.rejected = (m.rejected + 1) % (transcript.Never + 1)
	return m.say([...]string{
		transcript.Recent: "rejected tokens: of the last 3 rounds, then of the newest reply",
		transcript.All:    "rejected tokens: all, struck out",
		transcript.Never:  "rejected tokens: hidden",
	}[m.rejected])
}

// composeAction does the action of a key in the prompt. A key is typed if it has no action, or if its
// action is not possible now, such as help (?) while there is text in the prompt.
func (m *Model) composeAction(a keys.Action, k tea.KeyPressMsg) tea.Cmd {
	switch a {
	case keys.Send:
		return m.enter()
	case keys.Complete:
		return m.complete()
	case keys.ToTranscript:
		return m.toTranscript()
	case keys.HelpIfEmpty:
		if m.composer.Value() == "" {
			m.dialog = dialog.NewHelp()
			return nil
		}
	case keys.QuitIfEmpty:
		if m.composer.Value() == "" {
			return tea.Quit
		}
	case keys.Step:
		if m.composer.Value() == "" && (m.stepping() || m.past != state.Moment{}) {
			m.stepForward()
			return nil
		}
	case keys.StepBack:
		if m.composer.Value() == "" {
			return m.stepBack()
		}
	case keys.RoundBack, keys.RoundForth, keys.TenthBack, keys.TenthForth, keys.RecordingStart, keys.RecordingEnd:
		if m.options.Load == nil {
			return m.seek(a)
		}
	case keys.HistoryBack, keys.HistoryForward:
		if m.moveInMenu(a) || m.moveInHistory(a) {
			return nil
		}
	}
	if m.options.Load == nil {
		return nil // nothing can be typed into a recording
	}
	cmd := m.composer.Type(k)
	m.arrange()
	return cmd
}

// moveInHistory shows the previous or the next prompt of the history, if there is one. If the cursor can
// move to another line of the prompt instead, moveInHistory does nothing and done is false.
func (m *Model) moveInHistory(a keys.Action) (done bool) {
	move := m.composer.Forward
	if a == keys.HistoryBack {
		move = m.composer.Back
	}
	if !move() {
		return false
	}
	m.list = menu{prompt: m.composer.Value(), closed: true} // further arrow keys move in the history, not in the list
	m.arrange()
	return true
}

// enter sends the prompt, or runs the command in it. A prompt that cannot be sent stays.
func (m *Model) enter() tea.Cmd {
	prompt := m.composer.Value()
	if strings.TrimSpace(prompt) == "" {
		return nil
	}
	if !m.enterInMenu() {
		return nil
	}
	prompt = m.composer.Value()
	if command.Is(prompt) {
		call, err := command.Parse(strings.TrimSpace(prompt))
		if err != nil {
			return m.say(sanitize.Line(err.Error()))
		}
		if call.Command.Verb == command.Remote {
			if _, err := elsewhere(m.settings(), call.Arg); err != nil { // do not remember an address that may hold a password
				m.composer.SetValue("")
				m.arrange()
				return m.say(sanitize.Line(err.Error()))
			}
		}
		m.takePrompt()
		return m.run(call)
	}
	cmd, ok := m.send(prompt)
	if !ok {
		return cmd
	}
	return tea.Batch(cmd, m.takePrompt())
}

// takePrompt empties the composer and adds its text to the history.
func (m *Model) takePrompt() tea.Cmd {
	_, err := m.composer.Take()
	m.arrange()
	if err != nil {
		return m.say(sanitize.Line(err.Error()))
	}
	return nil
}

// complete does what tab asks for. It fills in a completion of a command or, in a new chat, an example
// question. Otherwise it moves the focus to the reply.
func (m *Model) complete() tea.Cmd {
	switch prompt := m.composer.Value(); {
	case strings.HasPrefix(prompt, "/"):
		m.fillIn()
		return nil
	case m.nextExample(prompt):
		return nil
	}
	return m.toTranscript()
}

func (m *Model) pasted(text string) tea.Cmd {
	if m.dialog != nil || m.tour != nil || m.options.Load == nil {
		return nil
	}
	if m.focus == keys.Read {
		m.backToComposer()
	}
	lost := m.composer.Paste(text)
	m.arrange()
	if lost > 0 {
		return m.say("the prompt is full: " + count(lost) + " characters of the paste were left out")
	}
	return nil
}
