package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"specula/engine/config"
	"specula/tokenizer"
	"specula/tokenizer/chat"
)

// replyShare: when old turns are dropped, 1/replyShare of the context is kept free for the reply, or
// less if fewer tokens were asked for.
const replyShare = 4

// newTemplate chooses the chat template of a model with this vocabulary. source is the template in the model's
// file, and prefer is the setting model.template.
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

// encode renders a conversation and turns it into tokens. Text of messages never becomes a control
// token; text of the template can.
func (e *Engine) encode(template *chat.Template, messages []chat.Message) ([]int32, error) {
	segments, err := template.Render(messages, true)
	if err != nil {
		return nil, fmt.Errorf("rendering the chat by %s: %w", template.Name(), err)
	}
	return e.tokens.EncodeSegments(segments), nil
}

// control returns the text of a control token, and "" for every other token.
func (e *Engine) control(id int32) string {
	if !e.tokens.IsControl(id) {
		return ""
	}
	return e.tokens.Token(id)
}

// spelled returns the text of the last tokens of a prompt, with the names of control tokens.
func (e *Engine) spelled(tokens []int32) string {
	const last = 16 // tokens; each mark of a thought is shorter
	var s strings.Builder
	for _, id := range tokens[max(len(tokens)-last, 0):] {
		s.WriteString(e.control(id))
		if !e.tokens.IsControl(id) {
			s.Write(e.tokens.Bytes(id))
		}
	}
	return s.String()
}

// fit returns the tokens of the system prompt of c and a conversation. There must be fewer of them than
// contextTokens. If context.overflow is drop-oldest, fit drops the oldest turns until the reply has room, too
// (replyShare), and returns how many it dropped. If the prompt is still too long, fit returns its tokens, and
// an error that gives both lengths.
func (e *Engine) fit(ctx context.Context, messages []chat.Message, c config.Config, contextTokens int) (tokens []int32, dropped int, err error) {
	template, err := e.template.Think(c.Model.Think)
	if err != nil {
		return nil, 0, fmt.Errorf("%w; set model.think", err)
	}
	var system []chat.Message
	if c.Model.System != "" {
		system = []chat.Message{{Role: "system", Content: c.Model.System}}
	}
	if c.Context.Overflow == "drop-oldest" {
		room := min(c.Sampling.MaxTokens, contextTokens/replyShare)
		tokens, dropped, err = e.dropOldest(ctx, template, system, messages, contextTokens-room)
	} else {
		tokens, err = e.encode(template, slices.Concat(system, messages))
	}
	if err == nil && len(tokens) >= contextTokens {
		err = fmt.Errorf("the conversation has %d tokens and the context holds %d: "+
			"start a new chat, shorten the message, raise context.length or set context.overflow to drop-oldest", len(tokens), contextTokens)
	}
	return tokens, dropped, err
}

// dropOldest drops the oldest turns, as few as possible, until the prompt is short enough: most is its largest
// number of tokens. If no such prompt is short enough, dropOldest drops all but the last turn. It finds the
// number of turns by binary search, because encoding a long chat takes a while.
func (e *Engine) dropOldest(ctx context.Context, template *chat.Template, system, messages []chat.Message, most int) (tokens []int32, dropped int, err error) {
	turns := turnStarts(messages)
	encode := func(n int) []int32 {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil
		}
		kept := messages
		if n > 0 {
			kept = messages[turns[n]:]
		}
		var got []int32
		got, err = e.encode(template, slices.Concat(system, kept))
		return got
	}
	dropped = sort.Search(max(len(turns)-1, 0), func(n int) bool { return len(encode(n)) <= most })
	return encode(dropped), dropped, err
}

// turnStarts returns the indices of the user's messages, with which turns begin. To drop the first n turns,
// keep the messages from index starts[n] on.
func turnStarts(messages []chat.Message) []int {
	var starts []int
	for i, m := range messages {
		if m.Role == "user" {
			starts = append(starts, i)
		}
	}
	return starts
}
