package spec

import "specula/engine/sample"

// DropForbidden ends a draft at the first token that a Shaper is known to forbid: the target will refuse it, and nothing behind it
// can count. It spares a proposer without scores of its own a row of shaping for every token that it guesses.
//
// A token that was not drawn by chance is dropped itself. One that was is kept: to leave out some of the tokens that were drawn is
// to draw from another distribution than the one recorded.
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
				draft.cut(keep)
				draft.Stop = "the next token may not be written"
			}
			return
		}
		shapers.Push(id)
		pushed++
	}
}

// cut leaves the first n tokens.
func (d *Draft) cut(n int) {
	d.Tokens, d.Q = d.Tokens[:n], d.Q[:n]
	d.Logits = d.Logits[:min(n, len(d.Logits))]
	d.Confidence = d.Confidence[:min(n, len(d.Confidence))]
}
