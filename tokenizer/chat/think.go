package chat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"specula/tokenizer/chat/jinja"
)

// Marks are the texts around a model's thought, which it writes before it answers. In some
// vocabularies they are control tokens, in others they are ordinary text. Both are empty for a model
// without such marks.
type Marks struct{ Open, Close string }

// knownMarks are those of published models. findMarks takes the first whose closing mark is in the
// file's template. In harmony, the format of gpt-oss, a reply consists of channels; whatever comes
// before the final channel counts as thinking.
var knownMarks = []Marks{
	{"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"},
	{"<|channel>thought\n", "<channel|>"},
	{"<|START_THINKING|>", "<|END_THINKING|>"},
	{"<|inner_prefix|>", "<|inner_suffix|>"},
	{"[THINK]", "[/THINK]"},
	{"<seed:think>", "</seed:think>"},
	{"<mm:think>", "</mm:think>"},
	{"<think>", "</think>"},
}

// harmony reports whether the marks are those of harmony. A reply then begins with a channel, and
// other control tokens separate its messages.
func (m Marks) harmony() bool { return strings.HasPrefix(m.Open, "<|channel|>") }

// OpenedBy reports whether a reply begins inside a thought because the end of the prompt opens it. In
// harmony every reply counts as such, because a thought may come before the final channel.
func (m Marks) OpenedBy(prompt string) bool {
	return m.harmony() || m.Open != "" && strings.HasSuffix(strings.TrimRightFunc(prompt, jinja.IsSpace), strings.TrimSpace(m.Open))
}

// Has reports whether a control token with this text is part of a mark or, in harmony, begins or
// ends a message. The caller then keeps the text in the reply, so that Split can find it later.
func (m Marks) Has(control string) bool {
	return control != "" && (strings.Contains(m.Open, control) || strings.Contains(m.Close, control) ||
		m.harmony() && (control == "<|start|>" || control == "<|end|>"))
}

// Marks returns the marks that the file's template knows; the zero Marks if it knows none.
func (t *Template) Marks() Marks { return t.marks }

func findMarks(source string) Marks {
	for _, m := range knownMarks {
		if strings.Contains(source, m.Close) {
			return m
		}
	}
	return Marks{}
}

// Split separates the model's thinking from its answer. The opening mark may be missing, because many
// templates write it themselves at the end of the prompt. If the reply begins with the opening mark and
// has no closing one, all of it is thought and answer is "". If it has no closing mark and does not
// begin with the opening one, ok is false and answer is the reply.
func (m Marks) Split(reply string) (thought, answer string, ok bool) {
	if m == (Marks{}) {
		return "", reply, false
	}
	begin := strings.TrimLeftFunc(reply, jinja.IsSpace)
	thought, answer, closed := strings.Cut(begin, m.Close)
	thought, opened := strings.CutPrefix(thought, m.Open)
	if !closed && !opened {
		return "", reply, false
	}
	thought, _, _ = strings.Cut(thought, "<|end|>") // ends a message in harmony
	return strip(thought), strings.TrimLeftFunc(answer, jinja.IsSpace), true
}

// thoughtField returns the field of a message in which the template expects an earlier thought. ""
// means that the template expects the thought in the content, and removes it itself if it wants to.
func thoughtField(source string) string {
	for _, field := range []string{"reasoning_content", "thinking", "reasoning"} {
		for _, form := range []string{".%s", "'%s'", `"%s"`} {
			if strings.Contains(source, fmt.Sprintf(form, field)) {
				return field
			}
		}
	}
	return ""
}

// Think returns the template with thinking switched. how is "on", "off", the most tokens of a thought
// (0 is off), or "auto" or "" for the template's default. The error says what the template allows.
func (t *Template) Think(how string) (*Template, error) {
	if how == "" || how == "auto" {
		return t, nil
	}
	budget, err := strconv.Atoi(how)
	if known := how == "on" || how == "off" || err == nil && budget >= 0; !known || t.file == nil || !t.file.obeys(how) {
		allowed := []string{"auto"}
		for _, other := range []struct{ how, words string }{{"on", "on"}, {"off", "off"}, {"512", "a number of tokens"}} {
			if t.file != nil && t.file.obeys(other.how) {
				allowed = append(allowed, other.words)
			}
		}
		return nil, fmt.Errorf("chat: thinking cannot be %.20q: %s does not know it; allowed: %s", how, t.name, strings.Join(allowed, ", "))
	}
	switched := *t
	switched.write = t.file.writer(t.file.switches(how))
	return &switched, nil
}

// switches returns the variables by which published templates switch thinking. Each template reads the
// variables that it knows.
func (f *fileTemplate) switches(how string) map[string]jinja.Value {
	budget, err := strconv.Atoi(how)
	if err == nil && budget > 0 {
		return map[string]jinja.Value{"enable_thinking": true, "thinking": true, "thinking_budget": budget}
	}
	if how == "on" {
		return map[string]jinja.Value{
			"enable_thinking": true, "thinking": true, "thinking_mode": jinja.Literal("enabled"), "reasoning_effort": jinja.Literal("high"),
		}
	}
	off := map[string]jinja.Value{
		"enable_thinking": false, "thinking": false, "thinking_mode": jinja.Literal("disabled"), "thinking_budget": 0,
	}
	for _, effort := range []string{"none", "no_think", "minimal", "low"} { // take the least effort that the template names
		if strings.Contains(f.options.Source, "'"+effort+"'") || strings.Contains(f.options.Source, `"`+effort+`"`) {
			off["reasoning_effort"] = jinja.Literal(effort)
			break
		}
	}
	return off
}

// obeys reports whether the template writes another text for how than for the opposite of how.
func (f *fileTemplate) obeys(how string) bool {
	other := "off"
	switch budget, err := strconv.Atoi(how); {
	case err == nil && budget > 0: // a template obeys a budget only if another budget changes the text
		other = strconv.Itoa(budget + 1)
	case how == "off" || err == nil:
		other = "on"
	}
	question := []Message{{Role: "user", Content: "Why?"}}
	a, errA := f.writer(f.switches(how))(question, true)
	b, errB := f.writer(f.switches(other))(question, true)
	return errA == nil && (errB != nil || !slices.Equal(a, b))
}
