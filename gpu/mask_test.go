package gpu

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// A round of masked rows, edited or not, waits once and copies what a round without masks does. The masks go up
// on a stream of their own, and nothing is restored for them.
func TestMaskedRoundsWaitOnce(t *testing.T) {
	for _, c := range []struct {
		sampled, edited bool
		want            []string // the last that is queued
	}{
		{false, false, []string{"graph", "peak_rows", "argmax_rows", "accept_greedy", "down 16", "wait"}},
		{false, true, []string{"graph", "peak_rows", "argmax_rows", "accept_greedy", "restore_rows", "down 16", "wait"}},
		{true, false, []string{"graph", "down 32", "wait"}},
		{true, true, []string{"graph", "down 32", "wait"}},
	} {
		d, b, held, logits := edited(t)
		masks := make([]uint64, logits.Rows()*compute.MaskWords(logits.Vocab()))
		for round := range 4 {
			edits := compute.NewEdits()
			edits.Allowed = masks
			if c.edited {
				edits.Repeat = 1.1
			}
			if err := first(held.Edit(edits), b.device.Do(func() error { return nil })); err != nil {
				t.Fatal(err)
			}
			d.log = nil
			before := d.traffic
			var err error
			if judge := logits.(compute.Judge); c.sampled {
				_, err = judge.AcceptDrawn(held)
			} else {
				_, err = judge.AcceptBest(held, make([]int32, 3))
			}
			if err != nil {
				t.Fatal(err)
			}
			up := fmt.Sprintf("up %d", 8*len(masks))
			if n := len(d.log) - len(c.want); round >= 2 && (n < 0 || !slices.Equal(d.log[n:], c.want) || !slices.Contains(d.log, up)) {
				t.Errorf("round %d queued %q, want %s and at the end %q", round, d.log, up, c.want)
			}
			if waits := d.traffic.Waits - before.Waits; waits != 1 && round > 0 { // the first waits for weights on their way, too
				t.Errorf("round %d waited %d times", round, waits)
			}
		}
		if err := first(held.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// The verdict reads masked rows, and the mask those of the pass. The next verdict has no mask.
func TestMasksAreOfOneVerdict(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		d, b, held, scores := edited(t)
		l := scores.(*logits)
		var read []driver.Argument // where each step that reads scores has them
		d.onRun = func(kernel string, _ driver.Shape, arguments []driver.Argument) {
			if slices.Contains([]string{"mask_rows", "peak_rows", "softmax_rows"}, kernel) {
				read = append(read, arguments[0])
			}
		}
		edits := compute.NewEdits()
		edits.Allowed = make([]uint64, l.rows*compute.MaskWords(l.Vocab()))
		must(t, held.Edit(edits))
		for range 2 {
			var err error
			if sampled {
				_, err = l.AcceptDrawn(held)
			} else {
				_, err = l.AcceptBest(held, make([]int32, 3))
			}
			must(t, err)
		}
		must(t, b.device.Do(func() error { return nil })) // all is queued
		raw, masked := address(l.x.memory), address(l.p.weights)
		want := []driver.Argument{raw, masked, raw}
		if sampled {
			want = []driver.Argument{raw, masked, masked, raw, raw}
		}
		if !slices.Equal(read, want) {
			t.Errorf("scores are read from %x, want %x", read, want)
		}
	}
}

// A mask for which there is no memory leaves the rows as the model gave them, and the reply's error says so.
func TestAMaskWithoutMemory(t *testing.T) {
	d, b, held, scores := edited(t)
	must(t, b.device.Do(func() error { return nil })) // the pass before is queued
	edits := compute.NewEdits()
	edits.Repeat, edits.Allowed = 1.1, make([]uint64, scores.Rows()*compute.MaskWords(scores.Vocab()))
	must(t, held.Edit(edits))
	d.log = nil
	d.failAt, d.failure = d.calls+2, compute.ErrOutOfMemory
	if _, err := scores.(compute.Judge).AcceptDrawn(held); !errors.Is(err, compute.ErrOutOfMemory) {
		t.Fatalf("the error is %v", err)
	}
	must(t, scores.Row(0, make([]float32, scores.Vocab())))
	if slices.Contains(d.log, "edit_rows") || slices.Contains(d.log, "mask_rows") {
		t.Errorf("queued %q", d.log)
	}
}

// A draft model and a target with vocabularies of unlike sizes mask in the same memory: no round reserves it again.
func TestMasksOfTwoVocabulariesShareMemory(t *testing.T) {
	b, err := newBackend(newRecorder(t))
	must(t, err)
	held, err := b.Tokens(4)
	must(t, err)
	draft, err := b.Buffer(4, 4096)
	must(t, err)
	target, err := b.Buffer(4, 5000)
	must(t, err)
	mask := func(x compute.Buffer, rows int) compute.Logits {
		scores, err := b.Logits(x, rows)
		edits := compute.NewEdits()
		edits.Allowed = make([]uint64, rows*compute.MaskWords(x.Cols()))
		must(t, first(err, held.Edit(edits)))
		return scores
	}
	var lay driver.Pointer
	for round := range 2 {
		_, err := mask(draft, 1).(compute.Picker).Pick(held, 1, false)
		must(t, err)
		_, err = mask(target, 4).(compute.Judge).AcceptBest(held, make([]int32, 3))
		must(t, err)
		if at := held.(*tokens).masking.allowed; round == 0 {
			lay = at
		} else if at != lay {
			t.Errorf("the masks of the second round lie at %x, those of the first lay at %x", at, lay)
		}
	}
	must(t, first(held.Close(), b.Close()))
}
