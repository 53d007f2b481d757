package model_test

import (
	"context"
	"fmt"
	"testing"

	"specula/assets"
	"specula/engine/model"
)

// BenchmarkForward measures one pass of m rows after 200 tokens. m = 1 is a decode step, m = γ+1 a
// verification.
func BenchmarkForward(b *testing.B) {
	asItIs := func(data []byte) func() ([]byte, error) { return func() ([]byte, error) { return data, nil } }
	for _, f := range []struct {
		name string
		data func() ([]byte, error)
	}{{"target", asItIs(assets.Target())}, {"draft", asItIs(assets.Draft())}, {"target-f16", wideTarget}} {
		for _, threads := range []int{1, 2} {
			backend := newBackend(b, threads)
			m := openWide(b, backend, f.data, model.Options{})
			cache := newCache(b, m)
			ids := randomIDs(200, m.Config().Vocab, 1)
			if _, err := m.Prefill(context.Background(), cache, ids, nil); err != nil {
				b.Fatal(err)
			}
			for _, rows := range []int{1, 2, 3, 5, 9} {
				b.Run(fmt.Sprintf("%s/threads=%d/m=%d", f.name, threads, rows), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := m.Forward(context.Background(), cache, ids[:rows]); err != nil {
							b.Fatal(err)
						}
						if err := cache.Truncate(len(ids)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
