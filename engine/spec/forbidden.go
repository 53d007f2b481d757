package spec

import "specula/engine/sample"

// DropForbidden ends a draft at the first token that a Shaper is known to forbid. The target will reject
// this token, so no later token can count. Therefore a proposer without scores of its own need not apply
// the shapers.
//
// DropForbidden drops the forbidden token itself only if it was not sampled. A sampled token stays:
// removing tokens by their value would make the draft's distribution differ from the recorded q.
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

// Cut keeps the first n tokens of the draft.
func (d *Draft) Cut(n int) {
	d.Tokens, d.Q = d.Tokens[:n], d.Q[:n]
	d.Logits = d.Logits[:min(n, len(d.Logits))]
	d.Confidence = d.Confidence[:min(n, len(d.Confidence))]
}
