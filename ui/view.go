package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine/config"
	"specula/ui/command"
	"specula/ui/keys"
	"specula/ui/layout"
	"specula/ui/pace"
	"specula/ui/paint"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/transcript"
)

// arrange divides the window into rectangles. Call it after a change of the window's size or of whatever
// layout.Options describes. View itself notices only that a chat begins or is cleared.
func (m *Model) arrange() {
	m.empty = len(m.state.Messages) == 0
	o := layout.Options{ComposerLines: m.composer.Lines(), Inspector: m.inspector, Empty: m.empty, Audience: m.audience}
	m.rects = layout.Arrange(m.size.w, m.size.h, o)
	if w := m.rects.Composer.W; w > 0 && m.tour != nil {
		o.ComposerLines = len(m.captionLines(w))
		m.rects = layout.Arrange(m.size.w, m.size.h, o)
	} else if w > 0 {
		m.composer.SetWidth(w - 1)
		if o.ComposerLines != m.composer.Lines() {
			o.ComposerLines = m.composer.Lines()
			m.rects = layout.Arrange(m.size.w, m.size.h, o)
		}
		m.composer.SetHeight(m.rects.Composer.H)
	}
}

// View returns the screen. Bubble Tea calls it after every message; most messages change nothing, so
// it draws only if the model is stale.
func (m *Model) View() tea.View {
	if m.stale {
		m.stale = false
		m.frame = m.draw()
		if !m.taken.IsZero() {
			m.pump.Took(time.Since(m.taken))
			m.taken = time.Time{}
		}
	}
	return m.frame
}

func (m *Model) draw() tea.View {
	if m.empty != (len(m.state.Messages) == 0) {
		m.arrange()
	}
	v := tea.View{AltScreen: true}
	if m.config.UI.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	switch w, h := m.size.w, m.size.h; {
	case w <= 0 || h <= 0:
	case m.rects.TooSmall:
		v.Content = strings.Join(pane.TooSmall(m.theme, w, h), "\n")
	case m.dialog != nil:
		lines := m.underDialog(w, h-1)
		v.Content = strings.Join(append(lines, m.drawStatus(true)), "\n")
	default:
		v.Content = pane.Compose(m.rects, m.theme, m.parts())
		v.Cursor = m.terminalCursor()
	}
	return v
}

func (m *Model) parts() pane.Parts {
	s, th, r := m.state, m.theme, m.rects
	p := pane.Parts{
		Chat:     m.transcript.Draw(s, th, r.Chat.W, r.Chat.H, m.looks()),
		Composer: m.drawComposer(),
	}
	notice := pane.Notice(s, th, m.size.w, m.flash)
	p.Status = []string{m.drawStatus(notice == nil)}
	p.Over = append(notice, m.drawMenu()...)
	p.Head = pane.Head(s, th, r.Head.W, r.Head.H)
	p.Settings = []string{pane.SettingsRule(s, th, r.Settings.W, m.audience)}
	switch {
	case r.Picture.Empty():
	case m.tradeoff:
		p.Picture = pane.Tradeoff(s, th, r.Picture.W, r.Picture.H)
	default:
		p.Picture = pane.Picture(s, th, r.Picture.W, r.Picture.H)
	}
	if !r.Lane.Empty() {
		p.Lane = pane.Lane(s, th, r.Lane.W, r.Lane.H, pane.LaneOptions{At: m.laneMoment(), Cursor: m.cursor, Few: m.audience})
	}
	if !r.Side.Empty() {
		p.Side = pane.Side(s, th, r.Side.W, r.Side.H, pane.SideOptions{Tradeoff: m.tradeoff, Few: m.audience})
	}
	if !r.Inspector.Empty() {
		p.Inspector = pane.Inspector(s, th, r.Inspector.W, r.Inspector.H, m.cursor)
	}
	return p
}

// looks returns how the user wants to see the chat.
func (m *Model) looks() transcript.Options {
	return transcript.Options{Reading: m.reading, Rejected: m.rejected, Cursor: m.cursor, At: m.past, Welcome: m.welcome()}
}

func (m *Model) drawComposer() []string {
	w := m.rects.Composer.W
	if m.tour != nil {
		return m.captionLines(w)
	}
	m.composer.SetPlaceholder(m.placeholder(w))
	lines := m.composer.View()
	for i := range lines {
		lines[i] = paint.NewLine(m.theme, w).Put("", " ").Put("", strings.TrimRight(lines[i], " ")).String()
	}
	return lines
}

// placeholder returns the text that an empty prompt shows, cut to fit w columns.
func (m *Model) placeholder(w int) string {
	text := "Ask something, or type / for commands"
	switch {
	case m.options.Load == nil && m.busy():
		text = "A recording plays: left and right go by rounds, f2 pace, esc stops, ctrl+c twice quits"
	case m.options.Load == nil:
		text = "The recording has ended: f5 plays it again, ctrl+c twice quits"
	case m.engine == nil:
		text = "The models are being read; you can type already"
	}
	if room := w - 5; len(text) > room {
		text = text[:max(room, 0)]
	}
	return text
}

// enterModes returns the sequences that set the modes of the last frame again, after the terminal got the
// shell's modes without the renderer's knowledge. They ask the terminal nothing: if the program were
// stopped again at once, the shell would read the terminal's answer.
func (m *Model) enterModes() string {
	on := ansi.SetModeAltScreenSaveCursor + ansi.SetModeBracketedPaste +
		ansi.SetModifyOtherKeys2 + ansi.PushKittyKeyboard(ansi.KittyDisambiguateEscapeCodes)
	if m.cells == ansi.GraphemeWidth {
		on += ansi.SetModeUnicodeCore
	}
	v := m.View()
	if v.MouseMode == tea.MouseModeCellMotion {
		on += ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr
	}
	if v.Cursor == nil {
		return on + ansi.ResetModeTextCursorEnable
	}
	return on + ansi.SetCursorStyle(2*int(v.Cursor.Shape)+2) // of this shape, not blinking
}

func (m *Model) terminalCursor() *tea.Cursor {
	c := m.composer.Cursor()
	if c == nil || m.tour != nil || m.rects.Composer.Empty() {
		return nil
	}
	c.X += m.rects.Composer.X + 1
	c.Y += m.rects.Composer.Y
	return c
}

// drawStatus draws the bottom line; with flash, also the message that say has set.
func (m *Model) drawStatus(flash bool) string {
	o := pane.StatusOptions{Hints: m.hints(), Doing: m.doing(), Few: m.audience}
	if m.audience {
		o.Hints = ""
	}
	if flash {
		o.Flash = m.flash
	}
	switch mode, rounds := m.pacer.Mode(); mode {
	case pace.Slow:
		o.Pace = "shown at " + plain(rounds) + " rounds/s"
	case pace.Step:
		o.Pace = "shown step by step"
	}
	if at := m.place(); at != "" {
		o.Pace = strings.TrimSpace(at + "  " + o.Pace)
	}
	if m.recording != nil && m.events.Recording() {
		o.Pace = strings.TrimSpace("recording  " + o.Pace)
	}
	return pane.Status(m.state, m.theme, m.size.w, o)
}

// doing names work that the state does not know of; "" if there is none.
func (m *Model) doing() string {
	switch {
	case m.racing.stop != nil:
		return "racing"
	case m.busy() && !m.state.Busy():
		return "starting"
	case m.forming && !m.state.Busy():
		return "working" // on the form of replies
	case m.options.Load != nil && m.engine == nil && m.state.Phase == state.Idle:
		return "loading" // a saved chat was opened before the engine was ready
	}
	return ""
}

// hints names the keys that matter now.
func (m *Model) hints() string {
	arrows, upDown := "←→↑↓", "↑↓"
	if !m.theme.Glyph.Unicode {
		arrows, upDown = "arrows", "up down"
	}
	switch {
	case m.tour != nil && m.theme.Glyph.Unicode:
		return "← → scene  space pause  esc ends"
	case m.tour != nil:
		return "left right scene  space pause  esc ends"
	case m.inRace() && m.stepping():
		return "space next  f2 pace  esc closes"
	case m.racing.stop != nil && m.dialog != nil:
		return "f2 pace  alt+. faster  esc closes"
	case m.inRace() && m.options.Race == nil:
		return "r again  e save recordings  esc closes"
	case m.inRace() && m.compares():
		return "esc closes"
	case m.inRace():
		return "e save recordings  esc closes"
	case m.dialog != nil:
		return "esc closes"
	case m.past != state.Moment{}:
		return "space forward  backspace back  esc now"
	case m.focus == keys.Read && m.inspector:
		return arrows + " token  esc back"
	case m.focus == keys.Read:
		return arrows + " token  enter inspect  esc back"
	case m.stepping():
		return "space next  backspace back  esc stop"
	case m.busy():
		return "esc stop  f1 help"
	case m.waits():
		return "esc does not send it  f1 help"
	case m.transcript.Below() > 0:
		return fmt.Sprintf("%d lines below  pgdn", m.transcript.Below())
	case len(m.ways().Ways) > 0:
		return upDown + " choose  tab fill in  enter run"
	case command.Is(m.composer.Value()):
		return "enter run"
	case m.composer.Value() != "":
		return "enter send  ctrl+j line"
	case len(m.state.Messages) == 0:
		return "/ commands  f1 help"
	case m.isEmbedded() && m.engine != nil && m.engine.Settings().OpensToWatch():
		return "backspace back  alt+o fast draft  f1 help"
	default:
		return "tab tokens  backspace back  f1 help"
	}
}

// welcome returns the lines that an empty chat shows.
func (m *Model) welcome() []string {
	lines := []string{
		"specula",
		"",
		m.whoDrafts(),
	}
	if m.state.Ready == nil || m.options.Load == nil || m.tour != nil {
		return lines
	}
	if examples := m.examples(); examples != nil {
		lines = append(append(lines, "", "Press tab, then enter, to ask one of these:"), examples...)
	}
	lines = append(lines, "", "Or type a message.   / commands   f1 help   alt+e a tour")
	var assumed []string
	for _, w := range m.state.Ready.Warnings {
		assumed = append(assumed, w.About)
	}
	if assumed != nil {
		lines = append(lines, "Assumed about the model's file: "+strings.Join(assumed, ", ")+" (specula doctor)")
	}
	return lines
}

// whoDrafts says in one sentence what the screen will show.
func (m *Model) whoDrafts() string {
	r := m.state.Ready
	switch {
	case m.state.Settings.Watch:
		return "The server guesses and checks, and you watch."
	case r != nil && r.Draft == nil && r.Heads == "":
		return "Guesses come from earlier text, the model checks them, and you watch."
	}
	return "A small model guesses, a large one checks, and you watch."
}

// settings returns the settings of the next reply.
func (m *Model) settings() config.Config {
	if m.engine != nil {
		return m.engine.Settings()
	}
	return m.config
}

// count writes a number with a comma between groups of three digits.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
