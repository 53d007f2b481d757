// Package chats keeps conversations as files, one JSON object each, under the user's data directory.
//
// A file holds raw text, as it was typed and generated; whoever draws it makes it safe. Beside its text, a reply has the events
// that it was drawn from, so that it looks the same when the chat is opened again. A file is replaced in one step
// (ui/replace), and only while it is still the one that this program read or wrote last.
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

// Version of the file format. A file of another version is refused, not guessed at. A new field that may be absent needs no
// new version: older programs pass over it.
const Version = 1

// Turn is one message.
type Turn struct {
	Role   string        `json:"role"` // "user" or "assistant"
	Text   string        `json:"text"`
	Reason string        `json:"reason,omitempty"` // why a reply ended: "stop", "cancelled", …
	Totals *event.Totals `json:"totals,omitempty"`
	Record *Record       `json:"record,omitempty"` // how a reply came about; nil where it is not known
}

// Record is how a reply came about.
type Record struct {
	Started event.ReplyStarted `json:"started"`          // with the settings and the seed; the prompt is the message before
	Tail    string             `json:"tail,omitempty"`   // text after that of the last token
	Drafts  string             `json:"drafts,omitempty"` // what its rounds drafted, to write it again; see event.ReplyEnded
	// Events are rounds, changed settings and failures. Of long chats only the newest replies have theirs.
	Events []event.Event `json:"events,omitempty"`
}

// Chat is one conversation. Its turns must stay its last field: they are written by themselves.
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

// NewID names a chat after the moment it began; tag tells apart those that began in the same second.
func NewID(now time.Time, tag uint32) string {
	return fmt.Sprintf("%s-%08x", now.UTC().Format("20060102-150405"), tag)
}

// TitleFrom makes a title of the first message: its first line, at most 60 characters.
func TitleFrom(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(strings.ToValidUTF8(line, "�")); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return line
}

// check refuses what the engine could not take as a conversation.
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
	seen map[string]content // by ID: what the file held when it was read or written last
}

// content tells what a file holds; the zero value is that of a file that is not there.
type content [sha256.Size]byte

// NewStore returns the store in dir, which is made when something is first saved.
func NewStore(dir string) *Store {
	return &Store{dir: dir, files: replace.Disk{}, seen: map[string]content{}}
}

// Dir is where the chats are.
func (s *Store) Dir() string { return s.dir }

// errChanged says that somebody else wrote the file.
var errChanged = errors.New("the file was changed by another program")

// Save writes a chat and returns it as it was saved. Its file is replaced if it is as this Store last read or wrote it. If
// somebody else has changed it, that stays, and the chat is saved under a new ID and title.
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

// maxCopies bounds the search for an ID that is free.
const maxCopies = 100

// write saves a chat under its own ID. It fails with errChanged if the file is somebody else's.
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
	if err == nil || contentOf(path) == sum { // which it is, too, when only the last flush failed
		s.seen[c.ID] = sum
	}
	return err
}

// contentOf tells what a file holds. One that cannot be read is like none that was ever written.
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

// Open reads a chat back.
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

// checkID refuses IDs that would leave the directory.
func checkID(id string) error {
	if id == "" || len(id) > 100 || strings.ContainsAny(id, "/\\\x00") || strings.HasPrefix(id, ".") {
		return fmt.Errorf("%.64q cannot name a chat: it must be a plain file name", id)
	}
	return nil
}
