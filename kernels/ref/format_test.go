package ref_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"specula/kernels/ref"
)

// Random blocks decode to the same numbers as in another implementation, the Python package gguf.
func TestDequantizeEqualsGGUFPy(t *testing.T) {
	data, err := os.ReadFile("testdata/gguf_py.bin")
	if err != nil {
		t.Fatal(err)
	}
	again := "if it is new: python3 testdata/gguf_py.py testdata/gguf_py.bin " + strings.Trim(fmt.Sprint(ref.Formats()), "[]")
	le := binary.LittleEndian
	for _, f := range ref.Formats() {
		if len(data) == 0 {
			t.Fatalf("there are no blocks of %s; %s", f, again)
		}
		blockBytes, weightBytes := le.Uint32(data), le.Uint32(data[4:])
		blocks, weights := data[8:8+blockBytes], data[8+blockBytes:8+blockBytes+weightBytes]
		data = data[8+blockBytes+weightBytes:]
		got := make([]float32, len(blocks)/f.BlockBytes*f.BlockElements)
		if len(got) != len(weights)/4 {
			t.Fatalf("%s: %d weights, want %d; %s", f, len(got), len(weights)/4, again)
		}
		f.Dequantize(got, blocks)
		for i, v := range got {
			want := math.Float32frombits(le.Uint32(weights[4*i:]))
			if v != want && (v == v || want == want) {
				t.Fatalf("%s: weight %d is %v, want %v", f.Name, i, v, want)
			}
		}
	}
	if len(data) != 0 {
		t.Errorf("%d bytes are left", len(data))
	}
}
