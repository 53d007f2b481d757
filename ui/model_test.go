package ui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/chats"
	"specula/ui/dialog"
	"specula/ui/keys"
	"specula/ui/pace"
)

// screen drives a Model without Bubble Tea: it presses keys, runs commands to their end, and waits for
// replies.
type screen struct {
	t      *testing.T
	m      *Model
	engine *scripted
	said   []string // what commands copied to the clipboard or asked of Bubble Tea
	quit   bool
}

// open returns a screen of 120×36 with a scripted engine that is ready, at full speed.
func open(t *testing.T, change func(*Options)) *screen {
	t.Helper()
	c := config.Default()
	c.UI.Pace, c.UI.Theme = "full", "dark"
	engine := newScripted(c, 12)
	o := Options{
		Config: c, Environ: []string{"TERM=xterm-256color"}, Tag: 1,
		Now:    func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		Chats:  chats.NewStore(filepath.Join(t.TempDir(), "chats")),
		Folder: t.TempDir(),
		Load: func(_ context.Context, emit func(event.Event)) (Engine, error) {
			emit(engine.ready())
			return engine, nil
		},
	}
	if change != nil {
		change(&o)
	}
	o.tick = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	o.complete()
	s := &screen{t: t, m: newModel(t.Context(), o, &guard{}), engine: engine}
	t.Cleanup(func() { s.m.stop(); s.m.guard.running.Wait() })
	s.m.Init()
	s.m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	s.settle()
	return s
}

// settle waits for all goroutines and shows their events.
func (s *screen) settle() {
	s.m.guard.running.Wait()
	s.show()
}

// show applies the events in the ring.
func (s *screen) show() {
	s.update(frameMsg{})
}

func (s *screen) update(msg tea.Msg) {
	if _, frame := msg.(frameMsg); frame { // its command waits for the next frame; tests call show instead
		s.m.stale = true
		s.do(s.m.take())
		return
	}
	_, cmd := s.m.Update(msg)
	s.do(cmd)
}

// do runs a command to its end.
func (s *screen) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.do(c)
		}
	case tea.QuitMsg:
		s.quit = true
	case noteMsg, formSet, chatList, scriptRead, opened, notSaved, renamed, dialog.Chosen:
		s.update(msg)
	default:
		s.said = append(s.said, fmt.Sprint(msg))
	}
}

var keyNames = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "space": {Code: ' ', Text: " "},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"f1": {Code: tea.KeyF1}, "f2": {Code: tea.KeyF2}, "f3": {Code: tea.KeyF3}, "f4": {Code: tea.KeyF4}, "f5": {Code: tea.KeyF5},
	"f6": {Code: tea.KeyF6}, "f7": {Code: tea.KeyF7}, "f8": {Code: tea.KeyF8}, "f9": {Code: tea.KeyF9}, "f12": {Code: tea.KeyF12},
}

// key spells a key press: "enter", "ctrl+c", "alt+up", "x".
func key(name string) tea.KeyPressMsg {
	mod := tea.KeyMod(0)
	for prefix, m := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			mod, name = m, rest
		}
	}
	k, ok := keyNames[name]
	if !ok {
		r := []rune(name)[0]
		k = tea.KeyPressMsg{Code: r, Text: name}
	}
	if mod != 0 {
		k.Mod, k.Text = mod, ""
	}
	return k
}

// press presses keys, separated by spaces.
func (s *screen) press(names string) {
	for _, n := range strings.Fields(names) {
		s.update(key(n))
	}
}

// ask types a line, sends it and waits until all is done.
func (s *screen) ask(line string) {
	s.begin(line)
	s.settle()
}

// begin types a line and sends it, without waiting.
func (s *screen) begin(line string) {
	for _, r := range line {
		s.update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.press("enter")
}

func (s *screen) text() string { return ansi.Strip(s.m.View().Content) }

func (s *screen) mustShow(text string) {
	s.t.Helper()
	if !strings.Contains(s.text(), text) {
		s.t.Fatalf("the screen does not show %q:\n%s", text, s.text())
	}
}

func (s *screen) mustNotShow(text string) {
	s.t.Helper()
	if strings.Contains(s.text(), text) {
		s.t.Fatalf("the screen shows %q:\n%s", text, s.text())
	}
}

func TestTheFirstFrameDoesNotWaitForModels(t *testing.T) {
	release := make(chan struct{})
	c := config.Default()
	o := Options{Config: c, Load: func(_ context.Context, emit func(event.Event)) (Engine, error) {
		emit(event.Loading{What: "target", Name: "big.gguf", DoneBytes: 1, TotalBytes: 4})
		<-release
		return newScripted(c, 1), nil
	}}
	o.complete()
	m := newModel(t.Context(), o, &guard{})
	m.Init()
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	if got := ansi.Strip(m.View().Content); !strings.Contains(got, "The models are being read") {
		t.Errorf("the first frame shows:\n%s", got)
	}
	m.Update(key("h"))
	m.Update(key("enter"))
	if got := ansi.Strip(m.View().Content); !strings.Contains(got, "still being read") || m.composer.Value() != "h" {
		t.Errorf("a prompt sent too early must stay and say why:\n%s", got)
	}
	close(release)
	m.guard.running.Wait()
	m.Update(frameMsg{})
	m.guard.running.Wait()
	m.Update(frameMsg{})
	if m.composer.Value() != "" || len(m.state.Messages) != 2 || m.state.Messages[0].Raw != "h" {
		t.Errorf("the prompt was not sent when the models were there: %q in the composer, %d messages", m.composer.Value(), len(m.state.Messages))
	}
}

func TestAFailedLoadEndsTheProgramWithItsError(t *testing.T) {
	broken := errors.New("model.gguf: tensor 3 lies outside of the file")
	s := open(t, func(o *Options) {
		o.Load = func(context.Context, func(event.Event)) (Engine, error) { return nil, broken }
	})
	if !s.quit || !errors.Is(s.m.close(func() {}), broken) {
		t.Errorf("quit %v, want the error of loading", s.quit)
	}
}

// The screen shows what was assumed about a file, in full even in a small window.
func TestAssumptionsAboutFilesAreShown(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 36}, {Width: 200, Height: 50}} {
		s := open(t, func(o *Options) {
			load := o.Load
			o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
				return load(ctx, func(e event.Event) {
					if r, ok := e.(event.Ready); ok {
						r.DraftRefused, r.Draft = "no draft model was asked for", nil
						r.Warnings = []event.Warning{
							{About: "template", Text: "a guess: built-in ChatML: the file's own template (sha256 23cfe44bb2c7…) cannot be used " +
								"(line 1: Unbalanced parenthesis, near \"(\"\x1b[2J); guessed because the vocabulary has <|im_start|>",
								Do: "if replies look wrong, choose another by --template: chatml, llama3, mistral, gemma, llama2"},
							{About: "tokenizer", Text: "the target's file does not say which pre-tokenizer it needs, so gpt-2 is assumed", Do: "download a newer conversion"},
						}
						e = r
					}
					emit(e)
				})
			}
		})
		s.update(size)
		s.show()
		words := strings.Join(strings.Fields(s.text()), " ")
		for _, text := range []string{
			"template: a guess: built-in ChatML: the file's own template (sha256 23cfe44bb2c7…) cannot be used", "guessed because the vocabulary has <|im_start|>",
			"choose another by --template: chatml, llama3, mistral, gemma, llama2", "tokenizer: the target's file", "download a newer conversion",
		} {
			if !strings.Contains(words, text) {
				t.Errorf("%d×%d: the screen does not show %q:\n%s", size.Width, size.Height, text, s.text())
			}
		}
		// The message goes after a while. The note in the welcome text stays.
		s.update(flashOver{s.m.flashID})
		s.show()
		s.mustNotShow("choose another by")
		s.mustShow("Assumed about the model's file: template, tokenizer (specula doctor)")
	}
}

func TestAReplyIsShownSavedAndRemembered(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.mustShow("hello")
	s.mustShow("Speculative decoding lets wrong3 a small wrong1 model guess")
	s.press("f4")
	s.mustShow("Speculative decoding lets a small model guess")
	s.ask("again")
	if got := s.engine.asked[1]; len(got) != 3 || got[0] != (engine.Message{Role: "user", Content: "hello"}) || got[1].Role != "assistant" ||
		!strings.HasPrefix(got[1].Content, "Speculative decoding") || got[2] != (engine.Message{Role: "user", Content: "again"}) {
		t.Errorf("the second request holds %q", got)
	}
	list, _, err := s.m.options.Chats.List()
	if err != nil || len(list) != 1 || list[0].Title != "hello" {
		t.Fatalf("saved chats: %+v, %v", list, err)
	}
	s.press("f8")
	s.mustNotShow("Speculative decoding lets")
	s.press("f9")
	s.mustShow("Saved chats: 1")
	s.press("enter")
	s.mustShow("Speculative decoding lets")
	s.ask("third")
	if n := len(s.engine.asked[2]); n != 5 {
		t.Errorf("a request in a reopened chat holds %d messages, want 5", n)
	}
	c, err := s.m.options.Chats.Open(list[0].ID)
	if err != nil || len(c.Turns) != 6 || c.Turns[1].Totals == nil || c.Turns[1].Reason != "stop" {
		t.Errorf("the reopened chat was saved as %+v, %v", c.Turns, err)
	}
}

func TestSlashCommands(t *testing.T) {
	tests := []struct {
		line, shows string
		setting     string // what it must be afterwards
		value       string
	}{
		{"/gamma 6", "γ 6, rule fixed", "speculation.gamma", "6"},
		{"/gamma 6", "γ 6, rule fixed", "speculation.gamma_rule", "fixed"},
		{"/gamma 99", "/gamma takes an integer from 0 to 32, not 99", "speculation.gamma_rule", "cost-aware"},
		{"/rule fixed", "rule fixed", "speculation.gamma_rule", "fixed"},
		{"/temp 1.25", "temp 1.25", "sampling.temperature", "1.25"},
		{"/temp 9", "/temp takes a number from 0 to 5, not 9", "sampling.temperature", "0.7"},
		{"/temp", "temp is 0.7", "sampling.temperature", "0.7"},
		{"/top-k 40", "topk 40", "sampling.top_k", "40"},
		{"/top-p 0.9", "topp 0.9", "sampling.top_p", "0.9"},
		{"/min-p 0.1", "minp 0.1", "sampling.min_p", "0.1"},
		{"/proposer ngram", "proposer ngram", "speculation.proposer", "ngram"},
		{"/proposer eagle", "eagle cannot draft, so rounds are plain: no heads", "speculation.proposer", "eagle"},
		{"/spec off", "speculate false", "speculation.enabled", "false"},
		{"/seed 42", "seed 42", "sampling.seed", "42"},
		{"/system Be brief.", "system Be brief.", "model.system", "Be brief."},
		{"/pace slow", "pace: slow 2/s", "", ""},
		{"/theme light", "theme light", "", ""},
		{"/regen", "there is no reply yet", "", ""},
		{"/edit", "there is no message yet", "", ""},
		{"/copy", "there is no reply yet", "", ""},
		{"/save", "there is nothing to save", "", ""},
		{"/export", "/export FILE, or /export FORMAT: html", "", ""},
		{"/gama 6", "did you mean /gamma?", "speculation.gamma", "4"},
		{"/help", "Engine, also in mid-reply", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			s := open(t, nil)
			s.ask(tt.line)
			s.mustShow(tt.shows)
			if c := s.engine.Settings(); tt.setting != "" {
				if got, err := c.Get(tt.setting); err != nil || got != tt.value {
					t.Errorf("%s is %q (%v), want %q", tt.setting, got, err, tt.value)
				}
			}
			if len(s.engine.asked) != 0 {
				t.Errorf("the command was sent as a prompt: %q", s.engine.asked)
			}
		})
	}
}

func TestLiveKeys(t *testing.T) {
	tests := []struct{ keys, setting, value string }{
		{"alt+up", "speculation.gamma", "5"},
		{"alt+up", "speculation.gamma_rule", "fixed"},
		{"alt+down alt+down alt+down alt+down alt+down alt+down", "speculation.gamma", "0"},
		{"alt+up alt+up alt+up alt+up alt+up alt+up alt+up", "speculation.gamma", "8"},
		{"alt+up alt+a", "speculation.gamma_rule", "cost-aware"},
		{"alt+g", "speculation.gamma_rule", "fixed"},
		{"alt+g alt+g", "speculation.gamma_rule", "windowed"},
		{"alt+right", "sampling.temperature", "0.8"},
		{"alt+left alt+left", "sampling.temperature", "0.5"},
		{"alt+left alt+left alt+left alt+left alt+left alt+left alt+left alt+left", "sampling.temperature", "0"},
		{"alt+k", "sampling.top_k", "10"},
		{"alt+n alt+n", "sampling.top_p", "0.9"},
		{"alt+m", "sampling.min_p", "0.02"},
		{"alt+p", "speculation.proposer", "ngram"},
		{"alt+p alt+p", "speculation.proposer", "suffix"},
		{"alt+p alt+p alt+p", "speculation.proposer", "auto"}, // eagle is unavailable
		{"alt+s", "speculation.enabled", "false"},
	}
	for _, tt := range tests {
		t.Run(tt.keys, func(t *testing.T) {
			s := open(t, nil)
			s.press(tt.keys)
			c := s.engine.Settings()
			if got, err := c.Get(tt.setting); err != nil || got != tt.value {
				t.Errorf("%s is %q (%v), want %q", tt.setting, got, err, tt.value)
			}
		})
	}
}

func TestTheSeedKeyKeepsTheSeedOfTheLastReply(t *testing.T) {
	s := open(t, nil)
	seed := func() int64 { c := s.engine.Settings(); return c.Sampling.Seed }
	s.press("alt+r")
	if seed() != -1 {
		t.Errorf("before any reply there is no seed to keep, got %d", seed())
	}
	s.ask("hello")
	s.press("alt+r")
	if seed() != 7 {
		t.Errorf("seed %d, want the 7 of the reply", seed())
	}
	s.press("alt+r")
	if seed() != -1 {
		t.Errorf("seed %d, want a new one each time", seed())
	}
}

// stepping returns a screen with a reply that waits for a key.
func stepping(t *testing.T) *screen {
	s := open(t, func(o *Options) { o.Config.UI.Pace = "step" })
	s.begin("hello")
	s.until("the draft", func() bool { return s.m.state.Pending != nil })
	return s
}

// until shows events until a condition holds.
func (s *screen) until(what string, ok func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for !ok() {
		if !s.m.pump.Wait(ctx) {
			s.t.Fatalf("waited in vain for %s:\n%s", what, s.text())
		}
		s.show()
	}
}

func TestStoppingKeepsWhatIsWritten(t *testing.T) {
	for _, k := range []string{"esc", "ctrl+c"} {
		t.Run(k, func(t *testing.T) {
			s := stepping(t)
			s.press("space")
			s.until("the verdict", func() bool { return s.m.state.Pending == nil })
			s.press("space space space space") // to the last token of the round
			s.press(k)
			s.settle()
			if s.m.busy() || s.quit {
				t.Fatalf("busy %v, quit %v after %s", s.m.busy(), s.quit, k)
			}
			s.mustShow("Speculative decoding lets wrong3 a")
			s.press("f2 f2") // from step to full to slow
			s.m.pacer.Set(pace.Full, 1)
			s.ask("go on")
			if got := s.engine.asked[1][1].Content; got != "Speculative decoding lets a " {
				t.Errorf("the partial reply went on as %q", got)
			}
		})
	}
}

func TestCtrlCStopsClearsAndThenQuits(t *testing.T) {
	s := open(t, nil)
	s.press("x ctrl+c")
	if s.m.composer.Value() != "" || s.quit {
		t.Errorf("the first ctrl+c must clear the prompt %q, quit %v", s.m.composer.Value(), s.quit)
	}
	s.press("ctrl+c")
	s.mustShow("ctrl+c again quits")
	s.press("y ctrl+c ctrl+c")
	if s.quit {
		t.Error("another key in between must disarm quitting")
	}
	s.press("ctrl+c")
	if !s.quit {
		t.Error("the second ctrl+c on an empty prompt must quit")
	}
}

func TestCtrlDQuitsOnlyWithAnEmptyPrompt(t *testing.T) {
	s := open(t, nil)
	s.press("x ctrl+d")
	if s.quit {
		t.Error("ctrl+d with a prompt must not quit")
	}
	s.press("ctrl+u ctrl+d")
	if !s.quit {
		t.Error("ctrl+d with an empty prompt must quit")
	}
}

func TestSendingWhileAReplyIsWrittenKeepsThePrompt(t *testing.T) {
	s := stepping(t)
	s.press("n e x t enter")
	s.mustShow("esc stops it")
	if s.m.composer.Value() != "next" {
		t.Errorf("the prompt is %q", s.m.composer.Value())
	}
}

func TestAPasteNeverSends(t *testing.T) {
	s := open(t, nil)
	s.update(tea.PasteMsg{Content: "one\ntwo\n/quit\n"})
	s.settle()
	if len(s.engine.asked) != 0 || s.quit || s.m.composer.Value() != "one\ntwo\n/quit\n" {
		t.Errorf("asked %q, quit %v, prompt %q", s.engine.asked, s.quit, s.m.composer.Value())
	}
}

func TestRegenerate(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.press("f5")
	s.settle()
	if got := s.engine.asked; len(got) != 2 || len(got[1]) != 1 || got[1][0] != (engine.Message{Role: "user", Content: "hello"}) {
		t.Errorf("asked %q", got)
	}
	if n := len(s.m.state.Messages); n != 2 {
		t.Errorf("the chat has %d messages, want 2", n)
	}
}

func TestRegenerateInMidReplyStopsItFirst(t *testing.T) {
	s := stepping(t)
	s.m.pacer.Set(pace.Step, 1)
	s.press("f5")
	s.until("the second reply", func() bool { return s.engine.number() == 2 && s.m.state.Pending != nil })
	if n := len(s.m.state.Messages); n != 2 {
		t.Errorf("the chat has %d messages, want 2", n)
	}
}

func (s *scripted) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replies
}

func TestEditTheLastMessage(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.press("f6")
	if s.m.composer.Value() != "hello" || len(s.m.state.Messages) != 2 {
		t.Fatalf("prompt %q, %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
	s.press("esc")
	if s.m.composer.Value() != "" || len(s.m.state.Messages) != 2 {
		t.Fatalf("esc must leave everything as it was: prompt %q, %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
	s.press("f6 !")
	s.ask("")
	if got := s.engine.asked[1]; len(got) != 1 || got[0].Content != "hello!" || len(s.m.state.Messages) != 2 {
		t.Errorf("asked %q, %d messages", got, len(s.m.state.Messages))
	}
}

func TestCopyIsSafeText(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.m.state.Messages[1].Raw = "a\x1b]52;c;AA==\x07b"
	s.said = nil
	s.press("f7")
	if len(s.said) != 1 || s.said[0] != "ab" {
		t.Errorf("copied %q, want the text without its escape sequence", s.said)
	}
	s.m.state.Messages[1].Raw = "if x {\n\treturn می\u200cخواهم\n}"
	s.said = nil
	s.press("f7")
	if len(s.said) != 1 || s.said[0] != s.m.state.Messages[1].Raw {
		t.Errorf("copied %q, want tabs and joiners as they are", s.said)
	}
	s.said = nil
	s.ask("/copy chat")
	if len(s.said) != 1 || !strings.Contains(s.said[0], "## You\n\nhello") || !strings.Contains(s.said[0], "\n\treturn") {
		t.Errorf("copied %q, want the chat as Markdown", s.said)
	}
}

func TestExport(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	path := filepath.Join(t.TempDir(), "chat.md")
	s.ask("/export md " + path)
	s.mustShow("exported to")
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "## Model") {
		t.Errorf("exported %q, %v", text, err)
	}
	s.ask("/export md " + path)
	s.mustShow("exporting: open")
}

func TestARefusedPromptComesBack(t *testing.T) {
	s := open(t, nil)
	s.engine.refuses = "much too long"
	s.ask("much too long")
	s.mustShow("the context holds 2,048")
	if s.m.composer.Value() != "much too long" || len(s.m.state.Messages) != 0 {
		t.Errorf("the prompt is %q, the chat has %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
	if list, _, err := s.m.options.Chats.List(); len(list) != 0 || err != nil {
		t.Errorf("the refused prompt was saved: %+v, %v", list, err)
	}
	s.press("ctrl+u")
	s.ask("hello")
	if got := s.engine.asked[1]; len(got) != 1 || got[0] != (engine.Message{Role: "user", Content: "hello"}) {
		t.Errorf("after the refused prompt the engine was asked %q", got)
	}

	// A prompt that the user typed in the meantime stays.
	for _, r := range "much too long" {
		s.update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.press("enter n e x t")
	s.settle()
	s.mustShow("the context holds 2,048")
	if s.m.composer.Value() != "next" || len(s.m.state.Messages) != 2 {
		t.Errorf("the prompt is %q, the chat has %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
}

func TestARefusalKeepsWhatWasToBeReplaced(t *testing.T) {
	tests := []struct {
		name, keys, composer string
	}{
		{"written again", "f5", ""},
		{"edited", "f6 ! enter", "hello!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, nil)
			s.ask("hello")
			reply := s.m.state.Messages[1].Raw
			s.engine.refuses = "hello"
			s.press(tt.keys)
			s.settle()
			if got := s.m.state.Messages; len(got) != 2 || got[0].Raw != "hello" || got[1].Raw != reply {
				t.Errorf("the chat has %d messages, want the exchange as it was", len(got))
			}
			if s.m.composer.Value() != tt.composer || s.m.editing != (tt.composer != "") {
				t.Errorf("the prompt is %q, editing %v", s.m.composer.Value(), s.m.editing)
			}
		})
	}
}

func TestTokenCursor(t *testing.T) {
	s := open(t, nil)
	s.press("shift+tab")
	s.mustShow("there is no token to look at yet")
	s.ask("hello")
	s.press("tab")
	if s.m.focus != keys.Read {
		t.Fatal("tab must give the keyboard to the reply")
	}
	newest := s.m.cursor
	s.press("left left enter")
	if s.m.cursor == newest || !s.m.inspector {
		t.Errorf("the cursor is at %+v, inspector %v", s.m.cursor, s.m.inspector)
	}
	s.mustShow("p/q")
	s.press("right right right")
	if s.m.cursor != newest {
		t.Errorf("the cursor is at %+v, want the end %+v", s.m.cursor, newest)
	}
	s.press("home")
	if tok, _ := s.m.state.Token(s.m.cursor); tok == nil || tok.Text != "Speculative " {
		t.Errorf("home is on %+v", tok)
	}
	s.press("esc esc")
	if s.m.focus != keys.Compose || s.m.inspector {
		t.Error("esc must close the inspector and then go back to the prompt")
	}
}

func TestRejectedTokensAreReachableWhereTheyAreShown(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	reach := func() int {
		n := 0
		s.press("tab home")
		for at := s.m.cursor; ; at = s.m.cursor {
			if tok, _ := s.m.state.Token(at); tok != nil && tok.Fate == event.Rejected {
				n++
			}
			s.press("right")
			if s.m.cursor == at {
				break
			}
		}
		s.press("esc")
		return n
	}
	first := reach()
	s.ask("hello")
	newest := reach()
	s.press("f4")
	never := reach()
	s.press("f4")
	all := reach()
	if first < 5 || newest < 5 || all != first+newest || never != 0 {
		t.Errorf("rejected tokens under the cursor: first reply %d, then newest reply %d, all %d, hidden %d", first, newest, all, never)
	}
}

func TestMouse(t *testing.T) {
	s := open(t, nil)
	if s.m.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse must be the terminal's until it is asked for")
	}
	s.press("f12")
	if s.m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("f12 must capture the mouse")
	}
	s.ask("hello")
	s.m.View()
	row := 0
	for i, l := range strings.Split(s.text(), "\n") {
		if strings.Contains(l, "Speculative") {
			row = i
			break
		}
	}
	click := tea.MouseClickMsg{X: 5, Y: row, Button: tea.MouseLeft}
	s.update(click)
	if tok, _ := s.m.state.Token(s.m.cursor); tok == nil || tok.Text != "Speculative " {
		t.Fatalf("a click selected %+v", tok)
	}
	s.update(click)
	if !s.m.inspector {
		t.Error("a second click must open the inspector")
	}
	s.update(tea.MouseClickMsg{X: 5, Y: s.m.rects.Composer.Y, Button: tea.MouseLeft})
	if s.m.focus != keys.Compose {
		t.Error("a click into the prompt must give it the keyboard")
	}
}

func TestNoColor(t *testing.T) {
	tests := []struct {
		env, flag string
		mono      bool
	}{
		{"NO_COLOR=", "auto", false}, {"NO_COLOR=1", "auto", true}, {"NO_COLOR=yes", "auto", true}, {"NO_COLOR=0", "auto", true},
		{"NO_COLOR=1", "always", false}, {"X=1", "never", true}, {"X=1", "auto", false},
	}
	for _, tt := range tests {
		s := open(t, func(o *Options) { o.Environ, o.Color = []string{tt.env}, tt.flag })
		s.ask("hello")
		if got := strings.Contains(s.m.View().Content, "38;2;"); got == tt.mono {
			t.Errorf("%s with --color %s: colour %v", tt.env, tt.flag, got)
		}
	}
}

func TestTheThemeFollowsTheTerminal(t *testing.T) {
	s := open(t, func(o *Options) { o.Config.UI.Theme = "auto" })
	for _, tt := range []struct {
		background tea.BackgroundColorMsg
		want       string
	}{{tea.BackgroundColorMsg{Color: ansi.White}, "light"}, {tea.BackgroundColorMsg{Color: ansi.Black}, "dark"}} {
		s.update(tt.background)
		if s.m.theme.Name != tt.want {
			t.Errorf("theme %s, want %s", s.m.theme.Name, tt.want)
		}
	}
}

// TestNothingBreaksTheScreen presses random keys in windows of random sizes. Every line must be as wide
// as the window.
func TestNothingBreaksTheScreen(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var names []string
	for _, b := range keys.Bindings() {
		for _, k := range b.Keys {
			if k != "ctrl+z" {
				names = append(names, k)
			}
		}
	}
	names = append(names, "/", "t", "a", "é", "漢")
	s := open(t, func(o *Options) { o.Config.UI.Mouse = true })
	for i := range 3000 {
		switch random.IntN(12) {
		case 0:
			s.update(tea.WindowSizeMsg{Width: random.IntN(310), Height: random.IntN(90)})
		case 1:
			s.update(tea.PasteMsg{Content: "a\n漢字\u202e"})
		case 2:
			s.update(tea.MouseClickMsg{X: random.IntN(300), Y: random.IntN(80), Button: tea.MouseLeft})
		case 3:
			s.show()
		default:
			s.press(names[random.IntN(len(names))])
		}
		w, h := s.m.size.w, s.m.size.h
		content := s.m.View().Content
		if w == 0 || h == 0 {
			continue
		}
		lines := strings.Split(content, "\n")
		if len(lines) != h {
			t.Fatalf("step %d: %d lines in a window of %d×%d", i, len(lines), w, h)
		}
		for _, l := range lines {
			if got := ansi.StringWidth(l); got != w {
				t.Fatalf("step %d: a line of %d cells in a window of %d×%d: %q", i, got, w, h, l)
			}
		}
	}
}

func TestAnUnchangedScreenIsNotDrawnAgain(t *testing.T) {
	s := open(t, nil)
	before := s.m.View().Content
	s.m.state.Messages = nil
	s.m.theme = nil // drawing would panic now
	s.m.Update(struct{}{})
	if s.m.View().Content != before {
		t.Error("a message that changes nothing drew the screen")
	}
}

func TestAPanicIsCaught(t *testing.T) {
	alarms := 0
	g := &guard{alarm: func() { alarms++ }}
	g.Go("one", func() { panic("first") })
	g.running.Wait()
	g.Go("two", func() { panic("second") })
	g.running.Wait()
	caught, stack := g.caught()
	if caught == nil || caught.Error() != "internal error in one: first" || alarms != 1 || !strings.Contains(string(stack), "model_test.go") {
		t.Errorf("caught %v with %d alarms and stack %.200s", caught, alarms, stack)
	}
}
