package sample

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"specula/engine/compute"
)

// Editor is a Shaper that changes the scores of few tokens only, so that a device can change them.
type Editor interface {
	// Edits returns how many tokens Edit would change, at most; −1 if a device cannot do what Shape does.
	Edits() int
	// Edit adds to e what Shape would do to the rows of the round that follows the pushed tokens. To change a
	// single token's score, Edit calls the function token and changes the result: the round's edit for this
	// id, which is made if the round has none yet.
	Edit(e *compute.Edits, token func(id int32) *compute.Edit)
}

// Masker is a Shaper that forbids tokens and changes no other score. A device can do this by a mask, once the
// host knows the tokens before the row.
type Masker interface {
	// Mask clears in allowed, one bit for each token, the bits of the tokens that Shape would forbid at the
	// current position. The bit of a token id is bit id%64 of allowed[id/64].
	Mask(allowed []uint64) error
}

// Editable reports whether a device can do what all Shapers do in the coming round.
func (s Shapers) Editable() bool {
	tokens := 0
	for _, shaper := range s {
		if _, ok := shaper.(Masker); ok {
			continue
		}
		e, ok := shaper.(Editor)
		if !ok || e.Edits() < 0 {
			return false
		}
		tokens += e.Edits()
	}
	return tokens <= compute.MostEdits
}

// Edits returns what Editable Shapers do to the rows of a round, which have vocab scores each. The draft is
// needed by Maskers alone.
func (s Shapers) Edits(draft []int32, vocab int) (*compute.Edits, error) {
	e, tokens := compute.NewEdits(), map[int32]*compute.Edit{}
	token := func(id int32) *compute.Edit {
		t := tokens[id]
		if t == nil {
			t = &compute.Edit{ID: id}
			tokens[id] = t
		}
		return t
	}
	var maskers []Masker
	for _, shaper := range s {
		if m, ok := shaper.(Masker); ok {
			maskers = append(maskers, m)
		} else {
			shaper.(Editor).Edit(e, token)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(tokens)) {
		e.Tokens = append(e.Tokens, *tokens[id])
	}
	if len(maskers) == 0 {
		return e, nil
	}
	var err error
	e.Allowed, err = s.masks(maskers, draft, vocab)
	return e, err
}

// masks returns the masks of a round: of the row before the draft, and of the row after each draft token.
// After a draft token that the masks forbid, which is never accepted, the masks allow every token, because
// Shapers must not be asked about rows there.
func (s Shapers) masks(maskers []Masker, draft []int32, vocab int) ([]uint64, error) {
	words, pushed := compute.MaskWords(vocab), 0
	defer func() { s.Pop(pushed) }()
	masks := make([]uint64, words*(len(draft)+1))
	for i := range len(draft) + 1 {
		row := masks[i*words:][:words]
		allowAll(row, vocab)
		if pushed < i {
			continue
		}
		for _, m := range maskers {
			if err := m.Mask(row); err != nil {
				return nil, fmt.Errorf("masking row %d of a round: %w", i, err)
			}
		}
		if i < len(draft) && row[draft[i]/64]>>(draft[i]%64)&1 != 0 {
			s.Push(draft[i])
			pushed++
		}
	}
	return masks, nil
}

// allowAll sets the first n bits of a mask.
func allowAll(mask []uint64, n int) {
	for i := range mask {
		mask[i] = math.MaxUint64
	}
	if rest := n % 64; rest != 0 {
		mask[len(mask)-1] = 1<<rest - 1
	}
}
