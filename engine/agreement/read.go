package agreement

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"specula/tokenizer/chat"
)

// Read reads dialogues, a JSON object each: {"turns": [["user", "hello"], ["assistant", "Hi!"]]}. An error tells which one is
// wrong.
func Read(r io.Reader) ([][]chat.Message, error) {
	var list [][]chat.Message
	decoder := json.NewDecoder(r)
	for {
		var line struct {
			Turns [][2]string `json:"turns"`
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
		var dialogue []chat.Message
		for _, turn := range line.Turns {
			if turn[0] != "user" && turn[0] != "assistant" && turn[0] != "system" {
				return nil, fmt.Errorf("reading dialogue %d: there is no role %.64q; allowed are user, assistant and system", len(list)+1, turn[0])
			}
			dialogue = append(dialogue, chat.Message{Role: turn[0], Content: turn[1]})
		}
		list = append(list, dialogue)
	}
	if len(list) == 0 {
		return nil, errors.New("there are no dialogues to measure on")
	}
	return list, nil
}
