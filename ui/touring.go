package ui

import (
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
	"specula/ui/chats"
	"specula/ui/command"
	"specula/ui/demo"
	"specula/ui/paint"
	"specula/ui/sanitize"
	"specula/ui/state"
	"specula/ui/transcript"
)

// touring is the demo script that plays, and what to restore after it.
type touring struct {
	player *demo.Player
	tick   int // number of the newest tick; older ticks are ignored
	kept   kept
}

// kept is what the user had before a script began. It is restored after the script.
type kept struct {
	state      *state.State
	transcript *transcript.View
	chat       chats.Chat
	saver      *saver
	store      *chats.Store
	screen     config.Config // m.config
	engine     config.Config // the engine's settings
	reading    bool
	rejected   transcript.Rejected
	tradeoff   bool
	prompt     string
	lastSeed   int64
}

// tourTick is the message that the player's wait is over.
type tourTick struct{ id int }

// scriptRead is the message with a script that was read from a file.
type scriptRead struct {
	script *demo.Script
	err    error
}

// startDemo plays the script in a file; the tour if path is "".
func (m *Model) startDemo(path string) tea.Cmd {
	if path == "" {
		return m.startTour(demo.Tour(), false)
	}
	return func() tea.Msg {
		s, err := readScript(path)
		return scriptRead{s, err}
	}
}

func readScript(path string) (*demo.Script, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > demo.MaxBytes:
		return nil, fmt.Errorf("%s: %d bytes, %v; allowed is a regular file of at most %d bytes", path, info.Size(), info.Mode(), demo.MaxBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return demo.Parse(path, string(text))
}

// startTour plays a script in a chat of its own, which is not saved.
func (m *Model) startTour(s *demo.Script, loop bool) tea.Cmd {
	switch {
	case m.engine == nil:
		return m.say(m.whyNoEngine())
	case m.tour != nil:
		return nil
	case m.busy():
		return m.sayWriting()
	case m.racing.stop != nil:
		return m.say("the race is still ending")
	case m.forming:
		return m.say("the form is still being worked out")
	}
	saved := m.save(false)
	m.backToComposer()
	m.tour = &touring{player: demo.NewPlayer(s, loop), kept: kept{
		state: m.state, transcript: m.transcript, chat: m.chat, saver: m.saver, store: m.options.Chats,
		screen: m.config.Clone(), engine: m.engine.Settings(), reading: m.reading, rejected: m.rejected,
		tradeoff: m.tradeoff, prompt: m.composer.Value(), lastSeed: m.lastSeed,
	}}
	m.options.Chats, m.saver = nil, &saver{moved: map[string]chats.Chat{}}
	m.editing, m.reading, m.rejected, m.flash = false, false, transcript.Recent, ""
	m.composer.SetValue("")
	m.composer.SetFocus(false)
	return tea.Batch(saved, m.advance())
}

// endTour stops the tour and restores what the user had before: the chat, the prompt, the settings and
// which graphs were shown. Then it shows the message words.
func (m *Model) endTour(words string) tea.Cmd {
	return m.afterAll(func() tea.Cmd {
		if m.tour == nil {
			return nil
		}
		k := m.tour.kept
		m.restore(k)
		m.present()
		m.tour, m.dialog = nil, nil
		m.state, m.transcript, m.chat, m.saver, m.options.Chats = k.state, k.transcript, k.chat, k.saver, k.store
		m.reading, m.rejected, m.tradeoff, m.lastSeed = k.reading, k.rejected, k.tradeoff, k.lastSeed
		m.composer.SetValue(k.prompt)
		m.backToComposer()
		m.showSettings()
		return m.say(words)
	})
}

// afterAll calls do. If a reply or a race runs, it stops that, and do is called once that has ended.
func (m *Model) afterAll(do func() tea.Cmd) tea.Cmd {
	if m.racing.stop != nil {
		m.racing.stop()
		m.racing.then = do
		return nil
	}
	return m.afterReply(do)
}

// restore sets all settings to what they were before the script. The engine refuses some changes as long as
// another setting has the script's value: γ must not be above gamma_max. Other changes also change another
// setting: setting γ makes the rule of γ fixed. So restore goes over all settings again until none changes
// any more, at most four times.
func (m *Model) restore(k kept) {
	for changed, times := true, 0; changed && times < 4; times++ {
		changed = false
		for _, s := range config.Settings() {
			want, err := k.engine.Get(s.Name)
			now := m.engine.Settings()
			if is, _ := now.Get(s.Name); s.Section() != "ui" && err == nil && is != want && m.engine.Change(s.Name, want) == nil {
				changed = true
			}
		}
	}
	m.config = k.screen.Clone()
	m.applyPace()
	m.applyTheme()
}

// advance does all actions that are due, and asks for a tick when the player waits for time.
func (m *Model) advance() tea.Cmd {
	var cmds []tea.Cmd
	for m.tour != nil {
		p := m.tour.player
		a, ok := p.Next(m.options.Now(), m.busy() || m.racing.stop != nil)
		if ok {
			cmds = append(cmds, m.act(a))
			continue
		}
		if p.Over() {
			cmds = append(cmds, m.endTour("the tour is over: your chat and your settings are back"))
			break
		}
		if due, waits := p.Due(); waits {
			m.tour.tick++
			id := m.tour.tick
			cmds = append(cmds, m.options.tick(max(due.Sub(m.options.Now()), time.Millisecond), func(time.Time) tea.Msg { return tourTick{id} }))
		}
		break
	}
	m.arrange() // the caption may have changed
	return tea.Batch(cmds...)
}

// act does one action of a script.
func (m *Model) act(a demo.Action) tea.Cmd {
	switch a.Kind {
	case demo.Scene:
		m.beginScene()
	case demo.Say, demo.Wait: // the player does these itself
	case demo.Ask:
		m.dialog = nil
		cmd, _ := m.send(a.Text)
		return cmd
	case demo.Set:
		return m.setAll(a.Settings)
	case demo.Pace:
		return m.scriptPace(a)
	case demo.Step:
		m.stepForward()
	case demo.Race:
		return m.race(m.toRace(), a.Lanes, false)
	case demo.Show:
		m.tradeoff = a.Text == demo.ShowTradeoff
	case demo.Record:
		if call, err := command.Parse("/record " + a.Text); err == nil {
			return m.run(call)
		}
		return m.say("the script could not begin its recording")
	case demo.Stop:
		if m.racing.stop != nil {
			m.racing.stop()
		}
		return m.stop()
	}
	return nil
}

// beginScene begins a scene with an empty chat and the settings that the user had.
func (m *Model) beginScene() {
	m.restore(m.tour.kept)
	m.dialog, m.tradeoff = nil, false
	m.present()
	m.state, m.transcript = state.New(), transcript.New()
	if r := m.tour.kept.state.Ready; r != nil {
		m.state.Apply(*r)
	}
	m.newChat()
	m.showSettings()
}

func (m *Model) setAll(values []config.Value) tea.Cmd {
	var cmd tea.Cmd
	for _, v := range values {
		cmd = m.change(v.Name, v.Text) // only the last change's message stays on the screen
	}
	return cmd
}

func (m *Model) scriptPace(a demo.Action) tea.Cmd {
	if a.Rounds > 0 {
		m.config.UI.Rounds = a.Rounds
	}
	return m.setUI("ui.pace", a.Text)
}

// pressedInTour does the action of a key while a script plays. Keys that change the engine's settings work
// as always.
func (m *Model) pressedInTour(k tea.KeyPressMsg) tea.Cmd {
	p, now := m.tour.player, m.options.Now()
	switch k.String() {
	case "right", "n", "pgdown":
		p.Go(1)
	case "left", "p", "pgup":
		p.Go(-1)
	case "home":
		p.Go(0)
	case "enter":
		p.Press(now)
	case "space":
		if key, paused := p.Waits(); key || paused {
			p.Press(now)
		} else {
			p.Pause(now)
		}
	case "esc", "q", "ctrl+c":
		return m.endTour("the tour was left: your chat and your settings are back")
	case "ctrl+z":
		return m.suspend
	default:
		cmd, _ := m.changeByKey(m.keys.Lookup(m.focus, k.String()))
		return cmd
	}
	return m.advance()
}

// The least and the most rows of a caption's text. The name of the scene has a row of its own below it.
const (
	captionMin = 2
	captionMax = 4
)

// captionLines draws the caption and, in a row below, the name and number of the scene, w cells wide.
func (m *Model) captionLines(w int) []string {
	p, th := m.tour.player, m.theme
	var lines []string
	for _, text := range paint.Wrap(sanitize.Line(p.Caption()), w-4, captionMax) {
		lines = append(lines, paint.NewLine(th, w).Put(th.Graph, " "+th.Glyph.VRule+" ").Put(th.Strong, text).String())
	}
	for len(lines) < captionMin {
		lines = append(lines, paint.NewLine(th, w).Put(th.Graph, " "+th.Glyph.VRule).String())
	}
	n, of, title := p.Scene()
	out := paint.NewLine(th, w).Put(th.Label, " "+sanitize.Line(title))
	where := fmt.Sprintf("scene %d of %d ", n, of)
	switch key, paused := p.Waits(); {
	case paused:
		where = "paused: space goes on  " + where
	case key:
		where = "space goes on  " + where
	}
	out.Right(th.Label, where)
	return append(lines, out.String())
}

// underDialog draws the dialog in h lines of w cells, with the caption below it while a script plays.
func (m *Model) underDialog(w, h int) []string {
	if m.tour == nil {
		return m.dialog.Draw(m.theme, w, h)
	}
	caption := m.captionLines(w)
	lines := m.dialog.Draw(m.theme, w, h-len(caption)-1)
	return append(append(lines, m.theme.Rule.On(strings.Repeat(m.theme.Glyph.HRule, w))), caption...)
}
