package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/gpu/driver"
)

const families = "../engine/model/testdata/architectures/"

// reader is a device whose states and rings have the tokens that they were made of, in place of numbers. Its
// kernels complain if a state has not seen the text from its start, or if a row of the ring that they read has
// another token than that of the text.
type reader struct {
	*recorder
	text   []int32 // what passes read; a pass knows where it begins
	words  []byte
	at     driver.Pointer // where words are on the device
	states map[driver.Pointer][]int32
	rings  map[driver.Pointer]map[int]kept
	passes int
}

// kept is a token in a ring.
type kept struct {
	position int
	id       int32
}

func newReader(t *testing.T) *reader {
	r := &reader{recorder: newRecorder(t), states: map[driver.Pointer][]int32{}, rings: map[driver.Pointer]map[int]kept{}}
	r.onRun = func(kernel string, _ driver.Shape, a []driver.Argument) {
		switch kernel {
		case "delta_net":
			r.read(a[8], a[9], a[10], a[11], a[16], a[18])
		case "mamba2":
			r.read(a[8], a[9], a[10], a[11], a[16], a[18])
		case "short_convolution":
			r.read(0, a[4], a[5], a[6], a[8], a[9])
		}
	}
	return r
}

// read does what kernels/cuda/src/recurrence.h says. state is 0 for a short convolution.
func (r *reader) read(state, ring, numbers, rows, kernel, most driver.Argument) {
	word := func(i int) int {
		return int(int32(binary.LittleEndian.Uint32(r.words[driver.Pointer(numbers)-r.at+driver.Pointer(4*i):])))
	}
	r.passes++
	position, at, slot, m := word(0), word(1), word(2), int(int32(rows))
	window := int(int32(most)) + int(int32(kernel)) - 1
	kept0 := r.rings[driver.Pointer(ring)]
	if kept0 == nil {
		kept0 = map[int]kept{}
		r.rings[driver.Pointer(ring)] = kept0
	}
	if seen := r.states[driver.Pointer(state)]; state != 0 && at > 0 && !slices.Equal(seen, r.text[:at]) {
		r.t.Errorf("a pass of %d rows at %d: the state has seen %v, not the first %d tokens of %v", m, position, seen, at, r.text)
	}
	for token := max(0, at-int(int32(kernel))+1); token < position; token++ {
		row := (slot + token - position + 2*window) % (2 * window)
		if got := kept0[row]; got != (kept{token, r.text[token]}) {
			r.t.Errorf("a pass of %d rows at %d, with a state of %d tokens: row %d of the ring has %v, not %v", m, position, at, row, got, kept{token, r.text[token]})
		}
	}
	r.states[driver.Pointer(state)] = slices.Clone(r.text[:max(position, position+m-int(int32(most)))])
	for i := max(0, m-window); i < m; i++ {
		kept0[(slot+i-max(0, m-window))%(2*window)] = kept{position + i, r.text[position+i]}
	}
}

func (r *reader) UploadAsync(s driver.Stream, to driver.Pointer, from []byte) error {
	if to == r.at {
		copy(r.words, from)
	}
	return r.recorder.UploadAsync(s, to, from)
}

func (r *reader) Copy(s driver.Stream, to, from driver.Pointer, bytes int64) error {
	end := from + driver.Pointer(bytes)
	for p, seen := range r.states {
		if p >= from && p < end {
			r.states[p-from+to] = slices.Clone(seen)
		}
	}
	for p, rows := range r.rings {
		if p >= from && p < end {
			r.rings[p-from+to] = maps.Clone(rows)
		}
	}
	return r.recorder.Copy(s, to, from, bytes)
}

// Capture refuses, so that passes are run kernel by kernel.
func (r *reader) Capture(driver.Stream, func() error) (driver.Graph, error) {
	return driver.Graph{}, errRefused
}

// deviceText is a text that a model with states reads on a reader.
type deviceText struct {
	*model.Model
	t      *testing.T
	device *reader
	on     *Backend
	cache  compute.Cache
}

func newDeviceText(t *testing.T, name string, o model.Options) *deviceText {
	r := &deviceText{t: t, device: newReader(t)}
	var err error
	if r.on, err = newBackend(r.device); err != nil {
		t.Fatal(err)
	}
	r.device.at, r.device.words = r.on.inputs.words, make([]byte, inputBytes)
	if r.Model, err = model.Load(t.Context(), r.on, fixture(t, families+name+".gguf.gz"), o, nil); err == nil {
		r.cache, err = r.NewCache()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(r.cache.Close(), r.on.Close()); err != nil || len(r.device.kept()) > 0 {
			t.Errorf("closing: %v, and %v is left", err, r.device.kept())
		}
	})
	return r
}

// do runs what an operation queued, and ends the test if it failed.
func (r *deviceText) do(what string, err error) {
	r.t.Helper()
	r.on.flush()
	_ = r.device.Do(func() error { return nil })
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

// Whatever passes came, were cancelled or taken back before, the states on the device have seen the text from its
// start, and their rings have the tokens after that.
func TestStatesAndRingsHaveTheText(t *testing.T) {
	for _, name := range []string{"qwen35", "lfm2", "granitehybrid", "falcon-h1"} {
		t.Run(name, func(t *testing.T) {
			const most = 120
			r := newDeviceText(t, name, model.Options{MaxTokens: most, MaxRows: 5, PrefillRows: 24})
			rng := rand.New(rand.NewPCG(3, 3))
			text := make([]int32, most)
			r.device.text = text
			another := func(from int) { // from there on the text goes on otherwise
				for i := from; i < most; i++ {
					text[i] = rng.Int32N(int32(r.Config().Vocab))
				}
			}
			another(0)
			back := 0
			for range 400 {
				length := r.cache.Len()
				rest := text[length:]
				switch rng.IntN(5) {
				case 0: // cancelled in one of the layers
					if length == most {
						continue
					}
					ctx := &ending{Context: t.Context(), left: 1 + rng.IntN(20)}
					_, err := r.Prefill(ctx, r.cache, rest[:min(len(rest), 1+rng.IntN(24))], nil)
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Fatal(err)
					}
					r.do("a cancelled pass", nil)
					another(r.cache.Len())
				case 1:
					r.do("a checkpoint", compute.Checkpoint(r.cache))
				case 2:
					n := rng.IntN(length + 1)
					if rng.IntN(3) > 0 {
						n = max(0, length-rng.IntN(7))
					}
					reach := compute.Reach(r.cache, n)
					if reach < n && r.cache.Truncate(n) == nil {
						t.Fatalf("of %d tokens to %d: not refused, though only %d is reached", length, n, reach)
					}
					r.do("back", r.cache.Truncate(reach))
					if another(reach); reach > 0 && reach < length {
						back++
					}
				case 3:
					if n := min(1+rng.IntN(5), len(rest)); n > 0 {
						r.do("a pass", forward(t, r.Model, r.cache, rest[:n]))
					}
				default:
					if n := min(1+rng.IntN(60), len(rest)); n > 0 {
						_, err := r.Prefill(t.Context(), r.cache, rest[:n], nil)
						r.do("a prompt", err)
					}
				}
				if t.Failed() {
					t.FailNow()
				}
			}
			if t.Logf("%d launches over states; %d times back to a length above 0", r.device.passes, back); back < 20 || r.device.passes < 200 {
				t.Error("too few of these")
			}
		})
	}
}

// ending is a context that is cancelled once Err was called left times.
type ending struct {
	context.Context
	left int
}

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func forward(t *testing.T, m *model.Model, c compute.Cache, ids []int32) error {
	_, err := m.Forward(t.Context(), c, ids)
	return err
}

// After work that failed, nobody knows what states have seen: the cache goes back to its start alone.
func TestStatesAreLostWithFailedWork(t *testing.T) {
	r := newDeviceText(t, "qwen35", model.Options{MaxTokens: 60, MaxRows: 4})
	m, cache, ids := r.Model, r.cache, []int32{1, 2, 3, 4}
	r.device.text = append(slices.Clone(ids), ids...)
	argmax := func() error {
		logits, err := m.Forward(t.Context(), cache, ids)
		if err != nil {
			return err
		}
		return logits.Argmax(make([]int32, len(ids)))
	}
	if err := errors.Join(argmax(), compute.Checkpoint(cache)); err != nil {
		t.Fatal(err)
	}
	r.device.failAt, r.device.failure = r.device.calls+9, errRefused
	if err := argmax(); !errors.Is(err, errRefused) {
		t.Fatalf("the failed pass: %v", err)
	}
	for n := range cache.Len() + 1 {
		if reach := compute.Reach(cache, n); reach != 0 {
			t.Errorf("after a failure the cache reaches %d of %d", reach, n)
		}
	}
	if err := forward(t, m, cache, ids); err == nil || !strings.Contains(err.Error(), "must be read again from its start") {
		t.Errorf("reading on after a failure: %v", err)
	}
	if err := compute.Checkpoint(cache); err != nil || compute.Reach(cache, 4) != 0 {
		t.Errorf("a checkpoint of states that are lost: %v, reaches %d", err, compute.Reach(cache, 4))
	}
	if err := errors.Join(cache.Truncate(0), argmax()); err != nil || compute.Reach(cache, 3) != 3 {
		t.Errorf("from its start: %v, reaches %d of 3", err, compute.Reach(cache, 3))
	}
}

// Passes of the same number of rows over states are the same launches, wherever the text stands and whatever
// was taken back: from the third on, one graph replays them.
func TestPassesOverStatesAreOneGraph(t *testing.T) {
	for _, name := range []string{"qwen35", "lfm2", "nemotron_h"} {
		d := newRecorder(t)
		b, err := newBackend(d)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(t.Context(), b, fixture(t, families+name+".gguf.gz"), model.Options{MaxTokens: 60, MaxRows: 4}, nil)
		if err != nil {
			t.Fatal(err)
		}
		cache, err := m.NewCache()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			d.log = nil
			logits, err := m.Forward(t.Context(), cache, []int32{1, 2, 3})
			if err == nil {
				err = logits.Argmax(make([]int32, 3))
			}
			if err = errors.Join(err, cache.Truncate(cache.Len()-i%3)); err != nil {
				t.Fatal(err)
			}
			if replayed := slices.Contains(d.log, "graph"); replayed != (i > 0) {
				t.Errorf("%s, pass %d: %q", name, i, d.log)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The memory of states, of their copy and of checkpoints is planned with that of keys and values, and a model
// that does not fit is refused in words, before anything is reserved.
func TestStatesArePlanned(t *testing.T) {
	state := compute.CacheState{Kind: compute.DeltaNetState, KeyHeads: 2, Heads: 4, KeyDim: 6, ValueDim: 5, Kernel: 4}
	shape := compute.CacheShape{Layers: 3, Tokens: 10, Type: compute.F32, Single: 9, Checkpoints: 2,
		Each: []compute.CacheLayer{{State: state}, {KVHeads: 1, KeyDim: 8, ValueDim: 8}, {State: compute.CacheState{Kind: compute.ConvolutionState, Heads: 1, ValueDim: 7, Kernel: 3}}}}
	delta := 4*4*5*8 + 4*2*(9+3)*(2*2*6+4*5+2*4) // columns of 6 numbers take 8
	convolution := (4*2*(9+2)*7 + 15) / 16 * 16
	if got, want := (&Backend{}).CacheBytes(shape), int64(4*256*2*8+4*(delta+convolution)); got != want {
		t.Errorf("the cache takes %d bytes, want %d", got, want)
	}
	shape.Each[0].State.KeyDim = mostStateDim + 1
	if err := (&Backend{}).CheckCache(shape); !errors.Is(err, compute.ErrLacks) || !strings.Contains(err.Error(), "keys of 257 numbers") {
		t.Errorf("a state that no kernel computes: %v", err)
	}
	d := newRecorder(t)
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	load := func(tokens int) (*model.Model, error) {
		return model.Load(t.Context(), b, fixture(t, families+"qwen35.gguf.gz"), model.Options{MaxTokens: tokens, MaxRows: 33}, nil)
	}
	m, err := load(64)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	if planned := m.Config().CacheBytes; cache.Bytes() != planned || planned <= 0 {
		t.Errorf("the cache has %d bytes, planned were %d", cache.Bytes(), planned)
	}
	d.total = 1 << 20
	before := d.live["memory"]
	_, err = load(120)
	if !errors.Is(err, compute.ErrOutOfMemory) || d.live["memory"] != before {
		t.Fatalf("%d reservations more, and the error is %v", d.live["memory"]-before, err)
	}
}
