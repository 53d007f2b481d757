package random_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
	"specula/kernels/format"
	"specula/kernels/ref"
	"specula/tokenizer"
)

func Example() {
	shape, _ := random.ShapeNamed("tiny")
	var file bytes.Buffer
	_ = random.Write(context.Background(), &file, shape, compute.Q8_0)
	f, err := weights.Parse("tiny", file.Bytes())
	fmt.Println(f.Architecture(), len(f.Tensors()), err)
	// Output: qwen3 24 <nil>
}

func tiny(t *testing.T, typ compute.DType) *weights.File {
	t.Helper()
	shape, err := random.ShapeNamed("tiny")
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := errors.Join(random.Write(context.Background(), &a, shape, typ), random.Write(context.Background(), &b, shape, typ)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same arguments gave other bytes")
	}
	f, err := weights.Parse("tiny", a.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The numbers have a mean near 0 (up to half the deviation in types of 2 bits, whose quants go from −1 to 2) and about
// the deviation 1/√512, which keeps activations at an ordinary size.
func TestWeightsAreScaled(t *testing.T) {
	for _, f := range format.Loadable() {
		typ, err := random.TypeNamed(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		w, found, err := tiny(t, typ).Tensor("blk.1.ffn_down.weight")
		if err != nil || !found {
			t.Fatal(found, err)
		}
		numbers := make([]float32, w.Rows*w.Cols)
		dequantize(t, numbers, typ, w.Data)
		var sum, squares float64
		for _, v := range numbers {
			sum += float64(v)
			squares += float64(v) * float64(v)
		}
		n := float64(len(numbers))
		want := 1 / math.Sqrt(512)
		mean, deviation := sum/n, math.Sqrt(squares/n)
		room := 0.15
		if f.Quants != nil && f.Bits() == 2 && f.Bias == 1 {
			room = 0.5 // −1, 0, 1 and 2
		}
		if within := math.Abs(mean) <= room*want && deviation >= 0.7*want && deviation <= 1.5*want; !within { // NaN is not within
			t.Errorf("%s: mean %g, deviation %g, want 0 and %g", gguf.TypeName(typ), mean, deviation, want)
		}
	}
}

// A hollow file has the tensors of the real one. Rows returns the first rows that are drawn for a
// file.
func TestAHollowFileHasTheTensorsOfTheRealOne(t *testing.T) {
	shape, err := random.ShapeNamed("tiny")
	if err != nil {
		t.Fatal(err)
	}
	shape.Untied = true
	data, err := random.Hollow(shape, compute.Q8_0)
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := random.Write(t.Context(), &written, shape, compute.Q8_0); err != nil {
		t.Fatal(err)
	}
	if len(data) != written.Len() {
		t.Errorf("%d bytes, written %d", len(data), written.Len())
	}
	hollow, err := weights.Parse("hollow", data)
	if err != nil {
		t.Fatal(err)
	}
	real, err := weights.Parse("real", written.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(hollow.Tensors()) != fmt.Sprint(real.Tensors()) {
		t.Errorf("tensors %v, want %v", hollow.Tensors(), real.Tensors())
	}
	rows, err := random.Rows(compute.Q8_0, 3, shape.Dim)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := real.Tensor("token_embd.weight")
	if err != nil || !bytes.Equal(rows, w.Data[:len(rows)]) {
		t.Errorf("the rows are not those of the first matrix, %v", err)
	}
}

func TestVocabularyEncodes(t *testing.T) {
	spec, err := tiny(t, compute.Q8_0).TokenizerSpec()
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const text = "héllo wörld\n\x00 <|im_end|>"
	var back strings.Builder
	ids := tok.Encode(text)
	for _, id := range ids {
		back.Write(tok.Bytes(id))
	}
	if back.String() != text || len(ids) >= len(text) {
		t.Errorf("%q came back as %q from %d tokens", text, back.String(), len(ids))
	}
}

func TestWriteFileLeavesNothingBehind(t *testing.T) {
	shape, _ := random.ShapeNamed("tiny")
	path := filepath.Join(t.TempDir(), "w.gguf")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := random.WriteFile(cancelled, path, shape, compute.F16); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a part of the file was left: %v", err)
	}
	if err := random.WriteFile(context.Background(), path, shape, compute.Q4_K); err != nil {
		t.Fatal(err)
	}
	if err := random.WriteFile(context.Background(), path, shape, compute.F16); !errors.Is(err, os.ErrExist) {
		t.Errorf("an existing file gave %v", err)
	}
}

func TestNames(t *testing.T) {
	if _, err := random.ShapeNamed("huge"); err == nil || !strings.Contains(err.Error(), "qwen3-1.7b") {
		t.Errorf("an unknown shape: error %v, want one that lists qwen3-1.7b", err)
	}
	if _, err := random.TypeNamed("Q8_K"); err == nil || !strings.Contains(err.Error(), "Q4_K") {
		t.Errorf("a type without random weights: error %v, want one that lists Q4_K", err)
	}
	if got, err := random.TypeNamed("Q4_K"); got != compute.Q4_K || err != nil {
		t.Errorf("type %d, error %v", got, err)
	}
}

// dequantize decodes with the reference.
func dequantize(t *testing.T, dst []float32, typ compute.DType, data []byte) {
	t.Helper()
	if f, ok := ref.FormatOf(uint32(typ)); ok {
		f.Dequantize(dst, data)
		return
	}
	numbers, err := gguf.Decode(typ, data)
	if err != nil {
		t.Fatal(err)
	}
	copy(dst, numbers)
}
