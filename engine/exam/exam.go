// Package exam asks a model fixed questions and grades the replies by fixed rules.
//
// A paper is a text of blocks separated by blank lines. Lines that begin with # are notes. A block
// is one question:
//
//	id: gamma-raise
//	user: I want longer drafts, what do I press?
//	key: one more draft token
//	must: alt+↑|alt+up
//	not: i do not know
//
// The lines user and assistant are the conversation. Its last line is the user's, and the reply to it is
// graded. Between two user lines in succession, the model's own reply is inserted. For each line must, the
// reply must contain one of the alternatives. It must not contain any alternative of a line not. The lines
// must and not compare whole words and ignore case; an alternative that ends with * is the beginning of a
// word. The line copy wants exactly its text, with or without quotation marks. count: 10 wants the
// numbers from 1 to 10, in digits or words. The line key is not graded: it has words of the key map about
// the right key, which a test compares.
//
// The rules cannot tell whether a reply makes sense. They are meant to be hard to satisfy by chance
// and to accept all right answers. They are the same for all models.
package exam

import (
	"context"
	"fmt"

	"specula/tokenizer/chat"
)

// Question is one block of a paper.
type Question struct {
	ID    string
	Turns []chat.Message // the last one is the user's
	Key   string         // part of what the key map says about the key in question; empty: none
	Must  [][]string     // in each list: alternatives, of which the reply must contain one
	Not   []string       // alternatives that the reply must not contain
	Copy  string         // the text to copy; empty: none
	Count int            // the number to count to; 0: none
}

// Asked returns what the user says last.
func (q Question) Asked() string { return q.Turns[len(q.Turns)-1].Content }

// Paper is a named list of questions.
type Paper struct {
	Name      string
	Questions []Question
}

// Result is the result of one paper.
type Result struct {
	Name   string `json:"name"`
	Asked  int    `json:"asked"`
	Right  int    `json:"right"`
	Misses []Miss `json:"misses"`
}

// Share returns the fraction of the questions that were answered right, 0 if there were none.
func (r Result) Share() float64 {
	if r.Asked == 0 {
		return 0
	}
	return float64(r.Right) / float64(r.Asked)
}

// Miss is a question that was not answered right. Its texts are not escaped for a terminal.
type Miss struct {
	ID       string `json:"id"`
	Question string `json:"question"` // the user's last line
	Reply    string `json:"reply"`
	Wanted   string `json:"wanted"`
}

// Answer writes a reply to a conversation whose last message is the user's.
type Answer func(ctx context.Context, conversation []chat.Message) (string, error)

// Take asks all questions and grades the replies. If progress is not nil, Take calls it after each
// question. If answer returns an error, Take stops and returns no results.
func Take(ctx context.Context, papers []Paper, answer Answer, progress func(done, total int)) ([]Result, error) {
	total, done := 0, 0
	for _, p := range papers {
		total += len(p.Questions)
	}
	var results []Result
	for _, p := range papers {
		r := Result{Name: p.Name, Asked: len(p.Questions), Misses: []Miss{}}
		for _, q := range p.Questions {
			reply, err := ask(ctx, q, answer)
			if err != nil {
				return nil, fmt.Errorf("asking question %s of %s: %w", q.ID, p.Name, err)
			}
			if wanted := q.Grade(reply); wanted == "" {
				r.Right++
			} else {
				r.Misses = append(r.Misses, Miss{q.ID, q.Asked(), reply, wanted})
			}
			if done++; progress != nil {
				progress(done, total)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// ask holds the conversation of a question and returns the last reply.
func ask(ctx context.Context, q Question, answer Answer) (reply string, err error) {
	var conversation []chat.Message
	for i, turn := range q.Turns {
		conversation = append(conversation, turn)
		given := i+1 < len(q.Turns) && q.Turns[i+1].Role == "assistant"
		if turn.Role != "user" || given {
			continue
		}
		if reply, err = answer(ctx, conversation); err != nil {
			return "", err
		}
		conversation = append(conversation, chat.Message{Role: "assistant", Content: reply})
	}
	return reply, nil
}
