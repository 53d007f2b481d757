package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
)

// Pick chooses or draws a draft token from an edited row, and waits for it.
func (l *logits) Pick(tt compute.Tokens, at int, drawn bool) (picked compute.Chance, err error) {
	b, t := l.owner, tt.(*tokens)
	require(l.rows == 1 && 0 < at && at < t.n, "Pick from many rows, or outside of the tokens")
	scores, restores, err := l.edit(t)
	if err != nil {
		return picked, err
	}
	from, bytes := t.chosen(at), 4
	if !drawn {
		b.tape.append(l.choose(scores, 1, from, 0)...)
	} else { // the token and its probability lie side by side
		from, bytes = t.verdict(), 8
		err = l.draw(t, at, scores, from, from+4)
	}
	b.tape.append(restores...) // after an error, too: the edits are on the tape already
	if err == nil {
		err = l.counted(func() error {
			return b.fetch(bytes, from, func(memory []byte) {
				picked.ID = int32(binary.LittleEndian.Uint32(memory))
				if drawn {
					picked.Q = float64(math.Float32frombits(binary.LittleEndian.Uint32(memory[4:])))
				}
			})
		})
	}
	if err != nil {
		return picked, fmt.Errorf("picking draft token %d: %w", at-1, err)
	}
	if drawn && picked.Q == 0 {
		picked.ID = -1
	}
	return picked, nil
}
