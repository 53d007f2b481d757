package command_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"specula/engine/config"
	"specula/ui/command"
)

func ExampleParse() {
	call, err := command.Parse("/temp 0.8")
	fmt.Println(call.Command.Setting.Name, call.Value(), err)
	_, err = command.Parse("/gama 6")
	fmt.Println(err)
	// Output:
	// sampling.temperature 0.8 <nil>
	// there is no command /gama; did you mean /gamma?
}

func TestEverySpellingInUse(t *testing.T) {
	tests := []struct{ prompt, setting, value string }{
		{"/gamma 6", "speculation.gamma", "6"},
		{"/rule cost-aware", "speculation.gamma_rule", "cost-aware"},
		{"/gamma-rule fixed", "speculation.gamma_rule", "fixed"},
		{"/temperature 0", "sampling.temperature", "0"},
		{"/top-k 40", "sampling.top_k", "40"},
		{"/top_k 40", "sampling.top_k", "40"},
		{"/TOPP 0.9", "sampling.top_p", "0.9"},
		{"/min-p 0.05", "sampling.min_p", "0.05"},
		{"/proposer ngram", "speculation.proposer", "ngram"},
		{"/spec off", "speculation.enabled", "off"},
		{"/seed 7", "sampling.seed", "7"},
		{"/pace step", "ui.pace", "step"},
		{"/theme light", "ui.theme", "light"},
		{`/system ""`, "model.system", ""},
		{"/system  You are terse. ", "model.system", "You are terse."},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			call, err := command.Parse(tt.prompt)
			if err != nil || call.Command.Setting.Name != tt.setting || call.Value() != tt.value {
				t.Fatalf("got %q = %q (%v), want %q = %q", call.Command.Setting.Name, call.Value(), err, tt.setting, tt.value)
			}
			c := config.Default()
			if err := c.Set(call.Command.Setting.Name, call.Value()); err != nil {
				t.Errorf("config refuses it: %v", err)
			}
		})
	}
}

func TestNoNameMeansTwoCommands(t *testing.T) {
	owner := map[string]string{}
	for _, c := range command.Table() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if o, taken := owner[name]; taken {
				t.Errorf("/%s is both /%s and /%s", name, o, c.Name)
			}
			owner[name] = c.Name
		}
	}
}

func TestIs(t *testing.T) {
	for prompt, want := range map[string]bool{
		"/help": true, "/Temp 1": true, "/": false, "//": false, "/ x": false, "/usr/bin is a path": false, "what is /help": false, "": false, "/1": false,
	} {
		if command.Is(prompt) != want {
			t.Errorf("Is(%q) = %v, want %v", prompt, !want, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	var unknown *command.UnknownError
	if _, err := command.Parse("/xyzzyq"); !errors.As(err, &unknown) || unknown.Nearest != "" {
		t.Errorf("a word near nothing gave %v", err)
	}
	if _, err := command.Parse("/" + strings.Repeat("x", 1000)); err == nil || len(err.Error()) > 100 {
		t.Errorf("a long name must be cut in the error, got %v", err)
	}
}

func TestComplete(t *testing.T) {
	tests := []struct{ prompt, ways string }{
		{"/reg", "/regen|/regex "},
		{"/regen", "/regen"},
		{"/ga", "/gamma |/gammamax |/rule "},
		{"/gamma", "/gamma |/gammamax |/rule "}, // gamma-rule is another spelling
		{"/spec", "/speculate "},
		{"/top", "/topk |/topp "},
		{"/rule ", "/rule fixed|/rule windowed|/rule cost-aware"},
		{"/rule c", "/rule cost-aware"},
		{"/rule cost-aware", ""},
		{"/spec o", "/spec on|/spec off"},
		{"/temp 0.", ""},
		{"/nothing", ""},
		{"/plast", "/templast "},
		{"/twice", "/race "}, // a word of its explanation
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			var got []string
			for _, w := range command.Complete(tt.prompt).Ways {
				got = append(got, w.Prompt)
			}
			if strings.Join(got, "|") != tt.ways {
				t.Errorf("got %q, want %q", got, tt.ways)
			}
		})
	}
}

// Only a way without a missing argument is run at once.
func TestAWayIsReadyIfNothingIsMissing(t *testing.T) {
	for prompt, ready := range map[string]bool{"/regen": true, "/race": true, "/copy": true, "/export": false, "/temp": false, "/rule fix": true} {
		if w := command.Complete(prompt).Ways[0]; w.Ready != ready {
			t.Errorf("%s: %+v", prompt, w)
		}
	}
}

func FuzzComplete(f *testing.F) {
	for _, s := range []string{"/", "/temp 1", "/é", "/export md \x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) == 0 || s[0] != '/' {
			return
		}
		command.Complete(s)
		if command.Is(s) {
			_, _ = command.Parse(s)
		}
	})
}
