package model_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
)

// wholeCaches is a backend whose caches keep every row.
type wholeCaches struct{ *host.Backend }

func (b wholeCaches) Cache(s compute.CacheShape) (compute.Cache, error) {
	s.Windows = nil
	return b.Backend.Cache(s)
}

const ringContext = 1800 // around a ring of 512 rows three times

// windowed opens a fixture whose layers see few keys, with a context that is long enough for rings.
func windowed(t *testing.T, backend compute.Backend, name string) *model.Model {
	t.Helper()
	file := (&fixture{name: name}).file(t)
	file, err := weights.Parse(name, withUint32((&fixture{name: name}).data(t), file.Architecture()+".context_length", ringContext))
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(context.Background(), backend, file, model.Options{MaxTokens: ringContext, MaxRows: mostRows, PrefillRows: 64}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// withUint32 returns a copy of a file whose metadata key is value.
func withUint32(file []byte, key string, value uint32) []byte {
	file = append([]byte(nil), file...)
	at := bytes.Index(file, []byte(key))
	binary.LittleEndian.PutUint32(file[at+len(key)+4:], value)
	return file
}

var withWindows = []string{"gemma3", "cohere2", "phi3-window", "exaone4-window", "gemma4-shared"}

// A verification pass gives the bits of decoding, and those of a cache that keeps all rows, before
// and after borders of a ring, with drafts rejected on the way: each number of rows is tried with
// rejections at two places and without at the two others.
func TestRingsVerifyAsWholeCachesDecode(t *testing.T) {
	backend := newBackend(t, 1)
	for _, name := range withWindows {
		t.Run(name, func(t *testing.T) {
			m, whole := windowed(t, backend, name), windowed(t, wholeCaches{backend}, name)
			cache, reference := newCache(t, m), newCache(t, whole)
			if _, ok := cache.(compute.Partial); !ok || cache.Bytes() >= reference.Bytes() {
				t.Fatalf("the cache has %d bytes, one that keeps all rows %d", cache.Bytes(), reference.Bytes())
			}
			ids := randomIDs(mostRows, m.Config().Vocab, 7)
			for turn, start := range []int{5, 500, 1015, 1530} {
				text := randomIDs(start, m.Config().Vocab, 8)
				for m, cache := range map[*model.Model]compute.Cache{m: cache, whole: reference} {
					if _, err := m.Prefill(context.Background(), cache, text[cache.Len():], nil); err != nil {
						t.Fatal(err)
					}
				}
				want := runSteps(t, whole, reference, ids, 1)
				for i, rows := range append(rowCounts(), 1) {
					run, how := inTurns(turn + i)
					run(t, m, cache, ids, rows).same(t, fmt.Sprintf("at %d, %d rows%s", start, rows, how), want)
				}
			}
		})
	}
}

// Asked to go back to some length, a cache with rings can go back to this length if few tokens are removed, else to a
// checkpoint or to nothing. What is read from there has the same bits as with a cache that keeps all rows.
func TestRingsGoBack(t *testing.T) {
	for _, name := range []string{"gemma3", "gemma4-shared"} {
		t.Run(name, func(t *testing.T) { ringsGoBack(t, name) })
	}
}

func ringsGoBack(t *testing.T, name string) {
	backend := newBackend(t, 1)
	m, whole := windowed(t, backend, name), windowed(t, wholeCaches{backend}, name)
	cache, reference := newCache(t, m), newCache(t, whole)
	text := randomIDs(ringContext, m.Config().Vocab, 3)
	rng := rand.New(rand.NewPCG(1, 2))
	fewer := map[bool]int{}
	for range 60 {
		n := max(1, rng.IntN(ringContext-mostRows)*rng.IntN(3)/2)
		if n <= cache.Len() {
			reach := compute.Reach(cache, n)
			if reach > n || cache.Len()-n <= 64 && reach != n {
				t.Fatalf("of %d tokens to %d: reaches %d", cache.Len(), n, reach)
			}
			fewer[reach > 0 && reach < n]++
			if reach < n && cache.Truncate(n) == nil {
				t.Fatalf("cut back to %d although it reaches %d", n, reach)
			}
			if err := cache.Truncate(reach); err != nil {
				t.Fatal(err)
			}
		}
		if n > cache.Len() {
			err := compute.ReadWithCheckpoint(cache, text[cache.Len():n], func(part []int32, _ int) error {
				_, err := m.Prefill(context.Background(), cache, part, nil)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := reference.Truncate(min(n, reference.Len())); err != nil {
			t.Fatal(err)
		}
		if n > reference.Len() {
			if _, err := whole.Prefill(context.Background(), reference, text[reference.Len():n], nil); err != nil {
				t.Fatal(err)
			}
		}
		next := text[n : n+1+rng.IntN(mostRows)]
		got, want := runSteps(t, m, cache, next, len(next)), runSteps(t, whole, reference, next, len(next))
		got.same(t, fmt.Sprintf("%d rows after %d", len(next), n), want)
	}
	if fewer[true] == 0 {
		t.Error("no checkpoint was used")
	}
}

// The memory that is planned is the one that is taken.
func TestRingsArePlanned(t *testing.T) {
	for _, name := range []string{"gemma3", "gemma4-shared"} {
		m := windowed(t, newBackend(t, 1), name)
		if got := newCache(t, m).Bytes(); got != m.Config().CacheBytes {
			t.Errorf("%s: a cache takes %d bytes, planned were %d", name, got, m.Config().CacheBytes)
		}
	}
}
