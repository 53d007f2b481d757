package export

import (
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/chats"
)

// Recording makes a trace of a chat: the events from which the screen would show this chat. Between them
// lies only the time that the engine took. Replies whose rounds are not known are missing. ready may be
// nil.
func Recording(c chats.Chat, ready *event.Ready) []trace.Record {
	var records []trace.Record
	now := 0.0
	add := func(ms float64, e event.Event) {
		now += ms
		records = append(records, trace.Record{AtMS: now, Event: e})
	}
	if ready != nil {
		add(0, *ready)
	}
	prompt := ""
	for i, t := range c.Turns {
		if t.Role == "user" {
			prompt = t.Text
		}
		if t.Record == nil || len(t.Record.Events) == 0 {
			continue
		}
		started := t.Record.Started
		started.Prompt = prompt
		add(0, started)
		for _, e := range t.Record.Events {
			if r, ok := e.(event.Round); ok && len(r.Draft) > 0 {
				add(r.ReadMS+r.DraftMS, drafted(r))
				add(r.VerifyMS+r.SampleMS+r.OtherMS, r)
			} else if ok {
				add(r.MS(), r)
			} else {
				add(0, e)
			}
		}
		ended := event.ReplyEnded{Reply: started.Reply, Reason: t.Reason, Text: t.Text, Tail: t.Record.Tail, Drafts: t.Record.Drafts}
		if t.Totals != nil {
			ended.Totals = *t.Totals
		}
		if t.Reason != "" || i < len(c.Turns)-1 { // otherwise the reply is still being written
			add(0, ended)
		}
	}
	return records
}

// drafted returns the event Drafted that came before the verdict of a round.
func drafted(r event.Round) event.Drafted {
	d := event.Drafted{Round: r.Index, Gamma: r.Gamma, Probe: r.Probe, Proposer: r.Proposer, DraftMS: r.DraftMS}
	for _, t := range r.Draft {
		t.Verdict, t.P, t.U, t.Bound, t.Target, t.LogProb, t.LogProbs = "", nil, nil, nil, nil, nil, nil
		d.Tokens = append(d.Tokens, t)
	}
	return d
}
