package chat

import (
	"strings"
	"testing"
)

func TestSplitThought(t *testing.T) {
	think, harmony := Marks{"<think>", "</think>"}, knownMarks[0]
	for _, c := range []struct {
		name                   string
		marks                  Marks
		reply, thought, answer string
		ok                     bool
	}{
		{"both marks", think, "<think>\na\n</think>\n\nb\n", "a", "b\n", true},
		{"the prompt opened it", think, "a\n</think>\nb", "a", "b", true},
		{"cut off while thinking", think, "\n<think>a b", "a b", "", true},
		{"empty thought", think, "<think>\n\n</think>\n\nb", "", "b", true},
		{"no thought", think, "just b", "", "just b", false},
		{"mark in the middle", think, "see <think> there", "", "see <think> there", false},
		{"no marks known", Marks{}, "<think>a</think>b", "", "<think>a</think>b", false},
		{"channels", harmony, "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "a", "b", true},
		{"final channel only", harmony, "<|channel|>final<|message|>b", "", "b", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			thought, answer, ok := c.marks.Split(c.reply)
			if thought != c.thought || answer != c.answer || ok != c.ok {
				t.Errorf("got %q, %q, %v, want %q, %q, %v", thought, answer, ok, c.thought, c.answer, c.ok)
			}
		})
	}
}

// A template gets the thought of an earlier reply in the field that it names, and leaves it out of
// the prompt if it wants to. Without such a field it gets the reply as it was.
func TestThoughtsStayOutOfTheNextTurn(t *testing.T) {
	talk := []Message{{"user", "a"}, {"assistant", "<think>\nsecret\n</think>\n\nb"}, {"user", "c"}}
	const loop = "{% for m in messages %}[{{ m.content }}]{% endfor %}"
	for _, c := range []struct{ name, source, want string }{
		{"its field, left out", "{# </think> #}{% if false %}{{ m.reasoning_content }}{% endif %}" + loop, "[a][b][c]"},
		{"its field, written", "{% for m in messages %}{{ '<think>' ~ m.thinking ~ '</think>' if m.thinking }}[{{ m.content }}]{% endfor %}", "[a]<think>secret</think>[b][c]"},
		{"splits by itself", "{% for m in messages %}[{{ m.content.split('</think>')[-1].strip() }}]{% endfor %}", "[a][b][c]"},
		{"does not think", loop, "[a][<think>\nsecret\n</think>\n\nb][c]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			template, err := Choose(Options{Source: c.source, Prefer: "file"})
			if err != nil {
				t.Fatal(err)
			}
			segments, err := template.Render(talk, true)
			if err != nil || plain(segments) != c.want {
				t.Errorf("got %q, %v, want %q", plain(segments), err, c.want)
			}
		})
	}
	qwen, err := Choose(Options{Source: goldens(t)["qwen3"].source})
	if err != nil {
		t.Fatal(err)
	}
	if segments, err := qwen.Render(talk, true); err != nil || strings.Contains(plain(segments), "secret") {
		t.Errorf("Qwen3 writes %q, %v; the thought should not be there", plain(segments), err)
	}
}

func TestThinkingIsSwitched(t *testing.T) {
	const budget = "{{ 'budget ' ~ thinking_budget if thinking_budget is defined }}"
	const effort = "{{ 'effort ' ~ (reasoning_effort if reasoning_effort in ['high', 'minimal'] else 'medium') }}"
	for _, c := range []struct{ name, source, how, want string }{
		{"Qwen3, off", goldens(t)["qwen3"].source, "off", "<think>\n\n</think>\n\n"},
		{"SmolLM3, off", goldens(t)["smollm3"].source, "off", "<think>\n\n</think>\n"},
		{"a budget", budget, "100", "budget 100"},
		{"no thoughts within a budget", budget, "off", "budget 0"},
		{"the least effort", effort, "off", "effort minimal"},
		{"the most effort", effort, "on", "effort high"},
		{"as the template wants", effort, "auto", "effort medium"},
		{"unknown budget", effort, "100", "allowed: auto, on, off"},
		{"unknown switch", "{{ messages[0].content }}", "off", "allowed: auto"},
		{"no number", budget, "much", `cannot be "much"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			template, err := Choose(Options{Source: c.source, Prefer: "file"})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if switched, err := template.Think(c.how); err != nil {
				got = err.Error()
			} else if segments, err := switched.Render([]Message{{"user", "Why?"}}, true); err != nil {
				t.Fatal(err)
			} else {
				got = plain(segments)
			}
			if !strings.HasSuffix(got, c.want) && !(strings.HasPrefix(got, "chat: ") && strings.Contains(got, c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
