package chats

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxListed    = 1000    // saved chats in the list: those that began last
	maxHeadBytes = 8 << 20 // bytes of a file that are read, to find the fields before its turns
)

// List returns the maxListed chats that began last, sorted by the time of their last change, newest
// first. It does not read their turns. broken counts the files that cannot be read as a chat. A missing
// directory gives an empty list.
func (s *Store) List() (list []Chat, broken int, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("listing saved chats: %w", err)
	}
	// Names begin with the time when a chat began, so the newest come last.
	for _, e := range slices.Backward(entries) {
		if !strings.HasSuffix(e.Name(), extension) || len(list) == maxListed {
			continue
		}
		c, err := readHead(filepath.Join(s.dir, e.Name()))
		if err != nil {
			broken++
			continue
		}
		c.ID = strings.TrimSuffix(e.Name(), extension)
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Chat) int { return cmp.Compare(b.Updated.UnixNano(), a.Updated.UnixNano()) })
	return list, broken, nil
}

// readHead reads the fields of a saved chat that stand before its turns.
func readHead(path string) (Chat, error) {
	f, err := openRegular(path)
	if err != nil {
		return Chat{}, err
	}
	defer f.Close()
	d := json.NewDecoder(io.LimitReader(f, maxHeadBytes))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return Chat{}, errors.New("the file does not begin with an object")
	}
	head := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return Chat{}, err
		}
		if key == "turns" {
			break
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return Chat{}, err
		}
		head[fmt.Sprint(key)] = value
	}
	data, err := json.Marshal(head)
	if err != nil {
		return Chat{}, err
	}
	return decode(data)
}
