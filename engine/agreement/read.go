package agreement

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"specula/tokenizer/chat"
)

// Talk is a dialogue as text.
type Talk struct {
	Source string // the kind of text, in a word; may be empty
	Turns  []chat.Message
}

// maxFileBytes bounds a file of dialogues.
const maxFileBytes = 64 << 20

// ReadFile reads the dialogues of a file.
func ReadFile(path string) ([]Talk, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFileBytes) {
		err = fmt.Errorf("%q has %d bytes, %v: allowed is a regular file of at most %d bytes", path, info.Size(), info.Mode(), maxFileBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("reading dialogues: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading dialogues: %w", err)
	}
	defer f.Close()
	return Read(f)
}

// Read reads dialogues, one JSON object each: {"source": "small talk", "turns": [["user",
// "hello"], ["assistant", "Hi!"]]}. The source may be missing. An error says which dialogue is
// wrong.
func Read(r io.Reader) ([]Talk, error) {
	var list []Talk
	decoder := json.NewDecoder(r)
	for {
		var line struct {
			Source string      `json:"source"`
			Turns  [][2]string `json:"turns"`
		}
		err := decoder.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && len(line.Turns) == 0 {
			err = errors.New("it has no turns")
		}
		if err != nil {
			return nil, fmt.Errorf("reading dialogue %d: %w", len(list)+1, err)
		}
		talk := Talk{Source: line.Source}
		for _, turn := range line.Turns {
			if turn[0] != "user" && turn[0] != "assistant" && turn[0] != "system" {
				return nil, fmt.Errorf("reading dialogue %d: there is no role %.64q; allowed are user, assistant and system", len(list)+1, turn[0])
			}
			talk.Turns = append(talk.Turns, chat.Message{Role: turn[0], Content: turn[1]})
		}
		list = append(list, talk)
	}
	if len(list) == 0 {
		return nil, errors.New("there are no dialogues to measure on")
	}
	return list, nil
}
