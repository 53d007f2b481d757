package exam

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"specula/tokenizer/chat"
)

// mostCounted is the largest number that a question may ask to count to. numbers knows words up to
// twenty-one, so it also notices if a reply counts on after twenty.
const mostCounted = 20

// Read reads a paper: the questions of an exam. An error in a question names its line, or the line before which
// the question ends. A paper without questions is an error.
func Read(name, text string) (Paper, error) {
	p := Paper{Name: name}
	seen := map[string]bool{}
	var q Question
	begun := false
	finish := func(line int) error {
		if !begun {
			return nil
		}
		if err := q.check(); err != nil {
			return fmt.Errorf("%s: the question that ends before line %d: %w", name, line, err)
		}
		if seen[q.ID] {
			return fmt.Errorf("%s: the question that ends before line %d: the id %s is there twice", name, line, q.ID)
		}
		seen[q.ID] = true
		p.Questions = append(p.Questions, q)
		q, begun = Question{}, false
		return nil
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			if err := finish(number); err != nil {
				return Paper{}, err
			}
		default:
			begun = true
			if err := q.take(line); err != nil {
				return Paper{}, fmt.Errorf("%s, line %d: %w", name, number, err)
			}
		}
	}
	if err := finish(number + 1); err != nil {
		return Paper{}, err
	}
	if len(p.Questions) == 0 {
		return Paper{}, fmt.Errorf("%s: there are no questions in it", name)
	}
	return p, nil
}

// take reads one line of a block.
func (q *Question) take(line string) error {
	field, value, ok := strings.Cut(line, ":")
	if value = strings.TrimSpace(value); !ok || value == "" {
		return fmt.Errorf("%.64q is not of the form NAME: VALUE", line)
	}
	switch field {
	case "id":
		q.ID = value
	case "user", "assistant":
		q.Turns = append(q.Turns, chat.Message{Role: field, Content: value})
	case "key":
		q.Key = value
	case "must":
		list, err := alternatives(value)
		q.Must = append(q.Must, list)
		return err
	case "not":
		list, err := alternatives(value)
		q.Not = append(q.Not, list...)
		return err
	case "copy":
		q.Copy = value
	case "count":
		n, err := strconv.Atoi(value)
		if err != nil || n < 2 || n > mostCounted {
			return fmt.Errorf("count must be 2 to %d, got %.64q", mostCounted, value)
		}
		q.Count = n
	default:
		return fmt.Errorf("there is no %.64q; allowed are id, user, assistant, key, must, not, copy and count", field)
	}
	return nil
}

func alternatives(value string) ([]string, error) {
	var list []string
	for phrase := range strings.SplitSeq(value, "|") {
		phrase = fold(phrase)
		if phrase == "" || phrase == "*" {
			return nil, fmt.Errorf("an alternative of %.64q is empty", value)
		}
		list = append(list, phrase)
	}
	return list, nil
}

// check returns an error if a block is not complete.
func (q *Question) check() error {
	switch {
	case q.ID == "":
		return errors.New("it has no id")
	case len(q.Turns) == 0 || q.Turns[0].Role != "user" || q.Turns[len(q.Turns)-1].Role != "user":
		return fmt.Errorf("%s: its conversation must begin and end with a user line", q.ID)
	case len(q.Must) == 0 && q.Copy == "" && q.Count == 0:
		return fmt.Errorf("%s: it has no rule that a reply must keep: must, copy or count", q.ID)
	}
	for i := 1; i < len(q.Turns); i++ {
		if q.Turns[i].Role == "assistant" && q.Turns[i-1].Role == "assistant" {
			return fmt.Errorf("%s: two assistant lines follow each other", q.ID)
		}
	}
	return nil
}
