package ui

import (
	"sync"

	"specula/ui/chats"
)

// saver writes chats one after another. Saves run in commands, which may overtake each other. saver makes
// sure that an older state of a chat never replaces a newer one.
type saver struct {
	store   *chats.Store
	changes int // number of changes so far, over all chats that were on screen; only the model uses it

	mu    sync.Mutex
	done  int                   // the value of changes at the last save
	moved map[string]chats.Chat // new ID and title, by old ID, of chats whose file another window had changed
}

// pending reports whether there is something to save.
func (s *saver) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes > s.done
}

// settled records that the chat on screen equals its file.
func (s *saver) settled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = s.changes
}

// write saves c, a chat as it was after the given number of changes, and returns it as saved. If this state
// or a later one is saved already, write does nothing and returns c. moved reports that this save gave the
// chat a new ID and title, because another program had changed its file. If an earlier save has given it a
// new ID, write uses that ID, and moved is false.
func (s *saver) write(changes int, c chats.Chat) (saved chats.Chat, moved bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changes <= s.done {
		return c, false, nil
	}
	from := c.ID
	if to, ok := s.moved[from]; ok { // the model did not know the new name yet
		c.ID, c.Title = to.ID, to.Title
	}
	if saved, err = s.store.Save(c); err != nil {
		return saved, false, err
	}
	s.done = changes
	if saved.ID != c.ID {
		s.moved[from] = chats.Chat{ID: saved.ID, Title: saved.Title}
	}
	return saved, saved.ID != c.ID, nil
}

// open reads the chat with this ID. If the saver has given the chat a new ID before, open forgets that:
// from now on the chat is saved under this ID again. Save the chat on screen before this call: it may be
// the same chat, and what is not saved would be missing.
func (s *saver) open(id string) (chats.Chat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.store.Open(id)
	if err == nil {
		delete(s.moved, id)
	}
	return c, err
}
