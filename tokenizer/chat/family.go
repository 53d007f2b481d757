package chat

import (
	"errors"
	"fmt"
	"strings"

	"specula/tokenizer"
	"specula/tokenizer/chat/jinja"
)

// family is a prompt format that several published models share.
type family struct {
	key   string // as in the settings
	title string
	signs []string // control tokens; each of them suggests the family
	write func(bos, eos string) writer
}

// The order matters to guess. For a vocabulary with signs of several families it returns the first of
// them; without any sign it returns the last family here or the first.
var families = []family{
	{key: "chatml", title: "ChatML", signs: []string{"<|im_start|>"}, write: writeChatML},
	{key: "llama3", title: "Llama-3", signs: []string{"<|start_header_id|>"}, write: writeLlama3},
	{key: "mistral", title: "Mistral", signs: []string{"[INST]"}, write: writeMistral},
	{key: "gemma", title: "Gemma", signs: []string{"<start_of_turn>"}, write: writeGemma},
	{key: "llama2", title: "Llama-2", signs: []string{"<<SYS>>"}, write: writeLlama2},
}

// writeChatML writes the format of Qwen, Yi, SmolLM and many fine-tunes:
//
//	<|im_start|>ROLE\nCONTENT<|im_end|>\n
func writeChatML(_, _ string) writer {
	return func(messages []Message, generate bool) ([]tokenizer.Segment, error) {
		var p prompt
		for _, m := range messages {
			p.template("<|im_start|>")
			p.role(m.Role)
			p.template("\n")
			p.data(m.Content)
			p.template("<|im_end|>\n")
		}
		if generate {
			p.template("<|im_start|>assistant\n")
		}
		return p.segments, nil
	}
}

// writeLlama3 writes the format of Llama 3. White space around the content is removed:
//
//	<|begin_of_text|><|start_header_id|>ROLE<|end_header_id|>\n\nCONTENT<|eot_id|>
func writeLlama3(bos, _ string) writer {
	return func(messages []Message, generate bool) ([]tokenizer.Segment, error) {
		var p prompt
		p.template(bos)
		for _, m := range messages {
			p.template("<|start_header_id|>")
			p.role(m.Role)
			p.template("<|end_header_id|>\n\n")
			p.data(strip(m.Content))
			p.template("<|eot_id|>")
		}
		if generate {
			p.template("<|start_header_id|>assistant<|end_header_id|>\n\n")
		}
		return p.segments, nil
	}
}

// writeMistral writes the format of Mistral 7B Instruct v0.2, in which the system message is put before
// the first question:
//
//	<s> [INST] SYSTEM\n\nQUESTION [/INST] ANSWER</s> [INST] QUESTION [/INST]
func writeMistral(bos, eos string) writer {
	return func(messages []Message, _ bool) ([]tokenizer.Segment, error) {
		system, turns, err := alternating(messages)
		if err != nil {
			return nil, err
		}
		var p prompt
		p.template(bos)
		for i, m := range turns {
			if m.Role == "assistant" {
				p.template(" ")
				p.data(m.Content)
				p.template(eos)
				continue
			}
			p.template(" [INST] ")
			if i == 0 && system != nil {
				p.data(system.Content)
				p.template("\n\n")
			}
			p.data(m.Content)
			p.template(" [/INST]")
		}
		return p.segments, nil
	}
}

// writeGemma writes the format of Gemma 3, in which the system message is put before the first question:
//
//	<bos><start_of_turn>user\nSYSTEM\n\nQUESTION<end_of_turn>\n<start_of_turn>model\nANSWER<end_of_turn>\n
func writeGemma(bos, _ string) writer {
	return func(messages []Message, generate bool) ([]tokenizer.Segment, error) {
		system, turns, err := alternating(messages)
		if err != nil {
			return nil, err
		}
		var p prompt
		p.template(bos)
		for i, m := range turns {
			if m.Role == "assistant" {
				p.template("<start_of_turn>model\n")
			} else {
				p.template("<start_of_turn>user\n")
			}
			if i == 0 && system != nil {
				p.data(system.Content)
				p.template("\n\n")
			}
			p.data(strip(m.Content))
			p.template("<end_of_turn>\n")
		}
		if generate {
			p.template("<start_of_turn>model\n")
		}
		return p.segments, nil
	}
}

// writeLlama2 writes the format of Llama 2 Chat, in which every question begins a new document:
//
//	<s>[INST] <<SYS>>\nSYSTEM\n<</SYS>>\n\nQUESTION [/INST] ANSWER </s><s>[INST] QUESTION [/INST]
func writeLlama2(bos, eos string) writer {
	return func(messages []Message, _ bool) ([]tokenizer.Segment, error) {
		system, turns, err := alternating(messages)
		if err != nil {
			return nil, err
		}
		var p prompt
		for i, m := range turns {
			if m.Role == "assistant" {
				p.template(" ")
				p.data(strip(m.Content))
				p.template(" " + eos)
				continue
			}
			p.template(bos + "[INST] ")
			if i == 0 && system != nil {
				p.template("<<SYS>>\n")
				p.data(system.Content)
				p.template("\n<</SYS>>\n\n")
				p.data(strings.TrimRightFunc(m.Content, jinja.IsSpace))
			} else {
				p.data(strip(m.Content))
			}
			p.template(" [/INST]")
		}
		return p.segments, nil
	}
}

// alternating splits off a leading system message, nil if there is none, and returns the other
// messages as turns. It returns an error if there is no other message, or if user and assistant do not
// take turns, the user first: the templates of older families insist on that.
func alternating(messages []Message) (system *Message, turns []Message, err error) {
	turns = messages
	if len(turns) > 0 && turns[0].Role == "system" {
		system, turns = &turns[0], turns[1:]
	}
	if len(turns) == 0 {
		return nil, nil, errors.New("this format needs a message from the user; write one first")
	}
	for i, m := range turns {
		want := "user"
		if i%2 == 1 {
			want = "assistant"
		}
		if m.Role != want {
			return nil, nil, fmt.Errorf("message %d has role %.64q where %q is due: this format needs user and assistant to take turns", len(messages)-len(turns)+i+1, m.Role, want)
		}
	}
	return system, turns, nil
}

// strip removes what Python's str.strip removes, because published templates call that.
func strip(s string) string { return strings.TrimFunc(s, jinja.IsSpace) }
