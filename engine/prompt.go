package engine

import (
	"fmt"

	"specula/engine/config"
	"specula/tokenizer"
	"specula/tokenizer/chat"
)

// replyShare is the part of the context that dropping old turns keeps free for the reply, unless fewer tokens were asked for.
const replyShare = 4

// newTemplate chooses the chat template of a model with this vocabulary.
func newTemplate(source string, vocab tokenizer.Spec, t *tokenizer.Tokenizer, prefer string) (*chat.Template, error) {
	text := func(id int32) string {
		if id < 0 || int(id) >= len(vocab.Tokens) {
			return ""
		}
		return vocab.Tokens[id]
	}
	var specials []string
	for id := range int32(len(vocab.Tokens)) {
		if t.IsControl(id) {
			specials = append(specials, vocab.Tokens[id])
		}
	}
	return chat.Choose(chat.Options{
		Source: source, Prefer: prefer, BOS: text(vocab.BOS), EOS: text(vocab.EOS), Specials: specials,
	})
}

// encode renders a conversation and turns it into tokens. Only what the template itself wrote can become a control token.
func (e *Engine) encode(messages []chat.Message) ([]int32, error) {
	segments, err := e.template.Render(messages, true)
	if err != nil {
		return nil, fmt.Errorf("rendering the chat by %s: %w", e.template.Name(), err)
	}
	return e.tokens.EncodeSegments(segments), nil
}

// fit returns the tokens of a conversation that leaves room for a reply in contextTokens, and how many old turns it had to
// drop, if c allows that. When nothing helps it returns the tokens of the shortest form and an error with the figures.
func (e *Engine) fit(messages []chat.Message, c config.Config, contextTokens int) (tokens []int32, dropped int, err error) {
	if c.Model.System != "" {
		messages = append([]chat.Message{{Role: "system", Content: c.Model.System}}, messages...)
	}
	if tokens, err = e.encode(messages); err != nil {
		return nil, 0, err
	}
	if len(tokens) < contextTokens && c.Context.Overflow != "drop-oldest" {
		return tokens, 0, nil
	}
	room := min(c.Sampling.MaxTokens, contextTokens/replyShare)
	for c.Context.Overflow == "drop-oldest" && len(tokens)+room > contextTokens {
		shorter, ok := dropTurn(messages)
		if !ok {
			break
		}
		messages = shorter
		dropped++
		if tokens, err = e.encode(messages); err != nil {
			return nil, dropped, err
		}
	}
	if len(tokens) >= contextTokens {
		return tokens, dropped, fmt.Errorf("the conversation has %d tokens and the context holds %d: "+
			"start a new chat, shorten the message, raise context.length or set context.overflow to drop-oldest", len(tokens), contextTokens)
	}
	return tokens, dropped, nil
}

// dropTurn removes the oldest user message and the answers to it, keeping a system prompt and the last message.
func dropTurn(messages []chat.Message) ([]chat.Message, bool) {
	first := 0
	for first < len(messages) && messages[first].Role == "system" {
		first++
	}
	next := first + 1
	for next < len(messages) && messages[next].Role != "user" {
		next++
	}
	if next >= len(messages) {
		return messages, false
	}
	shorter := append([]chat.Message{}, messages[:first]...)
	return append(shorter, messages[next:]...), true
}
