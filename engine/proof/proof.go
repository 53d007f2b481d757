// Package proof shows that replies have the distribution that the target's own would have.
//
// It judges whole replies, written by the loop that chats use. For each written token it is given the exact distribution p of the
// token at that place, computed for the finished reply alone: by a pass of the target that knows nothing of drafts, and by
// the definitions of all filters (package oracle). With an order of the vocabulary, and v uniform and drawn for this alone,
//
//	U = p(tokens in front of the written one) + v·p(the written one)
//
// is uniform in [0,1), whatever was written before. (Smith 1985; Brockwell 2007: the randomised probability integral transform.)
// This holds for every rule of acceptance, draft length, setting and history, as long as each token has its exact distribution given all
// that happened before it. So one test serves everything: are the values uniform, and independent of what was known before?
// Package proof asks that of all values, of those at some place of a round, of neighbours, and of the lengths of replies.
//
// A report says how small a fault it would have noticed, computed from the replies themselves.
package proof

import (
	"context"
	"errors"
	"fmt"
	"time"

	"specula/engine/sample"
	"specula/engine/spec"
)

// Contestant is a way to write replies that is put on trial.
type Contestant struct {
	Proposer string
	Rule     spec.Rule
	Refused  string  // why it is not available; Write is then nil
	Weight   float64 // its part of the time, beside those of others
	// Write writes one reply from a seed. A reply that a deadline of ctx cuts short is judged as far as it goes.
	Write func(ctx context.Context, seed uint64) (*Reply, error)
}

// Subject is what is on trial.
type Subject struct {
	Contestants []Contestant
	Params      sample.Params
	Stops       []int32 // tokens that end a reply
	Decode      func(ids []int32) string
}

// Options bound a run.
type Options struct {
	Seconds float64 // for everything
	Replies int     // of one contestant, at most
	Seed    uint64
	Now     func() time.Time
}

const (
	// FalseAlarms is the probability with which all tests of a run together find a fault in code that has none.
	FalseAlarms = 1e-4
	// certainty is that of a noticed fault, in what a report says about its power.
	certainty = 0.99
	// greedyReplies are enough where nothing is left to chance.
	greedyReplies = 4
	// caseBits keeps the seeds of the contestants apart. They write in one session, whose proposers look up finished
	// replies: with the seeds of an earlier contestant they would find the very reply that is about to be written,
	// and what was drafted would tell which tokens follow.
	caseBits = 32
)

// Run puts every contestant on trial. progress, which may be nil, is told after each.
func Run(ctx context.Context, s Subject, o Options, progress func(done, total int)) (*Report, error) {
	if len(s.Contestants) == 0 {
		return nil, errors.New("there is no proposer or no rule to put on trial")
	}
	began, total, left := o.Now(), len(s.Contestants), 0.0
	for _, c := range s.Contestants {
		if c.Refused == "" {
			left += c.Weight
		}
	}
	r := &Report{Params: s.Params, FalseAlarms: FalseAlarms, Certainty: certainty}
	for i, c := range s.Contestants {
		if c.Refused != "" {
			r.Cases = append(r.Cases, Case{Proposer: c.Proposer, Rule: string(c.Rule), Lossy: c.Rule.Lossy(), Verdict: Unavailable, Why: c.Refused})
		} else {
			remaining := max(0.1, o.Seconds-o.Now().Sub(began).Seconds())
			one, err := s.try(ctx, c, o, o.Seed+uint64(i)<<caseBits, remaining*c.Weight/left, FalseAlarms/float64(total))
			if err != nil {
				return nil, fmt.Errorf("proposer %s with rule %s: %w", c.Proposer, c.Rule, err)
			}
			left -= c.Weight
			r.Cases = append(r.Cases, one)
		}
		if progress != nil {
			progress(i+1, total)
		}
	}
	r.Seconds = o.Now().Sub(began).Seconds()
	r.judge()
	return r, nil
}

// try lets one contestant write for so many seconds, from seeds that begin with first, and judges it at a level.
func (s *Subject) try(ctx context.Context, c Contestant, o Options, first uint64, seconds, level float64) (Case, error) {
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	defer cancel()
	most := o.Replies
	if s.Params.Temperature == 0 {
		most = min(most, greedyReplies)
	}
	j := NewJudge(s.Stops, s.Decode, first)
	for n := 0; n < most && (n == 0 || limited.Err() == nil); n++ {
		during := limited
		if n == 0 {
			during = ctx // one reply at least, however slow the models are
		}
		reply, err := c.Write(during, first+uint64(n))
		if err != nil {
			return Case{}, err
		}
		if err := j.Add(reply); err != nil {
			return Case{}, err
		}
	}
	return s.conclude(c, j, level), ctx.Err()
}
