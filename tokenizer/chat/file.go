package chat

import (
	"time"

	"specula/tokenizer"
	"specula/tokenizer/chat/jinja"
)

// readFile prepares the Jinja source of a model's file.
func readFile(o Options) (writer, error) {
	template, err := jinja.Parse(o.Source)
	if err != nil {
		return nil, err
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return func(messages []Message, generate bool) ([]tokenizer.Segment, error) {
		text, err := template.Render(variables(messages, generate, o), now)
		if err != nil {
			return nil, err
		}
		var p prompt
		for piece, data := range text.Pieces() {
			p.add(piece, !data)
		}
		return p.segments, nil
	}, nil
}

// variables are the variables that Hugging Face's renderer gives to a template.
func variables(messages []Message, generate bool, o Options) map[string]jinja.Value {
	list := make([]jinja.Value, len(messages))
	for i, m := range messages {
		role := jinja.Data(m.Role)
		if isKnownRole(m.Role) {
			role = jinja.Literal(m.Role)
		}
		turn := &jinja.Dict{}
		turn.Set(jinja.Literal("role"), role)
		turn.Set(jinja.Literal("content"), jinja.Data(m.Content))
		list[i] = turn
	}
	v := map[string]jinja.Value{
		"messages":              jinja.NewList(list...),
		"add_generation_prompt": generate,
		"tools":                 nil,
		"documents":             nil,
	}
	if o.BOS != "" {
		v["bos_token"] = jinja.Literal(o.BOS)
	}
	if o.EOS != "" {
		v["eos_token"] = jinja.Literal(o.EOS)
	}
	return v
}
