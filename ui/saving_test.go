package ui

import (
	"fmt"
	"strings"
	"testing"

	"specula/ui/chats"
)

// longChat is one with more messages than the display holds, the first ones with text in front.
func longChat(s *screen, n, long int, text string) chats.Chat {
	c := s.m.chat
	for i := range n {
		if i >= long {
			text = ""
		}
		c.Turns = append(c.Turns, chats.Turn{Role: []string{"user", "assistant"}[i%2], Text: fmt.Sprint(text, i)})
	}
	return c
}

func TestALongChatKeepsItsBeginning(t *testing.T) {
	s := open(t, nil)
	s.update(opened{chat: longChat(s, 2400, 0, "")})
	s.ask("hello")
	if got := s.engine.asked[0]; len(got) != 2401 || got[0] != (Message{"user", "0"}) || got[2400].Content != "hello" {
		t.Errorf("the engine was told %d turns, the first is %q", len(got), got[0])
	}
	c, err := s.m.options.Chats.Open(s.m.chat.ID)
	if err != nil || len(c.Turns) != 2402 || c.Turns[0].Text != "0" {
		t.Fatalf("%d turns were saved, %v", len(c.Turns), err)
	}
}

func TestAChatThatIsTooLongSaysSo(t *testing.T) {
	s := open(t, func(o *Options) { o.Chats = nil })
	s.update(opened{chat: longChat(s, 2040, 41, strings.Repeat("x", 1<<20))})
	s.mustShow("the chat is too long: its first")
	s.m.flash = ""
	s.update(opened{chat: longChat(s, 2031, 33, strings.Repeat("x", 1<<20))})
	s.mustNotShow("the chat is too long")
	s.ask("hello")
	s.mustShow("the chat is too long: its first 2 messages are neither saved nor sent any more")
}
