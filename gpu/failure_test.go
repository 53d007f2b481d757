package gpu

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/random"
)

var smallest = random.Shape{Name: "smallest", Layers: 1, Dim: 64, FFN: 64, Heads: 2, KVHeads: 1,
	HeadDim: 32, Vocab: 1024}

// file is a model of one layer.
func file(t *testing.T) *weights.File {
	t.Helper()
	var b bytes.Buffer
	if err := random.Write(t.Context(), &b, smallest, compute.Q8_0); err != nil {
		t.Fatal(err)
	}
	f, err := weights.Parse("smallest", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// use makes a backend, loads a model, runs three passes and a round of each kind, and frees everything, as a
// program does. It closes the backend whatever fails.
func use(t *testing.T, d *recorder, f *weights.File) (err error) {
	b, err := newBackend(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m, err := model.Load(t.Context(), b, f, model.Options{MaxTokens: 64, MaxRows: 4}, nil)
	if err != nil {
		return err
	}
	cache, err := m.NewCache()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	for range 3 {
		logits, err := m.Forward(context.Background(), cache, []int32{1, 2})
		if err != nil {
			return err
		}
		if err := logits.Argmax(make([]int32, 2)); err != nil {
			return err
		}
		if err := logits.Row(0, make([]float32, smallest.Vocab)); err != nil {
			return err
		}
	}
	for _, j := range judgements {
		if err := sampledRound(m, cache, j); err != nil {
			return err
		}
	}
	if err := guidedRound(m, cache); err != nil {
		return err
	}
	return cache.KeyValue(0, 1, make([]float32, 32), make([]float32, 32))
}

// judgements are all ways to judge a sampled draft.
var judgements = []compute.Judgement{compute.EachToken, compute.OwnDraws, compute.WholeBlock}

// sampledRound draws a draft of two tokens, verifies it, and reads the scores of the first.
func sampledRound(m *model.Model, cache compute.Cache, j compute.Judgement) (err error) {
	tokens, err := m.Tokens(4)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tokens.Close()) }()
	filters := compute.Filters{Temperature: 1, TopP: 0.9}
	by := compute.Sampling{Target: filters, Draft: filters, Drafts: 2, Vocab: smallest.Vocab, Keep: 1, Judgement: j}
	if err := m.Chain(context.Background(), cache, []int32{3}, 2, tokens, &by); err != nil {
		return err
	}
	logits, err := m.ForwardTokens(context.Background(), tokens, 3, cache)
	if err != nil {
		return err
	}
	if err := tokens.Edit(compute.NewEdits()); err != nil {
		return err
	}
	if _, err := logits.(compute.Judge).AcceptDrawn(tokens); err != nil {
		return err
	}
	_, err = tokens.Kept(make([]float32, smallest.Vocab))
	return err
}

// guidedRound verifies a token of the host under guidance, and reads the first guided row.
func guidedRound(m *model.Model, cache compute.Cache) (err error) {
	companion, err := m.NewCache()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, companion.Close()) }()
	tokens, err := m.Tokens(2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tokens.Close()) }()
	if err := tokens.Put(0, 3, 4); err != nil {
		return err
	}
	logits, err := m.ForwardTokens(context.Background(), tokens, 2, cache, companion)
	if err != nil {
		return err
	}
	judge := logits.(compute.Judge)
	if err := judge.Guide(2); err != nil {
		return err
	}
	if _, err := judge.AcceptBest(tokens, make([]int32, 1)); err != nil {
		return err
	}
	return logits.Row(0, make([]float32, smallest.Vocab))
}

// Whatever driver call fails: nothing panics, everything is freed, and if the work fails, too, the error is that of the
// call.
func TestEveryCallOfTheDriverMayFail(t *testing.T) {
	f := file(t)
	for _, c := range []struct {
		name    string
		failure error
		lost    bool
	}{{"out of memory", compute.ErrOutOfMemory, false}, {"refused", errRefused, false},
		{"lost", compute.ErrDeviceLost, true}} {
		t.Run(c.name, func(t *testing.T) {
			for n := 1; ; n++ {
				d := newRecorder(t)
				d.failAt, d.failure, d.lost = n, c.failure, c.lost
				err := use(t, d, f)
				if n > d.calls {
					if err != nil {
						t.Fatalf("without a failure: %v", err)
					}
					t.Logf("%d calls", d.calls)
					break
				}
				if kept := d.kept(); len(kept) > 0 {
					t.Fatalf("call %d failed and left %v: %v", n, kept, err)
				}
				if err != nil && !errors.Is(err, c.failure) {
					t.Errorf("call %d failed and the error is %v", n, err)
				}
			}
		})
	}
}

func TestALostDeviceIsRefusedInWords(t *testing.T) {
	d, b, m, cache := recorded(t)
	d.failAt, d.failure, d.lost = d.calls+20, compute.ErrDeviceLost, true
	var err error
	for range 3 {
		logits, forwardErr := m.Forward(t.Context(), cache, []int32{1})
		if err = forwardErr; err == nil {
			err = logits.Argmax(make([]int32, 1))
		}
	}
	if !errors.Is(err, compute.ErrDeviceLost) ||
		!bytes.Contains([]byte(err.Error()), []byte("start specula anew")) {
		t.Errorf("the error is %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closing what is lost: %v", err)
	}
}

// A pass is launched kernel by kernel the first time, recorded the second time, and replayed from
// then on.
func TestAPassThatComesAgainIsOneGraph(t *testing.T) {
	d, b, m, cache := recorded(t)
	defer b.Close()
	pass := func(ids ...int32) []string {
		d.log = nil
		logits, err := m.Forward(t.Context(), cache, ids)
		if err != nil {
			t.Fatal(err)
		}
		if err := logits.Argmax(make([]int32, len(ids))); err != nil {
			t.Fatal(err)
		}
		if bytes, syncs := logits.Moved(); bytes != int64(4*len(ids)) || syncs != 1 {
			t.Errorf("%d rows moved %d bytes with %d waits", len(ids), bytes, syncs)
		}
		return d.log
	}
	if first := pass(1, 2); !slices.Contains(first, "up 12") ||
		!slices.Contains(first, "prepare_heads_float") || slices.Contains(first, "rope") ||
		slices.Contains(first, "graph") {
		t.Errorf("the first pass queued %q", first)
	}
	replayed := []string{"up 12", "graph", "peak_rows", "argmax_rows", "down 8", "wait"}
	for i := range 3 {
		if got := pass(3, 4); !slices.Equal(got, replayed) {
			t.Errorf("pass %d queued %q, want %q", 2+i, got, replayed)
		}
	}
	if got := pass(5); slices.Contains(got, "graph") {
		t.Errorf("a pass of another number of rows queued %q", got)
	}
}

// The memory for cuts of distributions must be 0 when a round begins. It is cleared in the first round and
// in the round after a failure, and in no other one.
func TestCutsAreClearedAfterAFailure(t *testing.T) {
	d, b, m, cache := recorded(t)
	defer b.Close()
	fills := func(failAt int) (n int, err error) {
		d.log, d.failAt, d.failure = nil, failAt, errors.New("refused")
		err = sampledRound(m, cache, compute.EachToken)
		for _, work := range d.log {
			if work == "fill" {
				n++
			}
		}
		return n, errors.Join(err, cache.Truncate(0))
	}
	for _, c := range []struct {
		round     string
		ahead     int // how many calls later one fails; 0: none does
		isCleared bool
	}{{"first", 0, true}, {"second", 0, false}, {"failing", 8, false}, {"next", 0, true}, {"last", 0, false}} {
		failAt := 0
		if c.ahead > 0 {
			failAt = d.calls + c.ahead
		}
		n, err := fills(failAt)
		if (err != nil) != (c.ahead > 0) || (n > 0) != c.isCleared {
			t.Errorf("%s round: cleared %d times, %v", c.round, n, err)
		}
	}
}
