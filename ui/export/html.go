package export

import (
	"cmp"
	"io"

	"specula/ui/chats"
	"specula/ui/export/page"
	"specula/ui/sanitize"
	"specula/ui/state"
)

// HTML writes the replies of a chat whose rounds are known as a page for a browser.
func HTML(w io.Writer, c chats.Chat) error {
	s := state.New()
	s.Reopen(Reopened(c.Turns))
	var replies []page.Reply
	for _, r := range Replies(c) {
		at := r.turn - s.Dropped // index of the message: every turn is one message
		if at < 1 || len(r.Rounds) == 0 {
			continue
		}
		m := s.Messages[at]
		replies = append(replies, page.Reply{Prompt: s.Messages[at-1].Text, Message: m, Rounds: r.Rounds, Totals: m.Totals})
	}
	return page.Write(w, sanitize.Line(cmp.Or(c.Title, "A reply")), sanitize.Line(c.Model), replies)
}
