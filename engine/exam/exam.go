// Package exam asks a model fixed questions and grades the replies by fixed rules.
//
// A paper is a text of blocks with blank lines between them; lines that begin with # are notes. A block is one question:
//
//	id: gamma-raise
//	user: I want longer drafts, what do I press?
//	key: one more draft token
//	must: alt+↑|alt+up
//	not: i do not know
//
// The lines user and assistant are the conversation, and the reply to its last line, a user's, is graded. Between two lines of the
// user the model's own reply is put. Every line must wants one of its alternatives in the reply, and no alternative of any line
// not may be there. Both look for whole words and do not mind upper and lower case; an alternative that ends with * is the
// beginning of a word. The line copy wants exactly that text, and count: 10 the numbers from 1 to 10, in digits or words. The
// line key is not graded: it says what the key map says about the key that must be named, so that a test can compare.
//
// What the rules cannot see is whether a reply makes sense. They are meant to be hard to satisfy by chance and to refuse no right
// answer, and are the same for every model.
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
	Key   string         // part of the key map's words on the key in question; empty: none
	Must  [][]string     // alternatives
	Not   []string
	Copy  string // empty: nothing is to be copied
	Count int    // 0: nothing is to be counted
}

// Asked is what the user says last.
func (q Question) Asked() string { return q.Turns[len(q.Turns)-1].Content }

// Paper is a named list of questions.
type Paper struct {
	Name      string
	Questions []Question
}

// Result is how one paper went.
type Result struct {
	Name   string `json:"name"`
	Asked  int    `json:"asked"`
	Right  int    `json:"right"`
	Misses []Miss `json:"misses"`
}

// Share is the part of the questions that was answered right, 0 when there were none.
func (r Result) Share() float64 {
	if r.Asked == 0 {
		return 0
	}
	return float64(r.Right) / float64(r.Asked)
}

// Miss is a question that was not answered right. All texts are raw.
type Miss struct {
	ID       string `json:"id"`
	Question string `json:"question"` // the user's last line
	Reply    string `json:"reply"`
	Wanted   string `json:"wanted"`
}

// Answer writes a reply to a conversation whose last message is the user's.
type Answer func(ctx context.Context, conversation []chat.Message) (string, error)

// Take asks every question and grades the replies. progress, which may be nil, gets questions done.
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
