package widen_test

import (
	"fmt"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/widen"
)

// small is a file with metadata of several kinds, a matrix and a vector.
func small() *gguf.Builder {
	b := &gguf.Builder{}
	b.Set("general.architecture", "qwen3").Set("tokens", []string{"a", "", "ab"}).Set("scores", []float32{1, 2}).Set("on", true)
	return b.Matrix("m", compute.Q8_0, 2, 32, slices.Repeat([]float32{1.5, -3}, 32)).Vector("v", []float32{1, 1e-7})
}

func ExampleToF16() {
	wide, err := widen.ToF16(small().Bytes())
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := weights.Parse("wide", wide)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range f.Tensors() {
		fmt.Println(t.Name, gguf.TypeName(t.Type), t.Shape())
	}
	// Output:
	// m F16 [32 2]
	// v F32 [2]
}

func TestNothingButTheTypeOfMatricesChanges(t *testing.T) {
	wide, err := widen.ToF16(small().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := weights.Parse("narrow", small().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := weights.Parse("wide", wide)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := weights.Describe(narrow).Metadata, weights.Describe(got).Metadata; !slices.Equal(a, b) {
		t.Errorf("the metadata were %v and became %v", a, b)
	}
	for _, name := range []string{"m", "v"} {
		before, _, _ := narrow.Tensor(name)
		after, found, err := got.Tensor(name)
		if err != nil || !found {
			t.Fatalf("%s: found %v, %v", name, found, err)
		}
		want, _ := gguf.Decode(before.Type, before.Data)
		numbers, err := gguf.Decode(after.Type, after.Data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if d := numbers[i] - want[i]; d > 1e-3 || d < -1e-3 {
				t.Fatalf("%s: number %d was %g and became %g", name, i, want[i], numbers[i])
			}
		}
	}
}
