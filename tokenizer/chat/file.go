package chat

import (
	"maps"
	"time"

	"specula/tokenizer"
	"specula/tokenizer/chat/jinja"
)

// fileTemplate is the template of a model's file, parsed.
type fileTemplate struct {
	options Options
	parsed  *jinja.Template
	marks   Marks
	thought string // the field of a message for what the model thought; "" for none
}

func readFile(o Options) (*fileTemplate, error) {
	parsed, err := jinja.Parse(o.Source)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &fileTemplate{o, parsed, findMarks(o.Source), thoughtField(o.Source)}, nil
}

// writer returns a writer that renders the template with further variables.
func (f *fileTemplate) writer(further map[string]jinja.Value) writer {
	return func(messages []Message, generate bool) ([]tokenizer.Segment, error) {
		variables := f.variables(messages, generate)
		maps.Copy(variables, further)
		text, err := f.parsed.Render(variables, f.options.Now)
		if err != nil {
			return nil, err
		}
		var p prompt
		for piece, data := range text.Pieces() {
			p.add(piece, !data)
		}
		return p.segments, nil
	}
}

// variables are the variables that Hugging Face's renderer gives to a template.
func (f *fileTemplate) variables(messages []Message, generate bool) map[string]jinja.Value {
	list := make([]jinja.Value, len(messages))
	for i, m := range messages {
		role := jinja.Data(m.Role)
		if isKnownRole(m.Role) {
			role = jinja.Literal(m.Role)
		}
		turn := &jinja.Dict{}
		turn.Set(jinja.Literal("role"), role)
		if thought, answer, ok := f.marks.Split(m.Content); ok && m.Role == "assistant" && f.thought != "" {
			turn.Set(jinja.Literal("content"), jinja.Data(answer))
			turn.Set(jinja.Literal(f.thought), jinja.Data(thought))
		} else {
			turn.Set(jinja.Literal("content"), jinja.Data(m.Content))
		}
		list[i] = turn
	}
	v := map[string]jinja.Value{
		"messages":              jinja.NewList(list...),
		"add_generation_prompt": generate,
		"tools":                 nil,
		"documents":             nil,
	}
	if f.options.BOS != "" {
		v["bos_token"] = jinja.Literal(f.options.BOS)
	}
	if f.options.EOS != "" {
		v["eos_token"] = jinja.Literal(f.options.EOS)
	}
	return v
}
