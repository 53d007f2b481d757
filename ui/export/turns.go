package export

import (
	"strings"

	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/chats"
	"specula/ui/state"
)

// ChatOf returns a trace as a chat.
func ChatOf(records []trace.Record) chats.Chat {
	s := state.New()
	for _, r := range records {
		s.Apply(r.Event)
	}
	c := chats.Chat{Version: chats.Version, Turns: Turns(s)}
	if s.Ready != nil {
		c.Model = s.Ready.Target.Name
	}
	if len(c.Turns) > 0 {
		c.Title = chats.TitleFrom(c.Turns[0].Text)
	}
	return c
}

// Turns returns the turns of a chat in the form in which they are saved.
func Turns(s *state.State) []chats.Turn {
	turns := []chats.Turn{}
	for t := range s.Turns() {
		turn := chats.Turn{Role: t.Role, Text: strings.ToValidUTF8(t.Raw, "\uFFFD"), Reason: t.Reason}
		if t.Totals.Rounds > 0 {
			totals := t.Totals
			turn.Totals = &totals
		}
		if r := t.Record; r.Started != nil {
			if t.Raw == "" { // the reply is still being written
				turn.Text = written(r.Events)
			}
			turn.Record = &chats.Record{Started: *r.Started, Tail: r.Tail, Drafts: r.Drafts, Events: r.Events}
		}
		turns = append(turns, turn)
	}
	return turns
}

// written returns the text of the tokens that were committed so far.
func written(events []event.Event) string {
	var text strings.Builder
	for _, e := range events {
		if r, ok := e.(event.Round); ok {
			for _, t := range r.Committed() {
				text.WriteString(t.Text)
			}
		}
	}
	return strings.ToValidUTF8(text.String(), "\uFFFD")
}

// Reopened is the inverse of Turns: it returns saved turns in the form that state.Reopen takes.
func Reopened(saved []chats.Turn) []state.Turn {
	turns := make([]state.Turn, len(saved))
	for i, t := range saved {
		turns[i] = state.Turn{Role: t.Role, Raw: t.Text, Reason: t.Reason}
		if t.Totals != nil {
			turns[i].Totals = *t.Totals
		}
		if r := t.Record; r != nil {
			turns[i].Record = state.Record{Started: &r.Started, Tail: r.Tail, Drafts: r.Drafts, Events: r.Events}
		}
	}
	return turns
}
