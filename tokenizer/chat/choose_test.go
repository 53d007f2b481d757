package chat

import (
	"strings"
	"testing"
)

func TestTheNameSaysWhichTemplateAndWhy(t *testing.T) {
	goldens := goldens(t)
	chatML, own := goldens["chatml"].source, goldens["phi-3-mini"].source
	for _, c := range []struct {
		name     string
		options  Options
		want     []string // parts of Name, or of the error if the first is "error"
		wantFile bool     // Source is the file's
	}{
		{"same text as a family", Options{Source: chatML}, []string{"built-in ChatML", "same text", fingerprint(chatML)}, false},
		{"same text, file insisted on", Options{Source: chatML, Prefer: "file"}, []string{"the file's own", fingerprint(chatML), "as configured"}, true},
		{"another text", Options{Source: own, Prefer: "auto"}, []string{"the file's own", fingerprint(own)}, true},
		{"family insisted on", Options{Source: own, Prefer: "mistral"}, []string{"built-in Mistral", "as configured"}, false},
		{"no template", Options{Specials: []string{"<|start_header_id|>"}}, []string{"built-in Llama-3", "no template", "<|start_header_id|>"}, false},
		{"no template, SentencePiece", Options{EOS: "</s>"}, []string{"built-in Llama-2", "</s>"}, false},
		{"nothing known", Options{Source: " \n"}, []string{"built-in ChatML", "mere guess"}, false},
		{"refused by a rule", Options{Source: "{% include '/etc/passwd' %}", Specials: []string{"[INST]"}}, []string{"built-in Mistral", "another file", "[INST]"}, false},
		{"refused by a limit", Options{Source: "{{ 'a' * 1000000000 }}"}, []string{"built-in ChatML", "MiB", "cannot be used"}, false},
		{"refuses every conversation", Options{Source: "{{ raise_exception('never') }}"}, []string{"built-in ChatML", "never"}, false},
		{"refused, file insisted on", Options{Source: "{{ 1 % 0 }}", Prefer: "file"}, []string{"error", "zero", "choose another"}, false},
		{"no template, file insisted on", Options{Prefer: "file"}, []string{"error", "has none"}, false},
		{"unknown name", Options{Prefer: "chatlm"}, []string{"error", "chatlm", "auto, file, chatml, llama3, mistral, gemma, llama2"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			template, err := Choose(c.options)
			if c.want[0] == "error" {
				for _, words := range c.want[1:] {
					if err == nil || !strings.Contains(err.Error(), words) {
						t.Errorf("error %v does not say %q", err, words)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if guess := strings.Contains(template.Name(), "guess"); template.Guessed() != guess {
				t.Errorf("%q: guessed %v, want %v as the name says", template.Name(), template.Guessed(), guess)
			}
			for _, words := range c.want {
				if !strings.Contains(template.Name(), words) {
					t.Errorf("name %q does not say %q", template.Name(), words)
				}
			}
			if got := template.Source() == c.options.Source && template.Source() != ""; got != c.wantFile {
				t.Errorf("source %q: the file's is %v, want %v", template.Source(), got, c.wantFile)
			}
		})
	}
}

// A format that needs alternating roles says what to do about other roles.
func TestRolesMustAlternate(t *testing.T) {
	for _, key := range []string{"mistral", "llama2"} {
		template, err := Choose(Options{Prefer: key})
		if err != nil {
			t.Fatal(err)
		}
		for want, messages := range map[string][]Message{
			"needs a message": {{"system", "s"}},
			`message 3 has role "user" where "assistant" is due`: {{"system", "s"}, {"user", "a"}, {"user", "b"}},
			`message 1 has role "assistant" where "user" is due`: {{"assistant", "a"}},
			`message 3 has role "tool"`:                          {{"user", "a"}, {"assistant", "b"}, {"tool", "c"}},
		} {
			if _, err := template.Render(messages, true); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v does not say %q", key, err, want)
			}
		}
	}
}
