package gpu

import (
	"errors"
	"sort"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
)

// A model and its cache reserve no more than the plan that is made before anything is loaded.
func TestThePlanCovers(t *testing.T) {
	for _, name := range []string{"llama", "qwen3moe", "deepseek2", "deepseek2-flash"} {
		for _, cacheType := range []compute.DType{compute.F32, compute.F16} {
			load := func(total int64) (int64, error) {
				d := newRecorder(t)
				d.total = total
				b, err := newBackend(d)
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				before := d.bytes()
				m, err := model.Load(t.Context(), b, fixture(t, "../engine/model/testdata/architectures/"+name+".gguf.gz"), model.Options{MaxTokens: 128, MaxRows: 9, PrefillRows: 128, CacheType: cacheType}, nil)
				if err != nil {
					return 0, err
				}
				cache, err := m.NewCache()
				if err == nil {
					err = cache.Close()
				}
				return d.most - before, err
			}
			planned := int64(sort.Search(1<<30, func(n int) bool {
				_, err := load(int64(n))
				if err != nil && !errors.Is(err, compute.ErrOutOfMemory) {
					t.Fatal(err)
				}
				return err == nil
			}))
			got, err := load(planned)
			t.Logf("%s: %d reserved, %d planned %v", name, got, planned, err)
			if got > planned {
				t.Errorf("%s: %d reserved, %d planned", name, got, planned)
			}
		}
	}
}
