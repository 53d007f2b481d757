// Package audit judges the speculation of a serving engine from outside: the same prompts with it and
// without, at temperature 0, where speculation must change nothing.
//
// With it, the server's own rounds are watched. Without it, a second server is asked, or the same one
// for one token a request, which no engine speculates on. The rows that come with the plain side say how
// close the two best tokens were where the texts part: a near tie may fall either way in other batches, a
// wide margin means a fault.
package audit

import (
	"context"
	"errors"
	"iter"
	"slices"

	"specula/engine/event"
)

// Session is a conversation with a server.
type Session interface {
	Reply(ctx context.Context, prompt string) iter.Seq[event.Event]
}

// Counters are a server's own counts, before and after.
type Counters struct{ Drafted, Accepted float64 }

// Options say what to ask.
type Options struct {
	Prompts []string
	// Streams says that the plain side is a server's stream, whose speed counts.
	Streams bool
	// Count reads the server's counters; nil: it tells none.
	Count func(ctx context.Context) (Counters, error)
}

// reply is one answer.
type reply struct {
	tokens []event.Token // committed
	end    event.ReplyEnded
	ms     float64 // of all rounds but the first, which waits for the prompt
	timed  int     // tokens of these
	own    Counters
}

// Run asks both. progress, which may be nil, gets the number of prompts done.
func Run(ctx context.Context, speculative, plain Session, o Options, progress func(done, total int)) (*Report, error) {
	if len(o.Prompts) == 0 {
		return nil, errors.New("there are no prompts to ask")
	}
	before, err := o.count(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Prompts: len(o.Prompts), Divergences: []Divergence{}}
	var told Counters
	for i, prompt := range o.Prompts {
		var pair [2]reply
		sessions := [2]Session{speculative, plain}
		for turn := range 2 { // the order alternates, so that a server that slows down favours neither side
			side := (turn + i) % 2
			if pair[side], err = ask(ctx, sessions[side], prompt); err != nil {
				return nil, err
			}
		}
		r.add(prompt, &pair[0], &pair[1], o.Streams)
		told.Drafted, told.Accepted = told.Drafted+pair[0].own.Drafted, told.Accepted+pair[0].own.Accepted
		if progress != nil {
			progress(i+1, len(o.Prompts))
		}
	}
	after, err := o.count(ctx)
	if err != nil {
		return nil, err
	}
	r.conclude(o, told, Counters{after.Drafted - before.Drafted, after.Accepted - before.Accepted})
	return r, nil
}

func (o *Options) count(ctx context.Context) (Counters, error) {
	if o.Count == nil {
		return Counters{}, nil
	}
	return o.Count(ctx)
}

// ask writes one reply.
func ask(ctx context.Context, s Session, prompt string) (r reply, err error) {
	var rounds []event.Round
	for e := range s.Reply(ctx, prompt) {
		switch e := e.(type) {
		case event.Failed:
			err = errors.New(e.Error)
		case event.Round:
			rounds = append(rounds, e)
		case event.ReplyEnded:
			r.end = e
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return r, err
	}
	for i := range rounds {
		for _, s := range r.end.Served {
			if s.Round == rounds[i].Index {
				rounds[i].Complete(s)
			}
		}
		if s := rounds[i].Server; s != nil && s.Drafted > 0 {
			r.own.Drafted, r.own.Accepted = r.own.Drafted+float64(s.Drafted), r.own.Accepted+float64(s.Kept)
		}
		committed := rounds[i].Committed()
		r.tokens = append(r.tokens, committed...)
		if i > 0 {
			r.ms, r.timed = r.ms+rounds[i].MS(), r.timed+len(committed)
		}
	}
	return r, nil
}

// parting is the first place where two texts differ; -1 if they are the same.
func parting(a, b []int32) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

// margin is the distance between the two best log-probabilities at a token, in nats; nil if it is not known.
func margin(t *event.Token) *float64 {
	if len(t.LogProbs) < 2 {
		return nil
	}
	best := slices.Clone(t.LogProbs)
	slices.SortFunc(best, func(a, b event.Candidate) int {
		if a.P > b.P {
			return -1
		}
		return 1
	})
	m := best[0].P - best[1].P
	return &m
}
