package spec

import "specula/engine/sample"

// DropForbidden ends a draft at the first token that a Shaper is known to forbid: the target will
// reject it, and no token after it can count. So a proposer without scores of its own need not
// shape a row for each token.
//
// A forbidden token that was not sampled is dropped, too. One that was sampled is kept: to leave
// out some of the sampled tokens would make the draft's distribution another than the recorded q.
func DropForbidden(draft *Draft, shapers sample.Shapers) {
	pushed := 0
	defer func() { shapers.Pop(pushed) }()
	for i, id := range draft.Tokens {
		if !shapers.Allows(id) {
			keep := i
			if draft.Q[i].P != nil {
				keep++
			}
			if keep < len(draft.Tokens) {
				draft.Cut(keep)
				draft.Stop = "the next token may not be written"
			}
			return
		}
		shapers.Push(id)
		pushed++
	}
}

// Cut keeps the first n tokens.
func (d *Draft) Cut(n int) {
	d.Tokens, d.Q = d.Tokens[:n], d.Q[:n]
	d.Logits = d.Logits[:min(n, len(d.Logits))]
	d.Confidence = d.Confidence[:min(n, len(d.Confidence))]
}
