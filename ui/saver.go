package ui

import (
	"sync"

	"specula/ui/chats"
)

// saver writes chats one after another. Saves run in commands, outside Bubble Tea's loop, where an older one could
// otherwise overtake a newer.
type saver struct {
	store   *chats.Store
	changes int // of chats on screen, ever; only touched by the model

	mu    sync.Mutex
	done  int                   // how many of them are saved
	moved map[string]chats.Chat // by ID: chats that go on under another name, since somebody else changed their file
}

// pending reports whether there is something to save.
func (s *saver) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes > s.done
}

// settled says that what is on screen now is what a file has.
func (s *saver) settled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = s.changes
}

// write saves a chat and returns it as it was saved; moved reports that it was another window's file and has a new name.
func (s *saver) write(changes int, c chats.Chat) (saved chats.Chat, moved bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changes <= s.done {
		return c, false, nil
	}
	from := c.ID
	if to, ok := s.moved[from]; ok { // the model had not heard of it yet
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

// open reads a chat, which is saved under its own name from now on. What was on screen before is saved.
func (s *saver) open(id string) (chats.Chat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.store.Open(id)
	if err == nil {
		delete(s.moved, id)
	}
	return c, err
}
