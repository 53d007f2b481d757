package page_test

import (
	"bytes"
	"fmt"

	"specula/engine/event"
	"specula/ui/export/page"
	"specula/ui/state"
	"specula/ui/state/statetest"
)

// The page of a reply is made from its events.
func ExampleWrite() {
	var reply page.Reply
	s := state.New()
	for _, e := range statetest.Chat(3) {
		s.Apply(e)
		switch e := e.(type) {
		case event.Round:
			reply.Rounds = append(reply.Rounds, e)
		case event.ReplyEnded:
			reply.Totals = e.Totals
		}
	}
	last := len(s.Messages) - 1
	reply.Prompt, reply.Message = s.Messages[last-1].Text, s.Messages[last]
	var html bytes.Buffer
	if err := page.Write(&html, "A reply", "two models", []page.Reply{reply}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(reply.Rounds), "rounds;", bytes.Count(html.Bytes(), []byte("<script")), "scripts;",
		bytes.Count(html.Bytes(), []byte("https://")), "addresses of a network")
	// Output: 3 rounds; 2 scripts; 0 addresses of a network
}
