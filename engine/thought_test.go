package engine

import (
	"strings"
	"testing"

	"specula/tokenizer/chat"
)

// spelling decodes ids as the words of a list. Words in angle brackets are control tokens, which
// have no text.
type spelling []string

func (s spelling) Next(id int32) string {
	if s.control(id) != "" {
		return ""
	}
	return s[id]
}

func (s spelling) Flush() string { return "" }

func (s spelling) control(id int32) string {
	if strings.HasPrefix(s[id], "<") && strings.HasSuffix(s[id], ">") {
		return s[id]
	}
	return ""
}

// Each token is told as thought or answer, also where the prompt has opened a thought. The tokens of a mark count as
// thought, except those that only begin an opening mark. The text has the marks and in harmony what begins and ends a
// message, but no other control token.
func TestThoughtsAreToldFromTheAnswer(t *testing.T) {
	think := chat.Marks{Open: "<think>", Close: "</think>"}
	harmony := chat.Marks{Open: "<|channel|>analysis<|message|>", Close: "<|channel|>final<|message|>"}
	for _, c := range []struct {
		name   string
		marks  chat.Marks
		prompt string
		words  spelling
		want   string // t for a token of a thought, a for one of the answer
		text   string
	}{
		{"tokens", think, "", spelling{"<think>", "a", "</think>", "b", "<|eot|>"}, "tttaa", "<think>a</think>b"},
		{"several tokens for a mark", think, "", spelling{"<th", "ink>\n", "a</", "think>b", "c"}, "attta", "<think>\na</think>bc"},
		{"opened by the prompt", think, "<|user|>x<think>\n", spelling{"a", "</think>", "b"}, "tta", "a</think>b"},
		{"closed by the prompt", think, "<think>\n\n</think>\n\n", spelling{"a", "b"}, "aa", "ab"},
		{"channels", harmony, "<|start|>assistant", spelling{"<|channel|>", "analysis", "<|message|>", "a", "<|end|>", "<|start|>", "assistant",
			"<|channel|>", "final", "<|message|>", "b"}, "tttttttttta", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b"},
		{"no marks", chat.Marks{}, "<think>", spelling{"<think>", "a", "</think>"}, "aaa", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newText(c.words, nil)
			x.think(c.marks, c.prompt, c.words.control)
			var told strings.Builder
			for id := range c.words {
				before := x.thought
				x.next(int32(id))
				told.WriteString(map[bool]string{true: "t", false: "a"}[before || x.thought])
			}
			x.flush()
			if told.String() != c.want || x.String() != c.text {
				t.Errorf("told %s, text %q", told.String(), x.String())
			}
		})
	}
}
