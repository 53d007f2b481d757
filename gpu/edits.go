package gpu

import (
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// Edited rounds. Penalties, biases and bans change the scores of a pass before the verdict. Work queued
// after the verdict restores the scores, so that later readers find what the model gave. For masks see mask.go.

// The sizes of the structs Edits and Edit (one edited token) of kernels/cuda/src/edits.cu, in words of 4 bytes.
const (
	editsWords = 4 + compute.MostDrafts
	editWords  = 4
)

// editing is what an edited round needs on the device.
type editing struct {
	due   *compute.Edits // for the next verdict; nil: none
	saved driver.Pointer // (rows, most) pairs of an id and a score
	rows  int
	most  int // edited tokens of a row that saved has room for
}

// Edit sets the edits for the next verdict.
func (t *tokens) Edit(e *compute.Edits) error {
	require(len(e.Tokens) <= compute.MostEdits, "Edit of too many tokens")
	t.editing.due = e
	return t.owner.usable()
}

// roomForEdits returns how many old scores of a row to make room for if this many of its tokens are edited.
// It is a power of two, at least 1024. So the steps of a round seldom change while more tokens are edited.
func roomForEdits(tokens int) int { return max(1024, roundUpToPower(tokens)) }

// editingBytes is the most memory that edited rounds need for old scores.
func editingBytes(rows, vocab int) int64 {
	return savedBytes(min(rows, compute.MostDrafts+1), roomForEdits(min(vocab, compute.MostEdits)+compute.MostDrafts))
}

func savedBytes(rows, tokens int) int64 { return 8 * int64(rows) * int64(tokens) }

// open makes room for the old scores of some tokens in each row.
func (e *editing) open(b *Backend, rows, tokens int) error {
	if rows <= e.rows && tokens <= e.most {
		return nil
	}
	if err := e.free(b); err != nil {
		return err
	}
	most := roomForEdits(tokens)
	memory, err := b.alloc(fmt.Sprintf("edited scores, %d × %d", rows, most), savedBytes(rows, most))
	if err != nil {
		return err
	}
	e.saved, e.rows, e.most = memory, rows, most
	return nil
}

func (e *editing) free(b *Backend) error {
	memory := e.saved
	e.saved, e.rows, e.most = 0, 0, 0
	if memory == 0 {
		return nil
	}
	b.flush() // the tape may have steps that write to this memory
	return b.release(memory)
}

// edit appends the edits that are due to the tape. It returns where the scores to judge are, and the operations
// that undo the edits; none if no edits are due.
func (l *logits) edit(t *tokens) (scores driver.Pointer, restores []operation, err error) {
	b, e := l.owner, &t.editing
	due := e.due
	e.due = nil
	if due == nil {
		return l.x.memory, nil, nil
	}
	var masked mask
	if due.Allowed != nil {
		if masked, err = l.mask(t, due.Allowed); err != nil {
			return 0, nil, err
		}
	}
	if due.Allowed == nil || due.Repeat != 0 || len(due.Tokens) > 0 {
		if err := e.open(b, max(l.rows, min(l.x.rows, t.n)), len(due.Tokens)+compute.MostDrafts); err != nil {
			return 0, nil, err
		}
		words := b.word(b.tape.word(wordsOf(due)...))
		rows := editedRows{l.x.memory, words, e.saved, e.most, l.rows, l.x.cols}
		b.tape.append(edit{rows, t.chosen(1)})
		restores = []operation{restore{rows}}
	}
	if due.Allowed == nil {
		return l.x.memory, restores, nil
	}
	b.tape.append(masked)
	return masked.masked, restores, nil
}

func wordsOf(e *compute.Edits) []int32 {
	words := make([]int32, 0, editsWords+editWords*len(e.Tokens))
	words = append(words, int32(len(e.Tokens)))
	for _, f := range []float32{e.Repeat, e.Frequency, e.Presence} {
		words = append(words, int32(math.Float32bits(f)))
	}
	words = append(words, e.Leaving[:]...)
	for _, t := range e.Tokens {
		words = append(words, t.ID, t.Count, int32(math.Float32bits(t.Bias)), t.Banned)
	}
	return words
}

// editedRows are rows of scores, the edits that change some of them (penalties, biases, bans), and room
// for the old scores, which come back after the verdict.
type editedRows struct {
	scores driver.Pointer // (rows, vocab)
	edits  driver.Pointer // words on the tape; see wordsOf
	saved  driver.Pointer // (rows, most) pairs of a token and its old score

	most        int // tokens of a row that can be edited
	rows, vocab int
}

// shape does not depend on the number of edited tokens, so that a graph serves any.
func (o editedRows) shape() driver.Shape {
	const blocks = 16
	return driver.Shape{Grid: [3]int{blocks, o.rows}, Block: [3]int{threadsPerBlock}}
}

// edit changes scores.
type edit struct {
	editedRows
	drafts driver.Pointer // (rows−1) int32
}

func (o edit) launch() launch {
	return launchOf("edit_rows", o.shape(), address(o.scores), address(o.edits), address(o.drafts), address(o.saved),
		whole(o.most), whole(o.vocab))
}

// restore undoes edit.
type restore struct{ editedRows }

func (o restore) launch() launch {
	return launchOf("restore_rows", o.shape(), address(o.scores), address(o.edits), address(o.saved), whole(o.most),
		whole(o.vocab))
}
