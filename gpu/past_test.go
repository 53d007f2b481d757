//go:build cuda && linux && cgo

package gpu_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model/modeltest"
	"specula/kernels/ref"
)

// attentions is attention of one layer on a backend, over a text of made up queries, keys and values.
type attentions struct {
	compute.Backend
	t                 *testing.T
	cache             compute.Cache
	a                 compute.Attention
	query, key, value compute.Matrix // a row for each token
	q, k, v, dst      compute.Buffer
}

// newAttentions makes a text of some tokens. Its numbers are the same on each backend.
func newAttentions(t *testing.T, b compute.Backend, typ compute.DType, tokens int, layer compute.CacheLayer, a compute.Attention) *attentions {
	t.Helper()
	x := &attentions{Backend: b, t: t, a: a}
	var err error
	if x.cache, err = b.Cache(compute.CacheShape{Layers: 1, Tokens: tokens, Heads: a.Heads, Type: typ, Each: []compute.CacheLayer{layer}}); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 7))
	for _, m := range []struct {
		table  *compute.Matrix
		buffer *compute.Buffer
		cols   int
	}{{&x.query, &x.q, a.Heads * a.HeadDim}, {&x.key, &x.k, layer.KeyNumbers()}, {&x.value, &x.v, layer.ValueNumbers()}} {
		var data []byte
		for range tokens * m.cols {
			data = binary.LittleEndian.AppendUint16(data, ref.ToHalf(float32(rng.NormFloat64())))
		}
		if *m.table, err = b.Matrix(t.Context(), compute.Weight{Name: "table", Type: compute.F16, Rows: tokens, Cols: m.cols, Data: data}); err == nil {
			*m.buffer, err = b.Buffer(8, m.cols)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if x.dst, err = b.Buffer(8, a.Heads*layer.ValueDim); err != nil {
		t.Fatal(err)
	}
	if err := b.(compute.PastReader).ReservePast(compute.CacheShape{Layers: 1, Tokens: tokens, Heads: a.Heads, Each: []compute.CacheLayer{layer}}); err != nil {
		t.Fatal(err)
	}
	return x
}

// read appends tokens up to the one with index to−1.
func (x *attentions) read(to int) {
	x.t.Helper()
	for x.cache.Len() < to {
		var ids []int32
		for at := x.cache.Len(); at < min(to, x.cache.Len()+8); at++ {
			ids = append(ids, int32(at))
		}
		for _, m := range []struct {
			to compute.Buffer
			of compute.Matrix
		}{{x.q, x.query}, {x.k, x.key}, {x.v, x.value}} {
			if err := x.Embed(m.to, m.of, ids); err != nil {
				x.t.Fatal(err)
			}
		}
		x.a.Position = x.cache.Len()
		if err := x.Attend(x.dst, x.q, x.k, x.v, len(ids), x.cache, x.a); err != nil {
			x.t.Fatal(err)
		}
		if err := x.cache.Advance(len(ids)); err != nil {
			x.t.Fatal(err)
		}
	}
}

// past returns what the query of the next token attends to.
func (x *attentions) past() []float32 {
	x.t.Helper()
	if err := x.Embed(x.q, x.query, []int32{int32(x.cache.Len())}); err != nil {
		x.t.Fatal(err)
	}
	x.a.Position = x.cache.Len()
	if err := x.Backend.(compute.PastReader).AttendPast(x.dst, x.q, x.cache, x.a); err != nil {
		x.t.Fatal(err)
	}
	logits, err := x.Logits(x.dst, 1)
	if err != nil {
		x.t.Fatal(err)
	}
	row := make([]float32, logits.Vocab())
	if err := logits.Row(0, row); err != nil {
		x.t.Fatal(err)
	}
	return row
}

// A row that stores nothing attends to the tokens that it attends to on the processor: all of them or those of a
// window, in a cache of either precision, over the border of a split, and after tokens that were taken back.
func TestPastOnTheDeviceIsThatOfTheProcessor(t *testing.T) {
	const tokens = 280
	b := open(t)
	for _, c := range []struct {
		typ            compute.DType
		dim, heads, kv int
	}{{compute.F32, 16, 4, 2}, {compute.F16, 64, 2, 1}, {compute.F16, 64, 24, 1}} {
		for _, window := range []int{0, 2, 20} {
			t.Run(fmt.Sprintf("%d heads of %d/window %d", c.heads, c.dim, window), func(t *testing.T) {
				layer := compute.CacheLayer{KVHeads: c.kv, KeyDim: c.dim, ValueDim: c.dim}
				var both [2]*attentions
				for i, on := range []compute.Backend{b, host.New(1)} {
					both[i] = newAttentions(t, on, []compute.DType{c.typ, compute.F32}[i], tokens, layer,
						compute.Attention{Heads: c.heads, HeadDim: c.dim, Scale: 0.3, Window: window})
				}
				for _, at := range []int{1, 3, 30, 257, 262} {
					var rows [2][]float32
					for i, x := range both {
						x.read(at + 2)
						if err := x.cache.Truncate(at); err != nil {
							t.Fatal(err)
						}
						rows[i] = x.past()
					}
					for i, want := range rows[1] {
						if got := rows[0][i]; !(got-want < 4e-3 && want-got < 4e-3) {
							t.Fatalf("after %d tokens: number %d is %v, on the processor %v", at, i, got, want)
						}
					}
				}
			})
		}
	}
}

// The drafter of Gemma 4 drafts on the device what it drafts on the processor, and greedy replies are the plain
// ones of the processor. Texts are short: further on, two scores lie closer than the device rounds.
func TestAssistantsDraftOnTheDevice(t *testing.T) {
	const tokens, most = "12", 4
	b, processor := open(t), host.New(1)
	for _, name := range []string{"gemma4-shared", "gemma4-embeddings"} {
		t.Run(name, func(t *testing.T) {
			source := func(folder string) engine.Source {
				return engine.Source{Name: folder, Embedded: modeltest.Unpack(t, "../engine/model/testdata/"+folder+"/"+name+".gguf.gz")}
			}
			start := func(on compute.Backend, settings ...string) *engine.Session {
				e, err := engine.Load(t.Context(), engine.Options{
					Config: config.Default(), Backend: on, Now: time.Now, CalibrationTime: time.Millisecond, NewSeed: func() int64 { return 1 },
					Target: source("architectures"), Draft: source("assistants"),
				}, func(event.Event) {})
				if err != nil {
					t.Fatal(err)
				}
				s, err := e.NewSession(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				set(t, s, append([]string{"temperature", "0", "max-tokens", tokens, "gamma-rule", "fixed", "proposer", "mtp"}, settings...)...)
				return s
			}
			device, same, plain := start(b), start(processor), start(processor, "speculate", "false")
			rng := rand.New(rand.NewPCG(7, 1))
			accepted := 0
			for gamma := 1; gamma <= most; gamma++ {
				set(t, device, "gamma", fmt.Sprint(gamma))
				set(t, same, "gamma", fmt.Sprint(gamma))
				prompt := letters(rng, 5+rng.IntN(20))
				got, want := ask(t, device, prompt), ask(t, plain, prompt)
				if got.failed != "" || !slices.Equal(got.ids, want.ids) {
					t.Errorf("gamma %d: error %q, wrote %v, want %v", gamma, got.failed, got.ids, want.ids)
				}
				var drafts [2][][]int32
				for i, rounds := range [][]event.Round{got.rounds, ask(t, same, prompt).rounds} {
					for _, round := range rounds {
						var ids []int32
						for _, token := range round.Draft {
							ids = append(ids, token.ID)
						}
						drafts[i] = append(drafts[i], ids)
					}
				}
				if !slices.EqualFunc(drafts[0], drafts[1], slices.Equal) {
					t.Errorf("gamma %d: the drafts are %v, on the processor %v", gamma, drafts[0], drafts[1])
				}
				for _, round := range got.rounds {
					if accepted += round.Accepted; round.Path != "greedy" {
						t.Errorf("gamma %d, round %d: the path is %s: %s", gamma, round.Index, round.Path, round.PathWhy)
					}
				}
			}
			t.Logf("%d tokens of drafts were kept", accepted)
		})
	}
}
