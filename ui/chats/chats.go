// Package chats saves conversations as files in the user's data directory, one JSON object per file.
//
// A file holds raw text, as it was typed and generated; code that shows it must make it safe. A reply is
// saved with the events from which it was shown, so that it looks the same in a reopened chat. A
// file is replaced in one step (ui/replace), and only if nothing else has changed it since this program
// read or wrote it.
package chats

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"specula/engine/event"
	"specula/ui/replace"
)

// Version is the version of the file format. Files of another version are refused. An optional new
// field needs no new version: older programs ignore it.
const Version = 1

// Turn is one message.
type Turn struct {
	Role   string        `json:"role"` // "user" or "assistant"
	Text   string        `json:"text"`
	Reason string        `json:"reason,omitempty"` // why a reply ended: "stop", "cancelled", …
	Totals *event.Totals `json:"totals,omitempty"`
	Record *Record       `json:"record,omitempty"` // events of a reply; nil if they are not known
}

// Record holds the events from which a reply was shown.
type Record struct {
	Started event.ReplyStarted `json:"started"`          // settings and seed, but no prompt: the turn before has it
	Tail    string             `json:"tail,omitempty"`   // text of the reply after its last token
	Drafts  string             `json:"drafts,omitempty"` // what the rounds drafted, to write the reply again; see event.ReplyEnded
	// Events are rounds, changed settings and failures. In long chats only the newest replies have
	// events.
	Events []event.Event `json:"events,omitempty"`
}

// Chat is one conversation. Turns must be the last field, because Encode writes it separately.
type Chat struct {
	Version int       `json:"version"`
	ID      string    `json:"id"` // also the file's name, without extension
	Title   string    `json:"title"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	System  string    `json:"system,omitempty"`
	Model   string    `json:"model,omitempty"` // the target's name, for the reader of the file
	Turns   []Turn    `json:"turns"`
}

// NewID makes an ID from the time when a chat began. tag distinguishes chats of the same second.
func NewID(now time.Time, tag uint32) string {
	return fmt.Sprintf("%s-%08x", now.UTC().Format("20060102-150405"), tag)
}

// TitleFrom makes a title from the first message: its first line, cut to 60 characters.
func TitleFrom(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(strings.ToValidUTF8(line, "�")); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return line
}

// check returns an error if the engine could not use the chat as a conversation.
func (c *Chat) check() error {
	for i, t := range c.Turns {
		if t.Role != "user" && t.Role != "assistant" {
			return fmt.Errorf("turn %d has role %.64q; allowed are user and assistant", i, t.Role)
		}
		if !utf8.ValidString(t.Text) {
			return fmt.Errorf("turn %d is not UTF-8", i)
		}
	}
	return nil
}

// Store is a directory of chats. Its methods may be called by several goroutines.
type Store struct {
	dir   string
	files replace.Files

	mu   sync.Mutex
	seen map[string]content // by ID: hash of the file's content when this store last read or wrote it
}

// content is the hash of a file's content; the zero value means that there is no file.
type content [sha256.Size]byte

// NewStore returns the store in dir. The first Save creates dir.
func NewStore(dir string) *Store {
	return &Store{dir: dir, files: replace.Disk{}, seen: map[string]content{}}
}

// Dir returns the directory of the chats.
func (s *Store) Dir() string { return s.dir }

// errChanged says that another program has written the file.
var errChanged = errors.New("the file was changed by another program")

// Save writes a chat and returns it as saved; after an error it returns the chat that it was given.
// It replaces the file if this Store was the last to write it or has read its current content. If
// another program has written the file, the file stays, and the chat is saved with a new ID and
// title.
func (s *Store) Save(c Chat) (Chat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := checkID(c.ID); err != nil {
		return c, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return c, fmt.Errorf("saving chat %s: %w", c.ID, err)
	}
	saved := c
	err := s.write(saved)
	for copies := 2; errors.Is(err, errChanged) && copies <= maxCopies; copies++ {
		saved.ID, saved.Title = fmt.Sprintf("%s-%d", c.ID, copies), fmt.Sprintf("%s (%d)", c.Title, copies)
		err = s.write(saved)
	}
	if err != nil {
		return c, fmt.Errorf("saving chat %s: %w", c.ID, err)
	}
	return saved, nil
}

// maxCopies limits the search for a free ID: the last one tried ends in -100.
const maxCopies = 100

// write saves a chat under its own ID. It returns errChanged if another program has changed the file.
func (s *Store) write(c Chat) error {
	data, err := Encode(c)
	if err != nil {
		return err
	}
	sum, path := content(sha256.Sum256(data)), s.path(c.ID)
	err = replace.Write(s.files, path, data, func() error {
		if now := contentOf(path); now != (content{}) && now != s.seen[c.ID] {
			return errChanged
		}
		return nil
	})
	if err == nil || contentOf(path) == sum { // if only the last flush failed, the file has the new content too
		s.seen[c.ID] = sum
	}
	return err
}

// contentOf returns the content of a file, and the zero value if there is no file. For a file that
// cannot be read it returns a value that no written file has.
func contentOf(path string) content {
	data, err := readBounded(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return content{}
	case err != nil:
		return content{1}
	}
	return sha256.Sum256(data)
}

// Open reads a chat.
func (s *Store) Open(id string) (Chat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := checkID(id); err != nil {
		return Chat{}, err
	}
	data, err := readBounded(s.path(id))
	if err != nil {
		return Chat{}, fmt.Errorf("opening chat %s: %w", id, err)
	}
	c, err := decode(data)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Chat{}, fmt.Errorf("opening chat %s: %s: %w", id, s.path(id), err)
	}
	c.ID = id
	s.seen[id] = sha256.Sum256(data)
	return c, nil
}

const extension = ".json"

func (s *Store) path(id string) string { return filepath.Join(s.dir, id+extension) }

// checkID returns an error for an ID that is not a plain file name.
func checkID(id string) error {
	if id == "" || len(id) > 100 || strings.ContainsAny(id, "/\\\x00") || strings.HasPrefix(id, ".") {
		return fmt.Errorf("%.64q cannot name a chat: it must be a plain file name", id)
	}
	return nil
}
