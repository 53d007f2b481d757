package random_test

import (
	"bytes"
	"testing"

	"specula/assets"
	"specula/engine/weights"
	"specula/engine/weights/random"
)

func TestScrambleKeepsEverythingButTheOrder(t *testing.T) {
	before := bytes.Clone(assets.Draft())
	scrambled, err := random.Scramble("draft", assets.Draft())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, assets.Draft()) {
		t.Fatal("the original was written to")
	}
	if bytes.Equal(before, scrambled) || len(before) != len(scrambled) {
		t.Fatalf("%d bytes became %d, equal: %v", len(before), len(scrambled), bytes.Equal(before, scrambled))
	}
	f, err := weights.Parse("scrambled", scrambled)
	if err != nil {
		t.Fatal(err)
	}
	original, err := weights.Parse("draft", before)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range original.Tensors() {
		a, _, _ := original.Tensor(tensor.Name)
		b, found, err := f.Tensor(tensor.Name)
		if err != nil || !found {
			t.Fatalf("tensor %s: found %v, %v", tensor.Name, found, err)
		}
		if counts(a.Data) != counts(b.Data) {
			t.Errorf("tensor %s has other bytes, not the same in another order", tensor.Name)
		}
	}
}

func counts(data []byte) (n [256]int) {
	for _, b := range data {
		n[b]++
	}
	return n
}
