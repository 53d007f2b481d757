package weights

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"specula/engine/weights/gguf"
)

// writeParts writes a model with one tensor a part, and returns the paths. change may alter part i
// before it is written.
func writeParts(t *testing.T, count int, change func(i int, b *gguf.Builder)) []string {
	t.Helper()
	folder, paths := t.TempDir(), make([]string, count)
	for i := range paths {
		b := new(gguf.Builder)
		if i == 0 {
			b.Set("general.architecture", "llama")
		}
		if change != nil {
			change(i, b)
		} else {
			part(b, i, count, count)
		}
		paths[i] = filepath.Join(folder, fmt.Sprintf("model-%05d-of-%05d.gguf", i+1, count))
		if err := os.WriteFile(paths[i], b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// part makes b part number, from 0, of count, with one tensor of that value.
func part(b *gguf.Builder, number, count, tensors int) {
	b.Set("split.no", uint16(number)).Set("split.count", uint16(count)).Set("split.tensors.count", int32(tensors))
	b.Vector(fmt.Sprintf("tensor%d", number), []float32{float32(number)})
}

func TestPartsAreOneModel(t *testing.T) {
	paths := writeParts(t, 3, nil)
	for _, path := range paths {
		var done, total int64
		f, err := Open(t.Context(), path, func(d, n int64) { done, total = d, n })
		if err != nil {
			t.Fatal(err)
		}
		if f.Parts() != 3 || f.Architecture() != "llama" || len(f.Tensors()) != 3 || done != total || total == 0 {
			t.Errorf("%s: %d parts, %q, %d tensors, %d of %d bytes", path, f.Parts(), f.Architecture(), len(f.Tensors()), done, total)
		}
		for i := range 3 {
			w, found, err := f.Tensor(fmt.Sprintf("tensor%d", i))
			if want := gguf.Encode(w.Type, []float32{float32(i)}); err != nil || !found || string(w.Data) != string(want) {
				t.Errorf("tensor%d: %v, %v, % x", i, found, err, w.Data)
			}
		}
		f.Release("tensor2")
		if _, _, err := f.Tensor("tensor2"); err == nil {
			t.Error("the data of tensor2 were released, and are there")
		}
		headers, err := OpenHeader(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if r := Describe(headers); r.Parts != 3 || r.Parameters != 3 || r.FileBytes != f.Size() {
			t.Errorf("described as %+v", r)
		}
	}
}

func TestPartsThatDoNotFit(t *testing.T) {
	tests := []struct {
		name   string
		change func(i int, b *gguf.Builder)
		damage func(paths []string) error
		want   string
	}{
		{"missing", nil, func(paths []string) error { return os.Remove(paths[1]) }, "part 2 of 3 of a model: "},
		{"swapped", nil, func(paths []string) error { return os.Rename(paths[2], paths[1]) }, "got split.no 2, allowed 1"},
		{"of another model", func(i int, b *gguf.Builder) { part(b, i, 3+i, 3) }, nil, "got split.count 4, allowed 3"},
		{"no parts", func(i int, b *gguf.Builder) { b.Vector(fmt.Sprint(i), []float32{1}) }, nil, "got split.count 0, allowed 3"},
		{"number of another type", func(_ int, b *gguf.Builder) { b.Set("split.no", "first") }, nil, "split.no"},
		{"twice", func(i int, b *gguf.Builder) { part(b, i, 3, 4); b.Vector("same", []float32{1}) }, nil, `"same" is also in`},
		{"one tensor less", func(i int, b *gguf.Builder) { part(b, i, 3, 4) }, nil, "have 3 tensors together, allowed 4"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			paths := writeParts(t, 3, test.change)
			if test.damage != nil {
				if err := test.damage(paths); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(t.Context(), paths[0], nil)
			_, errHeader := OpenHeader(t.Context(), paths[0])
			if err == nil || errHeader == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(errHeader.Error(), test.want) {
				t.Errorf("got %v and %v, want %q", err, errHeader, test.want)
			}
		})
	}
	for _, name := range []string{"model-00000-of-00003.gguf", "model-00004-of-00003.gguf", "model-00001-of-09999.gguf"} {
		if _, err := Open(t.Context(), name, nil); err == nil || !strings.Contains(err.Error(), "rename it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
