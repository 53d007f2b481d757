// Package keys is the table of what every key does. The screen looks keys up in it, and the help and
// docs/keys.md are printed from it. So they always agree.
//
// Three rules shape the table.
//   - While a prompt is being typed, a letter alone is text. So actions have other keys: most settings of
//     the engine (γ, temperature, …) have alt, most actions on the screen or the chat an F key.
//   - A letter alone is an action only while the reply has the focus.
//   - No action needs a key that terminals or multiplexers may take: ctrl+s, ctrl+q, ctrl+b, ctrl+a,
//     F10, F11, F1, alt with an arrow. Where the table has one of these, another key does the same: ? for
//     F1, shift with an arrow for alt with that arrow, home for ctrl+a.
package keys

// Focus says which part of the screen receives a key.
type Focus int

// The places that a key can go to. Keys of Everywhere work in Compose and in Read.
const (
	Everywhere Focus = iota
	Compose          // the prompt is being typed
	Read             // the cursor moves over the tokens of a reply
	Editing          // keys that the text area handles; listed for the help, never looked up
)

// Action is what a key does.
type Action int

// The actions. None means that the key is not in the table; it may be typed text.
const (
	None Action = iota

	Send
	Newline
	Complete
	HistoryBack
	HistoryForward
	ToTranscript
	ToComposer
	Stop
	Interrupt
	QuitIfEmpty
	Suspend
	Redraw
	Edit

	GammaUp
	GammaDown
	GammaAuto
	GammaRule
	TemperatureUp
	TemperatureDown
	TopK
	TopP
	MinP
	Seed
	Proposer
	Acceptance
	Speculate

	Pace
	PaceFaster
	PaceSlower
	Step
	StepBack
	RoundBack
	RoundForth
	TenthBack
	TenthForth
	RecordingStart
	RecordingEnd
	View
	Rejected
	Mouse
	Theme
	Picture
	Help
	HelpIfEmpty
	Tradeoff
	Race
	Demo
	Opening

	Regenerate
	EditLast
	CopyReply
	CopyChat
	NewChat
	OpenChat

	Left
	Right
	Up
	Down
	Inspect
	Top
	Bottom
	PageUp
	PageDown
)

// Binding ties keys to an action. Keys are spelled as Bubble Tea's Keystroke spells them.
type Binding struct {
	Focus  Focus
	Action Action
	Keys   []string
	Does   string
}

// section is a part of the table with its heading in the help.
type section struct {
	heading  string
	bindings []Binding
}

func sections() []section {
	return []section{
		{"Engine, also in mid-reply", engineKeys()},
		{"Screen and chat", screenKeys()},
		{"In the prompt", composeKeys()},
		{"In the reply (tab)", readKeys()},
	}
}

// Bindings returns the whole table, in the order in which help shows it.
func Bindings() []Binding {
	var all []Binding
	for _, s := range sections() {
		all = append(all, s.bindings...)
	}
	return all
}

func engineKeys() []Binding {
	return []Binding{
		{Everywhere, GammaUp, []string{"alt+up", "shift+up"}, "one more draft token a round (γ fixed)"},
		{Everywhere, GammaDown, []string{"alt+down", "shift+down"}, "one fewer draft token a round (γ fixed)"},
		{Everywhere, GammaAuto, []string{"alt+a"}, "let the measured cost choose γ"},
		{Everywhere, GammaRule, []string{"alt+g"}, "next γ rule: fixed, windowed, cost-aware"},
		{Everywhere, TemperatureUp, []string{"alt+right", "shift+right"}, "warmer by 0.1"},
		{Everywhere, TemperatureDown, []string{"alt+left", "shift+left"}, "colder by 0.1"},
		{Everywhere, TopK, []string{"alt+k"}, "next top-k: off, 10, 20, 40, 100"},
		{Everywhere, TopP, []string{"alt+n"}, "next top-p (nucleus): 1, 0.95, 0.9, 0.8"},
		{Everywhere, MinP, []string{"alt+m"}, "next min-p: off, 0.02, 0.05, 0.1"},
		{Everywhere, Seed, []string{"alt+r"}, "keep the seed of the last reply, or draw a new one each time"},
		{Everywhere, Proposer, []string{"alt+p"}, "next proposer that is available: auto, draft model, n-gram, suffix, combined, skip, …"},
		{Everywhere, Acceptance, []string{"alt+c"}, "next lossless rule of acceptance"},
		{Everywhere, Speculate, []string{"alt+s"}, "speculation on or off"},
	}
}

func screenKeys() []Binding {
	return []Binding{
		{Everywhere, Help, []string{"f1"}, "this help"},
		{Everywhere, Pace, []string{"f2"}, "next pace: full speed, slow, step by step"},
		{Everywhere, PaceFaster, []string{"alt+."}, "slow pace: more rounds a second"},
		{Everywhere, PaceSlower, []string{"alt+,"}, "slow pace: fewer rounds a second"},
		{Everywhere, View, []string{"f3", "ctrl+t"}, "colour tokens by their fate, or show plain text for reading"},
		{Everywhere, Rejected, []string{"f4"}, "show or hide rejected tokens in the text"},
		{Everywhere, Regenerate, []string{"f5"}, "write the last reply again"},
		{Everywhere, EditLast, []string{"f6"}, "take back the last message and edit it"},
		{Everywhere, CopyReply, []string{"f7"}, "copy the last reply"},
		{Everywhere, NewChat, []string{"f8"}, "start a new chat"},
		{Everywhere, OpenChat, []string{"f9"}, "open a saved chat"},
		{Everywhere, Tradeoff, []string{"alt+t"}, "the speed of each draft length, or the rounds again"},
		{Everywhere, Race, []string{"alt+v"}, "race: the last prompt with and without speculation, in two lanes"},
		{Everywhere, Demo, []string{"alt+e"}, "explain: a tour of five minutes that plays by itself"},
		{Everywhere, Opening, []string{"alt+o"}, "the built-in pair: the fast draft, or the one with refusals to watch"},
		{Everywhere, Mouse, []string{"f12"}, "give the mouse to the program, or back to the terminal to select text"},
		{Everywhere, Picture, []string{"ctrl+p"}, "write a picture of the screen to a file"},
		{Everywhere, PageUp, []string{"pgup"}, "scroll back"},
		{Everywhere, PageDown, []string{"pgdown"}, "scroll forward; at the end, follow the reply"},
		{Everywhere, Stop, []string{"esc"}, "stop the reply and keep what is written; close what is open"},
		{Everywhere, Interrupt, []string{"ctrl+c"}, "stop the reply; then clear the prompt; then, twice, quit"},
		{Everywhere, Suspend, []string{"ctrl+z"}, "suspend to the shell"},
		{Everywhere, Redraw, []string{"ctrl+l"}, "draw the screen anew"},
	}
}

func composeKeys() []Binding {
	return []Binding{
		{Compose, Send, []string{"enter"}, "send the prompt or run the /command"},
		{Compose, Newline, []string{"ctrl+j", "alt+enter", "shift+enter"}, "new line in the prompt"},
		{Compose, Complete, []string{"tab"}, "fill in a /command or, in a new chat, a question; otherwise move to the reply"},
		{Compose, ToTranscript, []string{"shift+tab"}, "move to the reply"},
		{Compose, HistoryBack, []string{"up"}, "on the first line: previous prompt; in the list of commands: the one above"},
		{Compose, HistoryForward, []string{"down"}, "on the last line: next prompt; in the list of commands: the one below"},
		{Compose, StepBack, []string{"backspace"}, "with an empty prompt: one step back, token by token; a reply being written pauses"},
		{Compose, Step, []string{"space"}, "with an empty prompt and pace step: next phase, token by token; after a step back: forward again"},
		{Compose, RoundBack, []string{"left"}, "in a recording: one round back, and on from there"},
		{Compose, RoundForth, []string{"right"}, "in a recording: to the end of the next round"},
		{Compose, TenthBack, []string{"ctrl+left"}, "in a recording: back by a tenth of its time"},
		{Compose, TenthForth, []string{"ctrl+right"}, "in a recording: forward by a tenth of its time"},
		{Compose, RecordingStart, []string{"home"}, "in a recording: to its start"},
		{Compose, RecordingEnd, []string{"end"}, "in a recording: to its end"},
		{Compose, HelpIfEmpty, []string{"?"}, "with an empty prompt: this help"},
		{Compose, QuitIfEmpty, []string{"ctrl+d"}, "with an empty prompt: quit"},
		{Editing, Edit, []string{"ctrl+a", "ctrl+e", "home", "end"}, "start, end of the line"},
		{Editing, Edit, []string{"alt+b", "alt+f", "ctrl+left", "ctrl+right"}, "word back, word forward"},
		{Editing, Edit, []string{"ctrl+w", "ctrl+u", "ctrl+k", "alt+d"}, "delete word back, to start, to end, word forward"},
	}
}

func readKeys() []Binding {
	return []Binding{
		{Read, ToComposer, []string{"tab", "shift+tab"}, "back to the prompt"},
		{Read, Left, []string{"left", "h"}, "previous token"},
		{Read, Right, []string{"right", "l"}, "next token"},
		{Read, Up, []string{"up", "k"}, "token above"},
		{Read, Down, []string{"down", "j"}, "token below"},
		{Read, Top, []string{"home", "g"}, "first token"},
		{Read, Bottom, []string{"end", "G"}, "last token, and follow the reply"},
		{Read, Inspect, []string{"enter", "i"}, "open or close the inspector"},
		{Read, StepBack, []string{"backspace"}, "one step back, token by token"},
		{Read, Step, []string{"space"}, "pace step: next phase, token by token; after a step back: forward again"},
		{Read, CopyReply, []string{"y"}, "copy this reply"},
		{Read, CopyChat, []string{"Y"}, "copy the whole chat"},
		{Read, Mouse, []string{"m"}, "mouse to the program, or to the terminal"},
		{Read, Theme, []string{"t"}, "next theme: auto, dark, light, mono"},
		{Read, Picture, []string{"p"}, "a picture of the screen"},
		{Read, Help, []string{"?"}, "this help"},
	}
}

// Map finds the action of a key. NewMap makes one; the zero value is not usable.
type Map struct {
	byFocus map[Focus]map[string]Action
}

// NewMap makes a Map from a table. It panics if a key has two actions in one place.
func NewMap(table []Binding) Map {
	m := Map{byFocus: map[Focus]map[string]Action{Compose: {}, Read: {}}}
	for _, b := range table {
		for _, k := range b.Keys {
			switch b.Focus {
			case Everywhere:
				m.bind(Compose, k, b.Action)
				m.bind(Read, k, b.Action)
			case Compose, Read:
				m.bind(b.Focus, k, b.Action)
			}
		}
	}
	return m
}

func (m Map) bind(f Focus, k string, a Action) {
	if _, twice := m.byFocus[f][k]; twice {
		panic("keys: " + k + " is bound twice in one place")
	}
	m.byFocus[f][k] = a
}

// Lookup returns the action of a keystroke while focus has the keyboard; None if it is not in the
// table.
func (m Map) Lookup(focus Focus, keystroke string) Action {
	return m.byFocus[focus][keystroke]
}
