package gpu

import (
	"encoding/binary"
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// Masked rounds. A form of the reply, allowed tokens or bad words forbid most tokens of a row, or some. The host
// sends a bit for each token. The masked scores go to other memory: that of the weights which sampling makes of
// them. So the scores of the pass stay as they are, and a verdict has nothing to restore.

// masking is what a masked round needs on the device.
type masking struct {
	allowed driver.Pointer // a mask for each row, one after the other
	bytes   int64          // that there is room for
}

// maskBytes is the memory of masks for rows of vocab tokens.
func maskBytes(rows, vocab int) int64 { return 8 * int64(rows) * int64(compute.MaskWords(vocab)) }

// open makes room for masks.
func (m *masking) open(b *Backend, rows, vocab int) error {
	bytes := maskBytes(rows, vocab)
	if bytes <= m.bytes {
		return nil
	}
	if err := m.free(b); err != nil {
		return err
	}
	memory, err := b.alloc(fmt.Sprintf("masks of %d × %d tokens", rows, vocab), bytes)
	if err != nil {
		return err
	}
	*m = masking{memory, bytes}
	return nil
}

func (m *masking) free(b *Backend) error {
	memory := m.allowed
	*m = masking{}
	if memory == 0 {
		return nil
	}
	b.flush() // the tape may have steps that read this memory
	return b.release(memory)
}

// mask sends masks to the device, while it may still run the pass, and returns the operation that masks the
// rows. The last verdict has read the masks before these, since the host waited for it.
func (l *logits) mask(t *tokens, allowed []uint64) (mask, error) {
	b, m, vocab := l.owner, &t.masking, l.x.cols
	require(len(allowed) == l.rows*compute.MaskWords(vocab), "masks of another number of rows or tokens")
	err := first(m.open(b, max(l.rows, min(l.x.rows, t.n)), vocab), l.p.open(b, "rows", l.x.rows, vocab))
	if err == nil {
		err = b.uploads.send(b, m.allowed, 8*len(allowed), func(to []byte) {
			for i, word := range allowed {
				binary.LittleEndian.PutUint64(to[8*i:], word)
			}
		})
	}
	return mask{l.x.memory, m.allowed, l.p.weights, l.rows, vocab}, err
}

// mask copies rows of scores, with −Inf for the tokens that are not allowed.
type mask struct {
	scores      driver.Pointer // (rows, vocab)
	allowed     driver.Pointer // (rows, words of 64 tokens)
	masked      driver.Pointer // (rows, vocab)
	rows, vocab int
}

func (o mask) launch() launch {
	return launchOf("mask_rows", sliceEach(threadsPerBlock, scoreRows{rows: o.rows, vocab: o.vocab}), address(o.scores),
		address(o.allowed), address(o.masked), whole(o.vocab))
}
