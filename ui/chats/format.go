package chats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"specula/engine/event"
)

// A file is somebody else's text until it was read, so every size in it is bounded.
const (
	maxFileBytes   = 64 << 20 // a chat of 2,000 long messages is below it
	maxRecordBytes = 24 << 20 // of the events that are written, newest replies first
	// Objects and lists take little room in a file and much in memory.
	maxRecordObjects = 500_000 // of the events that are written: those of some 60,000 tokens
	maxObjects       = 600_000 // of a file that is read
)

// Encode writes a chat so that a person can read it: a line for every message, and for every event of a reply.
func Encode(c Chat) ([]byte, error) {
	records, err := encodeEvents(c.Turns)
	if err != nil {
		return nil, err
	}
	data, err := encodeWith(c, records)
	if err == nil && len(data) > maxFileBytes { // rather the words alone than a file that is not read again
		return encodeWith(c, nil)
	}
	return data, err
}

func encodeWith(c Chat, records map[int][][]byte) ([]byte, error) {
	turns := c.Turns
	c.Version, c.Turns = Version, nil
	head, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	out := append(bytes.TrimSuffix(head, []byte("null\n}")), '[')
	for i, t := range turns {
		if t.Record != nil {
			r := *t.Record
			r.Events = nil
			t.Record = &r
		}
		line, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		if lines := records[i]; lines != nil { // the record is the last field of a turn, and its events the last of the record
			line = append(bytes.TrimSuffix(line, []byte("}}")), ",\"events\":[\n      "...)
			line = append(append(line, bytes.Join(lines, []byte(",\n      "))...), "\n    ]}}"...)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, "\n    "...), line...)
	}
	return append(out, "\n  ]\n}\n"...), nil
}

// encodeEvents returns the lines of the newest replies' events, by turn, as many as a file may have.
func encodeEvents(turns []Turn) (map[int][][]byte, error) {
	records, total, parts := map[int][][]byte{}, 0, 0
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Record == nil || len(turns[i].Record.Events) == 0 {
			continue
		}
		var lines [][]byte
		for _, e := range turns[i].Record.Events {
			line, err := event.Marshal(e, 0)
			if err != nil {
				return nil, err
			}
			total += len(line)
			parts += event.Objects(line)
			lines = append(lines, line)
		}
		if total > maxRecordBytes || parts > maxRecordObjects {
			break
		}
		records[i] = lines
	}
	return records, nil
}

// UnmarshalJSON reads a record. One that this program does not understand is left out: the text of the reply is still there.
func (r *Record) UnmarshalJSON(data []byte) error {
	var raw struct {
		Started event.ReplyStarted
		Tail    string
		Drafts  string
		Events  []json.RawMessage
	}
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	var events []event.Event
	for _, line := range raw.Events {
		e, _, err := event.Unmarshal(line)
		if err != nil {
			events = nil
			break
		}
		events = append(events, e)
	}
	*r = Record{Started: raw.Started, Tail: raw.Tail, Drafts: raw.Drafts, Events: events}
	return nil
}

// decode reads a chat. Its ID is the file's name, whatever it says itself.
func decode(data []byte) (Chat, error) {
	if n := event.Objects(data); n > maxObjects {
		return Chat{}, fmt.Errorf("it has %d objects; at most %d are read", n, maxObjects)
	}
	var c Chat
	if err := json.Unmarshal(data, &c); err != nil {
		return Chat{}, fmt.Errorf("it is not a saved chat: %w", err)
	}
	if c.Version != Version {
		return Chat{}, fmt.Errorf("it has format version %d; this program reads version %d", c.Version, Version)
	}
	return c, nil
}

// openRegular opens a file for reading; a pipe would wait for someone to write into it.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%s: %d bytes, %v; allowed is a regular file of at most %d bytes", path, info.Size(), info.Mode(), maxFileBytes)
	}
	return os.Open(path)
}

func readBounded(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	return data, errors.Join(err, f.Close())
}
