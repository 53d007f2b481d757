// Package chats keeps conversations as files, one JSON object each, under the user's data directory.
//
// A file holds raw text, as it was typed and generated; whoever draws it makes it safe. It is replaced in one step, so a
// reader finds the old chat or the new one, never half of one, wherever a crash or a full disk interrupts: the new content
// goes to a temporary file in the same directory, is flushed to the disk, takes the name, and then the directory is flushed.
package chats

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"specula/engine/event"
)

// Version of the file format. A file of another version is refused, not guessed at.
const Version = 1

// maxFileBytes bounds what is read back: a chat of 2,000 long messages is below it.
const maxFileBytes = 64 << 20

// maxListed bounds the list of saved chats, newest first.
const maxListed = 1000

// Turn is one message.
type Turn struct {
	Role   string        `json:"role"` // "user" or "assistant"
	Text   string        `json:"text"`
	Reason string        `json:"reason,omitempty"` // why a reply ended: "stop", "cancelled", …
	Totals *event.Totals `json:"totals,omitempty"`
}

// Chat is one conversation.
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

// Store is a directory of chats.
type Store struct {
	dir   string
	files files
}

// NewStore returns the store in dir, which is made when something is first saved.
func NewStore(dir string) *Store { return &Store{dir: dir, files: disk{}} }

// Dir is where the chats are.
func (s *Store) Dir() string { return s.dir }

// Save writes a chat, replacing the one with its ID.
func (s *Store) Save(c Chat) error {
	path, err := s.path(c.ID)
	if err != nil {
		return err
	}
	c.Version = Version
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("saving chat %s: %w", c.ID, err)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("saving chat %s: %w", c.ID, err)
	}
	if err := replaceFile(s.files, path, append(data, '\n')); err != nil {
		return fmt.Errorf("saving chat %s: %w", c.ID, err)
	}
	return nil
}

// Open reads a chat back.
func (s *Store) Open(id string) (Chat, error) {
	path, err := s.path(id)
	if err != nil {
		return Chat{}, err
	}
	c, err := read(path)
	if err != nil {
		return Chat{}, fmt.Errorf("opening chat %s: %w", id, err)
	}
	return c, nil
}

func read(path string) (Chat, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Chat{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return Chat{}, fmt.Errorf("%s: %d bytes, %v; allowed is a regular file of at most %d bytes", path, info.Size(), info.Mode(), maxFileBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Chat{}, err
	}
	var c Chat
	if err := json.Unmarshal(data, &c); err != nil {
		return Chat{}, fmt.Errorf("%s is not a saved chat: %w", path, err)
	}
	if c.Version != Version {
		return Chat{}, fmt.Errorf("%s has format version %d; this program reads version %d", path, c.Version, Version)
	}
	c.ID = strings.TrimSuffix(filepath.Base(path), extension)
	return c, c.check()
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

// List returns the newest chats, without their turns. Files that are no chats
// are counted in broken and left alone.
func (s *Store) List() (list []Chat, broken int, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("listing saved chats: %w", err)
	}
	// Names begin with the moment a chat began, so the newest come last.
	for _, e := range slices.Backward(entries) {
		if !strings.HasSuffix(e.Name(), extension) || len(list) == maxListed {
			continue
		}
		c, err := read(filepath.Join(s.dir, e.Name()))
		if err != nil {
			broken++
			continue
		}
		c.Turns = nil
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Chat) int { return cmp.Compare(b.Updated.UnixNano(), a.Updated.UnixNano()) })
	return list, broken, nil
}

const extension = ".json"

// path refuses IDs that would leave the directory.
func (s *Store) path(id string) (string, error) {
	if id == "" || len(id) > 100 || strings.ContainsAny(id, "/\\\x00") || strings.HasPrefix(id, ".") {
		return "", fmt.Errorf("%.64q cannot name a chat: it must be a plain file name", id)
	}
	return filepath.Join(s.dir, id+extension), nil
}
