//go:build cuda && linux && cgo

package gpu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/gpu"
)

// inBF16 rounds float32 weights to BF16. Products of BF16 join the operations around them; those of float32 weights,
// which the device keeps in half precision, do not.
type inBF16 struct{ *gpu.Backend }

func (b inBF16) MatrixBytes(w compute.Weight) int64 { return b.Backend.MatrixBytes(toBF16(w)) }

func (b inBF16) Matrix(ctx context.Context, w compute.Weight) (compute.Matrix, error) {
	return b.Backend.Matrix(ctx, toBF16(w))
}

func toBF16(w compute.Weight) compute.Weight {
	if w.Type != compute.F32 {
		return w
	}
	rounded := make([]byte, 0, len(w.Data)/2)
	for at := 0; at < len(w.Data); at += 4 {
		rounded = binary.LittleEndian.AppendUint16(rounded, uint16((binary.LittleEndian.Uint32(w.Data[at:])+1<<15)>>16))
	}
	w.Type, w.Data, w.Done = compute.BF16, rounded, nil
	return w
}

// In every family of models, what products of a pass of 1 or 3 rows join, a SwiGLU and the sum with the stream, gives
// the bits of a pass of 20 rows, for which a SwiGLU is not joined. The cache is float32, so attention joins nothing. The models are too narrow for products that make norms: TestARowDoesNotDependOnItsCompany has
// these.
func TestJoinedOperationsOfEveryArchitecture(t *testing.T) {
	const folder, tokens = "../engine/model/testdata/architectures/", 20
	paths, err := filepath.Glob(folder + "*.gguf.gz")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	ids := make([]int32, tokens)
	for i := range ids {
		ids[i] = int32(7 + i*5%50)
	}
	b := inBF16{open(t).(*gpu.Backend)}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".gguf.gz")
		t.Run(name, func(t *testing.T) {
			m := load(t, b, modeltest.Unpack(t, path), model.Options{MaxTokens: tokens, MaxRows: tokens, CacheType: compute.F32})
			cache, err := m.NewCache()
			must(t, err)
			defer cache.Close()
			alone := passes(t, m, cache, ids, 1)
			for _, rows := range []int{3, tokens} {
				passes(t, m, cache, ids, rows).compare(t, alone, fmt.Sprintf("%d rows", rows))
			}
		})
	}
}
