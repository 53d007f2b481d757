package ui

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/keys"
)

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
	s.press("f4 f4") // all, then none
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
