package engine

import (
	"fmt"
	"slices"

	"specula/engine/config"
	"specula/engine/round"
	"specula/engine/spec"
)

// drafted records what each round of a reply drafted. If the reply repeats an earlier one, drafted also holds
// the plan: the drafts of the earlier reply for the rounds that are still to come. The seed alone is not
// enough to repeat a reply, because the length of a draft, its temperature and what a lookup finds depend
// on the clock and on earlier replies.
type drafted struct {
	done  []config.Draft
	plan  []config.Draft // drafts of the coming rounds; empty: the rule of γ chooses
	given *config.Draft  // the draft of this round; nil: the rule of γ chose
	at    int            // index of the round that gets given
}

// next takes the draft of a round from the plan. If the round is run again after its device failed, it
// gets the same draft again.
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

// note records the draft of a round. sharpen is the temperature of the draft divided by that of the
// target.
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

// follow parses the plan for the reply and keeps it. vocab is the size of the target's vocabulary: a plan with
// a token that the target lacks is an error.
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

// noCopy is a value of Ask.Trust so high that no looked-up draft is trusted. With it, a cascade that ends
// with a model always uses the model.
const noCopy = 2

// again changes the input of a round so that the round gets the draft of the plan.
func (d *drafted) again(in *round.Input) {
	in.Ask.Continue, in.Ask.Sharpen, in.Given = nil, d.given.Sharpen, d.given.IDs
	if d.given.IDs == nil {
		in.Ask.Trust = noCopy
	}
}
