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

// A file may come from anyone, so every size in it is limited.
const (
	maxFileBytes   = 64 << 20 // enough for 2,000 long messages
	maxRecordBytes = 24 << 20 // of all written events together; beyond it, older replies have none
	// The most JSON objects and lists. They are short in a file but large in memory.
	maxRecordObjects = 500_000 // in the written events: about 60,000 tokens
	maxObjects       = 600_000 // in a file to read
)

// Encode returns the file of a chat, readable for people: one line for each message and for each
// event of a reply. If the events exceed the limits, it leaves out those of older replies; if the file
// is still too large, it leaves out all events.
func Encode(c Chat) ([]byte, error) {
	records, err := encodeEvents(c.Turns)
	if err != nil {
		return nil, err
	}
	data, err := encodeWith(c, records)
	if err == nil && len(data) > maxFileBytes { // a larger file could not be read; so write the text alone
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
		if lines := records[i]; lines != nil { // events are the last field of the record, which is the last field of a turn
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

// encodeEvents returns the encoded events of the newest replies, as many replies as the limits
// allow. The keys are the indices of turns.
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

// UnmarshalJSON decodes a record. It never returns an error: a record that it cannot decode stays
// empty, and one with an event that it cannot decode has no events. The text of the reply is still
// there.
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

// decode decodes a chat. The caller sets the ID from the file's name.
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

// openRegular opens a regular file of at most maxFileBytes for reading. It refuses a pipe, because
// opening one would wait for a writer.
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
