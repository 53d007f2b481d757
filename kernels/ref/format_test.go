package ref_test

import (
	"bytes"
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
	blocksOf, weightsOf := map[string][]byte{}, map[string][]byte{}
	le := binary.LittleEndian
	for len(data) > 0 {
		name := string(bytes.TrimRight(data[:16], "\x00"))
		blocks, rest := data[24:24+le.Uint32(data[16:])], data[24+le.Uint32(data[16:]):]
		blocksOf[name], weightsOf[name] = blocks, rest[:le.Uint32(data[20:])]
		data = rest[len(weightsOf[name]):]
	}
	again := "in kernels/ref, after pip install gguf numpy, with GGML=…/libggml-base.so: python3 testdata/gguf_py.py testdata/gguf_py.bin " +
		strings.Trim(fmt.Sprint(ref.Formats()), "[]")
	for _, f := range ref.Formats() {
		blocks, weights := blocksOf[f.Name], weightsOf[f.Name]
		delete(blocksOf, f.Name)
		if len(blocks) == 0 {
			t.Errorf("gguf_py.bin has no blocks of %s; %s", f, again)
			continue
		}
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
	for name := range blocksOf {
		t.Errorf("gguf_py.bin has blocks of %s, which cannot be loaded; %s", name, again)
	}
}
