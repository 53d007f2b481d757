package engine

import (
	"fmt"
	"slices"

	"specula/engine/config"
	"specula/engine/round"
	"specula/engine/spec"
)

// drafted records what each round of a reply drafted. When a reply is repeated, it also holds the
// plan for the next rounds. The seed alone does not repeat a reply: the length of a draft, its
// temperature and what a lookup finds depend on the clock and on earlier replies.
type drafted struct {
	done  []config.Draft
	plan  []config.Draft // for the rounds to come; empty: the rule chooses
	given *config.Draft  // for this round; nil: the rule chose
	at    int            // the round that given is for
}

// next takes the draft of a round from the plan. A round that starts again on another device gets the
// same draft.
func (d *drafted) next(index int) {
	if d.given != nil && d.at == index {
		return
	}
	d.given, d.at = nil, index
	if len(d.plan) == 0 {
		return
	}
	first := d.plan[0]
	d.given = &first
	if d.plan[0].Rounds--; d.plan[0].Rounds == 0 {
		d.plan = d.plan[1:]
	}
}

// note records the draft of a round. The draft was drawn at sharpen times the target's temperature.
func (d *drafted) note(draft *spec.Draft, sharpen float64) {
	now := config.Draft{Rounds: 1, Length: len(draft.Tokens), Sharpen: 1}
	switch {
	case now.Length == 0:
	case round.Certain(draft):
		now.IDs = slices.Clone(draft.Tokens)
	case sharpen > 0:
		now.Sharpen = sharpen
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

// noCopy is a trust that no lookup of the combined proposer reaches, so that its draft model drafts.
const noCopy = 2

// again changes what a round starts from so that it has the draft of the plan.
func (d *drafted) again(in *round.Input) {
	in.Ask.Continue, in.Ask.Sharpen, in.Given = nil, d.given.Sharpen, d.given.IDs
	if d.given.IDs == nil {
		in.Ask.Trust = noCopy
	}
}
