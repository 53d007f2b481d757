package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"specula/engine/config"
)

// maxLineBytes limits a line of the file. A line of GSM8K has about 1 kB.
const maxLineBytes = 1 << 20

// OpenGSM8K opens a file and reads it with ReadGSM8K.
func OpenGSM8K(path string, most int) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &config.FileError{File: path, Err: fmt.Errorf("opening the questions: %w", errors.Unwrap(err))}
	}
	defer f.Close()
	return ReadGSM8K(path, f, most)
}

// ReadGSM8K reads questions of a file of the set GSM8K from its beginning, as many as the argument most
// allows. The file has JSON Lines, each with a text "question"; other fields, such as the answer, are
// ignored. Errors are *config.FileError; a file without questions is an error, too.
func ReadGSM8K(file string, r io.Reader, most int) ([]string, error) {
	var prompts []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLineBytes)
	line := 0
	refuse := func(err error) ([]string, error) { return nil, &config.FileError{File: file, Line: line, Err: err} }
	for len(prompts) < most && lines.Scan() {
		line++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var entry struct {
			Question *string `json:"question"`
		}
		switch err := json.Unmarshal(lines.Bytes(), &entry); {
		case err != nil:
			return refuse(fmt.Errorf("reading a question: %w; allowed is a JSON object a line, such as {\"question\": \"…\", \"answer\": \"…\"}", err))
		case entry.Question == nil || strings.TrimSpace(*entry.Question) == "":
			return refuse(errors.New(`the line has no text "question"; is this a file of GSM8K, such as test.jsonl?`))
		}
		prompts = append(prompts, strings.TrimSpace(*entry.Question))
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		line++
		return refuse(fmt.Errorf("the line is longer than %d bytes", maxLineBytes))
	case err != nil:
		return refuse(fmt.Errorf("reading questions: %w", err))
	case len(prompts) == 0:
		line = 0
		return refuse(errors.New("the file holds no question"))
	}
	return prompts, nil
}
