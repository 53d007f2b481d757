package gpu

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
	"specula/kernels/format"
)

// Several cores that share the tiles of a matrix pack it to the same bytes as one core.
func TestCoresPackWhatOneCorePacks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, f := range format.Loadable() {
		typ := compute.DType(f.Type)
		for _, rows := range []int{1, 16, 37, 100} {
			const cols = 512
			source, err := random.Rows(typ, rows, cols)
			if err != nil {
				t.Fatal(err)
			}
			m := &matrix{rows: rows, cols: cols, format: formatOf(typ)}
			packed := func(cores int) []byte {
				runtime.GOMAXPROCS(cores)
				dst := bytes.Repeat([]byte{0xab}, m.format.Bytes(rows, cols))
				if err := m.pack(dst, compute.Weight{Name: "w", Type: typ, Rows: rows, Cols: cols}, source, rows); err != nil {
					t.Fatal(err)
				}
				return dst
			}
			if one := packed(1); !bytes.Equal(packed(3), one) || !bytes.Equal(packed(200), one) {
				t.Errorf("%s, %d rows: several cores pack other bytes", gguf.TypeName(typ), rows)
			}
		}
	}
}

// A weight that cannot be kept is refused, whichever core finds it.
func TestAWeightTooLargeForHalfPrecisionIsRefused(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	const rows, cols = 48, 32
	for _, at := range []int{0, 20, 47} {
		source := make([]byte, 4*rows*cols)
		binary.LittleEndian.PutUint32(source[4*at*cols:], math.Float32bits(1e6))
		m := &matrix{rows: rows, cols: cols, format: formatOf(compute.F32)}
		err := m.pack(make([]byte, m.format.Bytes(rows, cols)), compute.Weight{Name: "large", Type: compute.F32, Rows: rows, Cols: cols}, source, rows)
		if err == nil || !strings.Contains(err.Error(), `"large" has the weight 1e+06`) {
			t.Errorf("row %d: %v", at, err)
		}
	}
}
