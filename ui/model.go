package ui

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine/config"
	"specula/engine/trace"
	"specula/ui/chats"
	"specula/ui/compose"
	"specula/ui/dialog"
	"specula/ui/keys"
	"specula/ui/layout"
	"specula/ui/pace"
	"specula/ui/sanitize"
	"specula/ui/state"
	"specula/ui/stream"
	"specula/ui/theme"
	"specula/ui/transcript"
)

// Model is the root of the screen.
type Model struct {
	options Options
	ctx     context.Context // ends with the program
	guard   *guard
	keys    keys.Map

	engine  Engine // nil until it is loaded, while another one is opened (moving), and in a replay
	config  config.Config
	pacer   *pace.Pacer
	ring    *stream.Ring
	suspend tea.Cmd // command that stops the program and gives the terminal to the shell
	pump    *stream.Pump
	reply   reply
	racing  racing
	tour    *touring // the demo script that plays; nil if none does

	lastSeed int64 // of the last reply; -1 before the first

	state      *state.State
	transcript *transcript.View
	composer   *compose.Composer
	theme      *theme.Theme
	dark       bool        // the terminal's background is dark
	mono       bool        // the user wants no colour
	cells      ansi.Method // how the terminal counts the cells of an emoji; Bubble Tea's renderer assumes the same

	focus     keys.Focus   // Compose or Read
	cursor    state.Ref    // the selected token while focus is Read
	past      state.Moment // the moment in the past that the screen shows; zero: the present
	inspector bool         // the inspector is open
	reading   bool         // the chat is plain text, without colours for verdicts
	tradeoff  bool         // the trade-off of draft lengths gets room before other pictures
	empty     bool         // arrange has divided the window for a chat without a message
	audience  bool         // show only what an audience needs
	rejected  transcript.Rejected
	dialog    dialogBox // covers the screen; nil if none is open

	events    *trace.Recorder // the newest events of the session
	recording *os.File        // nil while nothing is recorded
	playedTo  atomic.Int64    // number of events of options.Replay that were played
	pictures  int             // number of pictures of the screen taken in this session

	chat    chats.Chat // the saved form of the chat on screen; its turns are in state
	saver   *saver
	list    menu // completions of a command
	editing bool // the next prompt replaces the last exchange
	forming bool // the engine is compiling a form
	moving  moving
	// waiting is a prompt that was entered before the engine or a form was ready. When they are ready
	// it is sent, unless the user has changed it.
	waiting string

	flash       string
	flashID     int
	asked       askedChange // the change of a setting that flash tells of
	saysWriting bool        // flash says that a reply is being written
	quitArmed   bool        // the next ctrl+c quits
	failure     error

	size  struct{ w, h int }
	rects layout.Rects
	frame tea.View // the last drawing, valid until stale is set
	stale bool
	taken time.Time // when the events of the next frame were taken from ring; zero: no event caused the frame
}

// dialogBox is anything that can cover the screen: help, the list of chats, a race.
type dialogBox interface {
	Update(tea.Msg) tea.Cmd
	Draw(th *theme.Theme, w, h int) []string
}

// A message stays in the status line for flashTime, and as long again for every full flashBytes
// bytes of its text.
const (
	flashTime  = 6 * time.Second
	flashBytes = 80
)

// newModel returns the model in its first state, which needs no engine.
func newModel(ctx context.Context, o Options, g *guard) *Model {
	ring := stream.NewRing(stream.DefaultCapacity)
	m := &Model{
		options: o, ctx: ctx, guard: g, keys: keys.NewMap(keys.Bindings()), config: o.Config,
		pacer: pace.New(pace.Full, o.Config.UI.Rounds), ring: ring, pump: stream.NewPump(ring, stream.FrameInterval),
		state: state.New(), transcript: transcript.New(), dark: true, mono: noColor(o.Color, o.Environ),
		suspend: tea.Suspend, focus: keys.Compose, lastSeed: -1, saver: &saver{store: o.Chats, moved: map[string]chats.Chat{}}, stale: true,
	}
	m.events = trace.NewRecorder(keptBytes, time.Now)
	m.applyTheme()
	m.composer = compose.New(o.History, m.theme.Glyph.Marker)
	m.composer.SetValue(o.Prompt)
	m.waiting = m.composer.Value()
	m.newChat()
	m.applyPace()
	m.flash = sanitize.Line(o.Warning)
	return m
}

// Messages that only this package sends.
type (
	frameMsg  struct{}
	redrawMsg struct{} // draw again, because another process has restored the terminal
	flashOver struct{ id int }
	noteMsg   string // a text for the status line
)

// Init asks for the background colour, starts the engine or the recording, and returns a command
// that waits for the first events. Bubble Tea calls it once, before the first frame.
func (m *Model) Init() tea.Cmd {
	var begin tea.Cmd
	if m.options.Load != nil {
		m.guard.Go("loading the models", m.load)
	} else {
		begin = m.playFrom(m.startOfReplay())
	}
	return tea.Batch(begin, tea.RequestBackgroundColor, m.nextFrame(), m.flashFor())
}

// nextFrame returns a command that waits for events.
func (m *Model) nextFrame() tea.Cmd {
	return func() tea.Msg {
		if !m.pump.Wait(m.ctx) {
			return nil
		}
		return frameMsg{}
	}
}

// Update takes one message, changes the model, and returns a command for what remains to be done.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.stale = true
	switch msg := msg.(type) {
	case frameMsg:
		m.taken = time.Now()
		return m, tea.Batch(m.take(), m.nextFrame())
	case tea.WindowSizeMsg:
		m.size.w, m.size.h = msg.Width, msg.Height
		m.arrange()
		return m, nil
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.applyTheme()
		return m, nil
	case tea.ModeReportMsg:
		m.setCells(msg)
		return m, nil
	case tea.KeyPressMsg:
		return m, m.pressed(msg)
	case tea.PasteMsg:
		return m, m.pasted(msg.Content)
	case tea.MouseClickMsg:
		return m, m.clicked(msg)
	case tea.MouseWheelMsg:
		m.wheeled(msg)
		return m, nil
	case flashOver:
		if msg.id == m.flashID {
			m.flash = ""
		}
		return m, nil
	case tourTick:
		if m.tour == nil || msg.id != m.tour.tick {
			return m, nil
		}
		return m, m.advance()
	case scriptRead:
		if msg.err != nil {
			first, more, _ := strings.Cut(msg.err.Error(), "\n")
			if more != "" {
				first += "; specula demo --check shows all mistakes"
			}
			return m, m.say(sanitize.Line(first))
		}
		return m, m.startTour(msg.script, false)
	case noteMsg:
		return m, m.say(string(msg))
	case formSet:
		return m, m.formSet(msg)
	case redrawMsg:
		return m, tea.Sequence(tea.Raw(m.enterModes()), tea.ClearScreen)
	case dialog.Chosen:
		m.dialog = nil
		return m, m.openChat(msg.ID)
	case chatList:
		return m, m.showChats(msg)
	case opened:
		return m, m.reopened(msg)
	case notSaved:
		return m, m.say(string(msg))
	case renamed:
		return m, m.takeNewName(msg)
	}
	if m.dialog != nil { // a message of a widget, such as the matches of a filter
		return m, m.dialog.Update(msg)
	}
	m.stale = false
	return m, nil
}

// setCells learns whether the terminal counts an emoji of several code points as one character
// (mode 2027). Bubble Tea has asked the terminal, and its renderer uses the same answer.
func (m *Model) setCells(msg tea.ModeReportMsg) {
	if msg.Mode != ansi.ModeUnicodeCore || msg.Value == ansi.ModeNotRecognized || msg.Value == ansi.ModePermanentlyReset {
		return
	}
	m.cells = ansi.GraphemeWidth
	m.applyTheme()
}

// say shows text in the status line for a while. The text must be safe for the terminal.
func (m *Model) say(text string) tea.Cmd {
	m.flash, m.asked, m.saysWriting = text, askedChange{}, false
	m.flashID++
	return m.flashFor()
}

func (m *Model) flashFor() tea.Cmd {
	if m.flash == "" {
		return nil
	}
	id := m.flashID
	return m.options.tick(time.Duration(1+len(m.flash)/flashBytes)*flashTime, func(time.Time) tea.Msg { return flashOver{id} })
}

// noColor reports whether to draw without colour. The flag --color decides if it is always or
// never. With auto, NO_COLOR decides: any value but the empty one means no colour. Bubble Tea's own
// check reads the value as true or false, which is not what no-color.org says.
func noColor(color string, environ []string) bool {
	switch color {
	case "never":
		return true
	case "always":
		return false
	}
	return lookup(environ, "NO_COLOR") != ""
}
