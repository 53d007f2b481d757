package weights

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// TestMustAccept: unusual but valid files. Refusing them is as wrong as accepting malformed ones.
func TestMustAccept(t *testing.T) {
	base := func(change func(b *gguf.Builder)) []byte {
		b := baseBuilder()
		change(b)
		return b.Bytes()
	}
	v2 := func(b *gguf.Builder) { b.Version = 2 }
	whole := baseBuilder().Bytes()
	hole := baseBuilder().Bytes()
	hole = append(hole, make([]byte, 64)...)
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"base: NUL in a token, equal tokens, unknown keys, BF16", whole},
		{"version 2", base(v2)},
		{"nothing at all", new(gguf.Builder).Bytes()},
		{"nothing, not even padding", new(gguf.Builder).Bytes()[:24]},
		{"metadata without tensors", new(gguf.Builder).Set("general.architecture", "llama").Bytes()},
		{"tensors without metadata", new(gguf.Builder).Vector("v", []float32{1, 2}).Bytes()},
		{"bytes after the last tensor", append(append([]byte{}, whole...), "trailing"...)},
		{"hole between tensors", patched(t, hole, "tensors[3] offset", uint64(288))},
		{"alignment 1", (&gguf.Builder{Alignment: 1}).Vector("v", []float32{1}).Tensor("w", compute.BF16, []byte{0, 0}, 1).Vector("x", []float32{1}).Bytes()},
		{"alignment 1 MiB", (&gguf.Builder{Alignment: 1 << 20}).Vector("v", []float32{1}).Vector("w", []float32{1}).Bytes()},
		{"alignment as u64", new(gguf.Builder).Set("general.alignment", uint64(32)).Vector("v", []float32{1}).Bytes()},
		{"four dimensions", new(gguf.Builder).Tensor("t", compute.F32, make([]byte, 4*2*3*4*5), 2, 3, 4, 5).Bytes()},
		{"tensor name of 256 bytes", new(gguf.Builder).Vector(strings.Repeat("n", 256), []float32{1}).Bytes()},
		{"key of 65535 bytes", new(gguf.Builder).Set(strings.Repeat("k", 65535), "v").Set("after", true).Bytes()},
		{"string longer than the window", new(gguf.Builder).Set("long", strings.Repeat("x", 3*windowBytes+5)).Set("after", true).Bytes()},
		{"strings that straddle the window", new(gguf.Builder).Set("many", strings.Split(strings.Repeat("word,", 30000), ",")).Set("after", true).Bytes()},
		{"text that is no UTF-8", new(gguf.Builder).Set("tokenizer.ggml.tokens", []string{"\xff\xfe", "\x00"}).Bytes()},
		{"types that are only listed", new(gguf.Builder).Tensor("q2", 10, make([]byte, 84), 256).Tensor("i64", 27, make([]byte, 8), 1).Bytes()},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse("f", c.file)
			if err != nil {
				t.Fatal(err)
			}
			useAll(t, f)
		})
	}
}

// useAll calls everything that a File offers, and checks what must hold for any file.
func useAll(t testing.TB, f *File) {
	t.Helper()
	for _, v := range f.header.values {
		errs := make([]error, 8)
		_, _, errs[0] = f.Uint(v.key)
		_, _, errs[1] = f.Int(v.key)
		_, _, errs[2] = f.Float(v.key)
		_, _, errs[3] = f.Bool(v.key)
		_, _, errs[4] = f.String(v.key)
		_, _, errs[5] = f.Strings(v.key)
		_, _, errs[6] = f.Ints(v.key)
		_, _, errs[7] = f.Floats(v.key)
		for _, err := range errs {
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v, want a MalformedError", err)
			}
			if err != nil {
				checkMessage(t, err)
			}
		}
	}
	var end int64 = f.header.bytes
	for _, x := range f.Tensors() {
		if x.offset < end || x.offset%int64(f.header.alignment) != 0 || x.offset+x.bytes > f.size || x.bytes == 0 {
			t.Fatalf("%+v overlaps, is not aligned or leaves the file of %d bytes", x, f.size)
		}
		end = x.offset + x.bytes
		w, found, err := f.Tensor(x.Name)
		switch {
		case !found:
			t.Fatalf("%q is listed and not found", x.Name)
		case gguf.Loadable(x.Type):
			if err != nil || int64(w.Rows)*int64(w.Cols) != x.Elements() || int64(len(w.Data)) != x.bytes {
				t.Fatalf("got %d×%d, %d bytes, %v for %+v", w.Rows, w.Cols, len(w.Data), err, x)
			}
			if _, err := gguf.Decode(w.Type, w.Data); err != nil && gguf.HasCodec(w.Type) {
				t.Fatal(err)
			}
		case !errors.Is(err, ErrUnsupportedType) || !strings.Contains(err.Error(), gguf.TypeName(x.Type)):
			t.Fatalf("got %v, want an error that names %s", err, gguf.TypeName(x.Type))
		}
	}
	if _, err := f.TokenizerSpec(); err != nil {
		checkMessage(t, err)
	}
	if r := Describe(f); len(r.Tensors) != len(f.header.tensors) || len(r.Metadata) != len(f.header.values) {
		t.Errorf("report lists %d tensors and %d values", len(r.Tensors), len(r.Metadata))
	}
}

// TestAgainstReference reads a file written by another implementation: the Python package gguf
// 0.19.0.
func TestAgainstReference(t *testing.T) {
	f, err := Open(context.Background(), filepath.Join("testdata", "by-gguf-py.gguf"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float32, 256)
	for i := range want {
		want[i] = (float32(i*2654435761%1000003) - 500001) / 3000
	}
	for name, typ := range map[string]compute.DType{"f32": compute.F32, "f16": compute.F16, "bf16": compute.BF16, "q8_0": compute.Q8_0} {
		w, found, err := f.Tensor(name)
		if !found || err != nil || w.Type != typ || w.Rows != 8 || w.Cols != 32 {
			t.Fatalf("%s: got %s %d×%d, %v, %v", name, gguf.TypeName(w.Type), w.Rows, w.Cols, found, err)
		}
		if !bytes.Equal(w.Data, gguf.Encode(typ, want)) {
			t.Errorf("%s: the data differ", name)
		}
	}
	if w, found, err := f.Tensor("q4_0"); !found || err != nil || w.Type != compute.Q4_0 || len(w.Data) != 8*18 {
		t.Errorf("q4_0: got %d bytes of %s, %v, %v", len(w.Data), gguf.TypeName(w.Type), found, err)
	}
	cube, _, err := f.Tensor("cube")
	if err != nil || cube.Rows != 12 || cube.Cols != 2 {
		t.Errorf("cube: got %d×%d, %v", cube.Rows, cube.Cols, err)
	}
	check := func(name string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	u64, _, _ := f.Uint("test.u64")
	check("u64", u64, uint64(math.MaxUint64))
	for key, want := range map[string]int64{"i64": math.MinInt64, "u8": 255, "i8": -128, "u16": 65535, "i16": -32768} {
		n, _, err := f.Int("test." + key)
		check(key, n, want)
		check(key, err, nil)
	}
	f64, _, _ := f.Float("test.f64")
	check("f64", f64, 0.1)
	base, _, _ := f.Float("qwen2.rope.freq_base")
	check("freq_base", base, 1e6)
	heads, _, _ := f.Uint("qwen2.attention.head_count")
	check("head_count", heads, uint64(8))
	spec, err := f.TokenizerSpec()
	check("spec error", err, nil)
	check("tokens", spec.Tokens, []string{"a", "Ġb", "日", "<|im_end|>"})
	check("types", spec.Types, []int32{1, 1, 1, 3})
	check("merges", spec.Merges, []string{"a b", "b c"})
	check("template", f.ChatTemplate(), "{{ x }}")
}

// TestShippedFiles: the model files in the repository open and hold what a model needs.
func TestShippedFiles(t *testing.T) {
	paths, err := filepath.Glob("../../assets/*/*.gguf")
	if err != nil || len(paths) < 2 {
		t.Fatalf("found %d model files, %v", len(paths), err)
	}
	for _, path := range paths {
		f, err := Open(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		useAll(t, f)
		if f.Architecture() == "" || f.ChatTemplate() == "" {
			t.Errorf("%s: architecture %q, template %q", path, f.Architecture(), f.ChatTemplate())
		}
		if _, err := f.TokenizerSpec(); err != nil {
			t.Error(err)
		}
	}
}
