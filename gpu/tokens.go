package gpu

import (
	"fmt"
	"slices"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// tokens are ids on the device, in two copies. chosen holds the ids that were chosen greedily or drawn
// at random: −1 if the scores were not finite. fed holds the ids that the next pass reads, always
// valid ones. After both copies there is room for a verdict: a word of 8 bytes, a bound of 4, and the words of a
// ranking, for each token.
type tokens struct {
	owner          *Backend
	memory         driver.Pointer // (2, n) int32: chosen and fed; then the verdict
	n              int            // tokens that there is room for
	marked, judged driver.Event   // the device reached the last Mark, the last verdict
	timed          bool           // Mark was called after the last verdict
	drawing        drawing
	editing        editing
	masking        masking
	ranked         int // best tokens that the next verdict tells of each row
}

var (
	_ compute.Feeder = (*Backend)(nil)
	_ compute.Judge  = (*logits)(nil)
	_ compute.Picker = (*logits)(nil)
)

// Tokens reserves GPU memory for n tokens: for each, what was chosen, what is fed to the next pass, and the verdict.
func (b *Backend) Tokens(n int) (compute.Tokens, error) {
	require(n > 0, "no tokens")
	memory, err := b.alloc(fmt.Sprintf("%d tokens", n), int64(n*(2*4+8+4+8*cuda.RankedWords(compute.MostRanked))))
	if err != nil {
		return nil, err
	}
	t := &tokens{owner: b, memory: memory, n: n}
	err = b.device.Do(func() (err error) {
		if t.marked, err = b.device.NewEvent(true); err == nil {
			t.judged, err = b.device.NewEvent(true)
		}
		return err
	})
	if err != nil {
		_ = t.Close()
		return nil, b.note(fmt.Errorf("making room for %d tokens: %w", n, err))
	}
	return t, nil
}

func (t *tokens) chosen(at int) driver.Pointer { return t.memory + driver.Pointer(4*at) }
func (t *tokens) fed(at int) driver.Pointer    { return t.memory + driver.Pointer(4*(t.n+at)) }
func (t *tokens) verdict() driver.Pointer      { return t.memory + driver.Pointer(8*t.n) }

func (t *tokens) Put(at int, ids ...int32) error {
	require(0 <= at && at+len(ids) <= t.n, "Put outside of the tokens")
	if len(ids) > 0 {
		word := t.owner.word(t.owner.tape.word(ids...))
		t.owner.tape.append(move{t.chosen(at), word, 4 * len(ids)}, move{t.fed(at), word, 4 * len(ids)})
	}
	return t.owner.usable()
}

func (t *tokens) Mark() error {
	b := t.owner
	if err := b.usable(); err != nil {
		return err
	}
	b.flush()
	t.timed = true
	b.device.Submit(func() {
		if b.failed == nil {
			b.failed = b.note(b.device.Record(t.marked, b.stream))
		}
	})
	return nil
}

func (t *tokens) Get(at int, dst []int32) error {
	require(0 <= at && at+len(dst) <= t.n, "Get outside of the tokens")
	err := t.owner.onDevice(func() error {
		return t.owner.fetch(4*len(dst), t.chosen(at), func(memory []byte) { toIDs(dst, memory) })
	})
	if err != nil {
		return fmt.Errorf("reading chosen tokens: %w", err)
	}
	return nil
}

func (t *tokens) Close() error {
	b := t.owner
	if t.memory == 0 {
		return nil
	}
	b.flush()
	memory := t.memory
	t.memory = 0
	err := b.device.Do(func() (err error) {
		for _, e := range []driver.Event{t.marked, t.judged} {
			if e != 0 {
				err = first(err, b.device.FreeEvent(e))
			}
		}
		return err
	})
	if b.lost.Load() != nil {
		err = nil
	}
	return first(err, b.release(memory), t.drawing.free(b), t.editing.free(b), t.masking.free(b))
}

// EmbedTokens begins a pass over ids on the device. Unlike Embed it does not flush: all steps of a
// draft stay on one tape.
func (b *Backend) EmbedTokens(dst compute.Buffer, table compute.Matrix, tt compute.Tokens, at, m int) error {
	t := tt.(*tokens)
	require(0 <= at && at+m <= t.n, "EmbedTokens outside of the tokens")
	if err := b.usable(); err != nil {
		return err
	}
	b.embed(dst, table.(*matrix), t.fed(at), m)
	return nil
}

// Choose appends the greedy choice of a token to the tape.
func (b *Backend) Choose(x compute.Buffer, tt compute.Tokens, at int) error {
	t, xb := tt.(*tokens), rowsOf(x, 0, 1)
	require(0 <= at && at < t.n, "Choose outside of the tokens")
	if err := xb.logits.open(b, xb); err != nil {
		return err
	}
	b.tape.append(xb.logits.choose(xb.memory, 1, t.chosen(at), t.fed(at))...)
	return nil
}

// The last word of a greedy verdict has the number of accepted tokens from bit acceptedShift on, and in
// the bits below the token that follows, or noToken. The words before it are the draft.
const (
	acceptedShift = 24
	noToken       = 1<<acceptedShift - 1
)

// AcceptBest runs the greedy verification on the device. It writes the ids of the draft to drafts.
func (l *logits) AcceptBest(tt compute.Tokens, drafts []int32) (compute.Verdict, error) {
	b, t, n := l.owner, tt.(*tokens), len(drafts)
	require(n+1 == l.rows && n < t.n, "AcceptBest of another number of rows")
	words := make([]int32, n+1)
	ranking := l.takeRanking(t, 4*len(words), 4*n)
	scores, restores, err := l.edit(t)
	if err != nil {
		return compute.Verdict{}, err
	}
	operations := append(l.choose(scores, l.rows, l.best, 0), acceptBest{t.chosen(1), l.best, t.verdict(), n})
	steps, err := b.lower(nil, slices.Concat(operations, restores, ranking.operations(scores, restores))...)
	if err != nil {
		b.tape.append(restores...) // the edits are on the tape already
		return compute.Verdict{}, err
	}
	var v compute.Verdict
	v.PassMS, err = l.judge(t, steps, ranking.end, func(memory []byte) {
		toIDs(words, memory)
		ranking.arrive(memory)
	})
	if err != nil {
		return compute.Verdict{}, fmt.Errorf("judging a draft: %w", err)
	}
	copy(drafts, words)
	last := uint32(words[n])
	v.Accepted, v.Follows = int(last>>acceptedShift), int32(last&noToken)
	v.Ranked = ranking.told(v.Accepted)
	if v.Follows == noToken {
		v.Follows = -1
	}
	return v, nil
}

// judge runs steps, copies the first bytes of the verdict, waits, and calls read with them.
// passMS is the device's time since Mark, in milliseconds; 0 if Mark was not called since the last
// verdict.
func (l *logits) judge(t *tokens, steps []step, bytes int, read func(memory []byte)) (passMS float64, err error) {
	b, timed := l.owner, t.timed
	t.timed = false
	err = l.counted(func() error {
		if err := b.runAll(steps); err != nil {
			return err
		}
		if err := b.device.Record(t.judged, b.stream); err != nil {
			return err
		}
		if err := b.fetch(bytes, t.verdict(), read); err != nil || !timed {
			return err
		}
		passMS, err = b.device.Elapsed(t.marked, t.judged)
		return err
	})
	return passMS, err
}
