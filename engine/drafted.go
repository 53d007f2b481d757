package engine

import (
	"context"
	"fmt"
	"slices"

	"specula/engine/config"
	"specula/engine/gamma"
	"specula/engine/sample"
	"specula/engine/spec"
)

// drafted records the drafts of a reply. When a reply is repeated, it is also the plan for the next drafts. The seed alone
// does not repeat a reply: the length of a draft, its temperature and what a lookup finds depend on the clock and on earlier
// replies.
type drafted struct {
	done    []config.Draft
	sharpen float64        // of the latest draft: the factor on the target's temperature that it was drawn at
	plan    []config.Draft // for the rounds to come; empty: the rule chooses
	given   *config.Draft  // for this round; nil: the rule chose
	round   int            // the one that given is for
}

// next takes the draft of a round from the plan. A round that starts again on another device gets the same draft.
func (d *drafted) next(round int) {
	if d.given != nil && d.round == round {
		return
	}
	d.given, d.round = nil, round
	if len(d.plan) == 0 {
		return
	}
	first := d.plan[0]
	d.given = &first
	if d.plan[0].Rounds--; d.plan[0].Rounds == 0 {
		d.plan = d.plan[1:]
	}
}

// note records the draft of a round.
func (d *drafted) note(draft spec.Draft) {
	now := config.Draft{Rounds: 1, Length: len(draft.Tokens), Sharpen: 1}
	switch {
	case now.Length == 0:
	case !slices.ContainsFunc(draft.Q, uncertain):
		now.IDs = slices.Clone(draft.Tokens)
	case d.sharpen > 0:
		now.Sharpen = d.sharpen
	}
	if n := len(d.done); n > 0 {
		last := &d.done[n-1]
		if last.Length == now.Length && last.Sharpen == now.Sharpen && slices.Equal(last.IDs, now.IDs) && (last.IDs == nil) == (now.IDs == nil) {
			last.Rounds++
			return
		}
	}
	d.done = append(d.done, now)
}

func uncertain(q sample.Dist) bool { return q.P != nil || q.IsElsewhere() }

// follow takes a plan. It refuses a plan with tokens of another vocabulary.
func (d *drafted) follow(plan string, vocab int) (err error) {
	d.plan, err = config.ParseDrafts(plan)
	for _, draft := range d.plan {
		for _, id := range draft.IDs {
			if int(id) >= vocab {
				return fmt.Errorf("speculation.drafts has token %d; the target has %d: these are drafts of another model's reply", id, vocab)
			}
		}
	}
	return err
}

// decision returns gamma for a round whose draft the plan gives.
func (d *drafted) decision() gamma.Decision {
	return gamma.Decision{Gamma: d.given.Length, Why: "as when the reply was first written"}
}

// propose asks the proposer for a draft, unless the plan has its tokens because they were looked up.
func (d *drafted) propose(ctx context.Context, p spec.Proposer, ask spec.Ask) (spec.Draft, error) {
	if d.given == nil || d.given.IDs == nil {
		return p.Propose(ctx, ask)
	}
	var draft spec.Draft
	for _, id := range d.given.IDs {
		draft.Tokens = append(draft.Tokens, id)
		draft.Q = append(draft.Q, sample.OneHot(id))
	}
	return draft, nil
}

// noCopy is a trust that no lookup of the combined proposer reaches, so that its draft model drafts.
const noCopy = 2

// again changes a question so that the answer is the draft of the plan.
func (d *drafted) again(ask *spec.Ask) {
	ask.Continue, ask.Sharpen = nil, d.given.Sharpen
	if d.given.IDs == nil {
		ask.Trust = noCopy
	}
}
