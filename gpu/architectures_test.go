//go:build cuda && linux && cgo

package gpu_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/model/modeltest"
)

// Every family of models computes on the device what transformers computes, and keeps the law of
// engine/compute: a row has the same bits alone and in a verification, over the rows that an earlier pass left.
func TestEveryArchitecture(t *testing.T) {
	const folder = "../engine/model/testdata/architectures/"
	paths, err := filepath.Glob(folder + "*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	b := open(t)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			var prompts []struct {
				IDs    []int32
				Rows   []int
				Logits [][]float64
			}
			text, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(text, &prompts)
			}
			if err != nil {
				t.Fatal(err)
			}
			data := modeltest.Unpack(t, folder+name+".gguf.gz")
			// The first tokens of the longer prompt are more than a window, which is 16.
			const tokens = 20
			prompt := prompts[len(prompts)-1]
			m := load(t, b, data,
				model.Options{MaxTokens: len(prompt.IDs), MaxRows: tokens, CacheType: compute.F32})
			cache, err := m.NewCache()
			if err != nil {
				t.Fatal(err)
			}
			defer cache.Close()
			alone := passes(t, m, cache, prompt.IDs[:tokens], 1)
			for _, rows := range []int{3, 9, tokens} {
				passes(t, m, cache, prompt.IDs[:tokens], rows).compare(t, alone, fmt.Sprintf("%d rows", rows))
			}
			worst, largest := 0.0, 0.0
			for i, row := range prompt.Rows {
				for v, got := range alone[fmt.Sprintf("scores of row %d", row)] {
					worst = math.Max(worst, math.Abs(float64(got)-prompt.Logits[i][v]))
					largest = math.Max(largest, math.Abs(prompt.Logits[i][v]))
				}
			}
			t.Logf("logits of up to %.1f differ by at most %.1g", largest, worst)
			if !(worst < 2e-2*largest) { // the device rounds weights and activations to half precision
				t.Errorf("logits differ by %g from those of transformers, which are up to %g", worst, largest)
			}
		})
	}
}
