package cuda

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/format"
	"specula/kernels/ref"
)

// A type that is kept as another has the same weights there, to the bit.
func TestRecodingChangesNoWeight(t *testing.T) {
	random, recoded := rand.NewChaCha8([32]byte{1}), 0
	for _, f := range ref.Formats() {
		if _, own := PackedFormat(f.Type); own {
			continue
		}
		as, exact := StoredAs(f.Type)
		if !exact {
			continue
		}
		recoded++
		blocks := make([]byte, 2048/f.BlockElements*f.BlockBytes)
		random.Read(blocks)
		want, got := make([]float32, 2048), make([]float32, 2048)
		f.Dequantize(want, blocks)
		if out := Recode(f.Type, blocks); as == BFloat16 {
			ref.DequantizeBF16(got, out)
		} else {
			ref.Format{Format: format.Find(as.file.Type)}.Dequantize(got, out)
		}
		for i, v := range want {
			if math.Float32bits(got[i]) != math.Float32bits(v) && (v == v || got[i] == got[i]) {
				t.Fatalf("%s as %s: weight %d is %g, in the file %g", f, as.Name, i, got[i], v)
			}
		}
	}
	if recoded == 0 {
		t.Error("no type is kept as another")
	}
}
