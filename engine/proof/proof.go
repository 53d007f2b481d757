// Package proof tests whether replies have the target's distribution.
//
// It judges whole replies, written by the same loop as in chats. For each token it needs the exact
// distribution p at its place. The caller computes p from the finished reply alone: by a pass of the
// target without drafts, and by the definitions of all filters (package oracle). Put the vocabulary in
// some order, and let v be uniform and drawn only for this purpose. Then
//
//	U = p(all tokens before the written one) + v·p(the written one)
//
// is uniform in [0,1), whatever was written before. (Smith 1985; Brockwell 2007: the randomised
// probability integral transform.) This holds for all rules of acceptance, draft lengths, settings
// and histories, if each token has its exact distribution given everything before it. So one question
// covers everything: are the values U uniform, and independent of what was known before? Package
// proof asks it for all values, for values at a certain place of a round, for neighbours, and for the
// lengths of replies.
//
// A Judge collects the values (judge.go) and decides whether they are as they must be (Fault in decide.go).
// conclude in report.go makes a verdict of that.
//
// A report also says how small a fault it would have noticed, computed from the replies themselves.
package proof

import (
	"context"
	"errors"
	"fmt"
	"time"

	"specula/engine/sample"
	"specula/engine/spec"
)

// Contestant is a way to write replies: a proposer with an acceptance rule.
type Contestant struct {
	Proposer string
	Rule     spec.Rule
	Refused  string  // why the contestant cannot write; then Write is nil. Empty: it can
	Weight   float64 // the contestant's share of the time is Weight / the sum of all weights
	// Write writes one reply from a seed. If a deadline of ctx cuts a reply short, its tokens so far
	// are judged.
	Write func(ctx context.Context, seed uint64) (*Reply, error)
}

// Subject is the system under test.
type Subject struct {
	Contestants []Contestant
	Params      sample.Params
	Stops       []int32 // tokens that end a reply
	Decode      func(ids []int32) string
}

// Options bound a run.
type Options struct {
	Seconds float64 // time for the whole run
	Replies int     // largest number of replies of one contestant
	Seed    uint64
	Now     func() time.Time
}

const (
	// FalseAlarms is the largest probability that some test of a run finds a fault in correct code.
	FalseAlarms = 1e-4
	// certainty is the probability with which a fault of the reported size is noticed.
	certainty = 0.99
	// greedyReplies is the number of replies of a contestant at temperature 0. Few are enough there,
	// because nothing is random.
	greedyReplies = 4
	// caseBits separates the seeds of the contestants. All of them write in one session, whose
	// proposers look up finished replies. With the seed of an earlier contestant, they would find the
	// same reply that is about to be written, and the drafts would tell which tokens follow.
	caseBits = 32
)

// Run tests all contestants. It calls progress, which may be nil, after each. A run without
// contestants is an error.
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
	r.sum()
	return r, nil
}

// try lets one contestant write for the given seconds, but at least one reply, with seeds from first on.
// falseAlarm is as in conclude.
func (s *Subject) try(ctx context.Context, c Contestant, o Options, first uint64, seconds, falseAlarm float64) (Case, error) {
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
			during = ctx // write at least one reply, however slow the models are
		}
		reply, err := c.Write(during, first+uint64(n))
		if err != nil {
			return Case{}, err
		}
		if err := j.Add(reply); err != nil {
			return Case{}, err
		}
	}
	return s.conclude(c, j, falseAlarm), ctx.Err()
}
