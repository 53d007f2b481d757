package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// file is a file with the given header text and number of data bytes.
func file(header string, dataBytes int) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, dataBytes)...)
}

// malformed are files that are unacceptable because of one broken rule.
var malformed = []struct {
	name         string
	file         []byte
	at           int64
	field        string
	got, allowed string
}{
	{name: "empty file", file: nil, field: "size", got: "0 bytes", allowed: "10 bytes or more"},
	{name: "seven bytes", file: make([]byte, 7), field: "size", got: "7 bytes"},
	{name: "a length and nothing after it", file: make([]byte, 8), field: "size", got: "8 bytes", allowed: "10 bytes or more"},
	{name: "a length and one byte", file: make([]byte, 9), field: "size", got: "9 bytes", allowed: "10 bytes or more"},
	{name: "length 0", file: make([]byte, 16), field: "header length", got: "0", allowed: "2 to 8"},
	{name: "length beyond the file", file: append(binary.LittleEndian.AppendUint64(nil, 9), make([]byte, 8)...), field: "header length", got: "9", allowed: "2 to 8"},
	{name: "length 2⁶⁴-1", file: append(binary.LittleEndian.AppendUint64(nil, 1<<64-1), make([]byte, 8)...), field: "header length", got: "18446744073709551615"},
	{name: "no object", file: file(`[1,2]`, 0), at: 8, field: "header", got: `"["`, allowed: `'{'`},
	{name: "broken JSON", file: file(`{"a":}`, 0), at: 13, field: "description"},
	{name: "cut JSON", file: file(`{"a":{"dtype":"F32"`, 0), field: "description", allowed: "JSON"},
	{name: "bytes after the header", file: file(`{}x`, 0), at: 10, field: "header", got: `"x"`, allowed: "spaces"},
	{name: "name twice", file: file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), at: 62, field: "name", got: "again", allowed: "each once"},
	{name: "field twice", file: file(`{"a":{"dtype":"F32","dtype":"F16"}}`, 4), field: `tensor "a" field`, allowed: "each once"},
	{name: "unknown field", file: file(`{"a":{"dtype":"F32","stride":[1]}}`, 4), field: `tensor "a" field`, got: "stride"},
	{name: "unknown type", file: file(`{"a":{"dtype":"Q4","shape":[1],"data_offsets":[0,4]}}`, 4), at: 22, field: `tensor "a" dtype`, got: "Q4", allowed: "BF16"},
	{name: "type that is no text", file: file(`{"a":{"dtype":4}}`, 4), field: `tensor "a" dtype`, got: `"4"`, allowed: "text"},
	{name: "nested deep", file: file(`{"a":`+strings.Repeat("[", 9000)+`}`, 0), field: "description", got: `"["`},
	{name: "no shape", file: file(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, 4), field: `tensor "a" description`, allowed: "shape"},
	{name: "negative dimension", file: file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4), field: `tensor "a" shape`, got: "-1", allowed: "whole numbers"},
	{name: "fraction", file: file(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}`, 4), field: `tensor "a" shape`, got: "1.5"},
	{name: "dimension beyond 2⁶³", file: file(`{"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]}}`, 4), field: `tensor "a" shape`},
	{name: "nine dimensions", file: file(`{"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}}`, 1), field: `tensor "a" shape`, allowed: "at most 8"},
	{name: "product that wraps", file: file(`{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`, 0), field: `tensor "a" data_offsets`, got: "0 bytes for shape", allowed: "as many as"},
	{name: "fewer bytes than the shape", file: file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4), field: `tensor "a" data_offsets`, got: "4 bytes for shape [2] of F32"},
	{name: "end before the beginning", file: file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 4), field: `tensor "a" data_offsets`, got: "[4 0]", allowed: "0 to 4"},
	{name: "end beyond the file", file: file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4), field: `tensor "a" data_offsets`, got: "[0 8]", allowed: "0 to 4"},
	{name: "one offset", file: file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}}`, 4), field: `tensor "a" data_offsets`},
	{name: "overlap", file: file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), field: `tensor "b"`, got: "begin at 4", allowed: "8, the end of the tensor before"},
	{name: "gap", file: file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, 12), field: `tensor "b"`, got: "begin at 8", allowed: "4,"},
	{name: "bytes that belong to nobody", file: file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 5), field: "header", got: "tensors of 4 bytes", allowed: "5,"},
	{name: "metadata that is no text", file: file(`{"__metadata__":{"a":1}}`, 0), field: "__metadata__ value", got: `"1"`},
	{name: "escape sequence in a name", file: file("{\"\\u001b[2J\":{\"dtype\":\"F33\"}}", 0), field: `tensor "\x1b[2J" dtype`},
	{name: "endless name", file: file(`{"`+strings.Repeat("n", 300)+`":{}}`, 0), field: "name", allowed: "at most 256"},
}

func TestMalformedFilesAreRefusedWithPlaceAndRule(t *testing.T) {
	for _, c := range malformed {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("heads.safetensors", c.file)
			var m *weights.MalformedError
			if !errors.As(err, &m) {
				t.Fatalf("got %v", err)
			}
			if m.File != "heads.safetensors" || !strings.Contains(m.Field, c.field) || !strings.Contains(m.Got, c.got) || !strings.Contains(m.Allowed, c.allowed) {
				t.Errorf("got %v; want the field %q, got %q, allowed %q", err, c.field, c.got, c.allowed)
			}
			if c.at != 0 && m.Offset != c.at {
				t.Errorf("offset %d, want %d: %v", m.Offset, c.at, err)
			}
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("control characters in %q", err)
			}
		})
	}
}

// sample has a tensor of every kind.
func sample() []byte {
	var b Builder
	b.Floats("matrix", compute.F16, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	b.Floats("vector", compute.BF16, []float32{1, -2}, 2)
	b.Integers("d2t", []int64{0, -3, 1 << 40})
	b.Add("t2d", "BOOL", []byte{0, 1, 1}, 3)
	b.Add("cube", "F32", make([]byte, 4*8), 2, 2, 2)
	b.Add("number", "F32", make([]byte, 4))
	b.Add("nothing", "F32", nil, 0, 3)
	return b.Bytes()
}

func TestTensorsComeBackAsTheyWereWritten(t *testing.T) {
	f, err := Parse("heads", sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		rows, cols int
		want       []float32
	}{{"matrix", 2, 3, []float32{1, 2, 3, 4, 5, 6}}, {"vector", 1, 2, []float32{1, -2}}} {
		w, found, err := f.Tensor(c.name)
		if err != nil || !found || w.Rows != c.rows || w.Cols != c.cols {
			t.Fatalf("%s: %v %v %v", c.name, w, found, err)
		}
		if got, err := gguf.Decode(w.Type, w.Data); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s is %v (%v), want %v", c.name, got, err, c.want)
		}
	}
	for name, want := range map[string][]int64{"d2t": {0, -3, 1 << 40}, "t2d": {0, 1, 1}} {
		if got, found, err := f.Integers(name); err != nil || !found || !slices.Equal(got, want) {
			t.Errorf("%s is %v (%v, %v), want %v", name, got, found, err, want)
		}
	}
	if _, found, err := f.Tensor("missing"); found || err != nil {
		t.Errorf("a missing tensor: %v, %v", found, err)
	}
	for _, name := range []string{"d2t", "cube", "number", "nothing"} {
		if _, found, err := f.Tensor(name); !found || !errors.Is(err, weights.ErrMalformed) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s as a weight: found %v, error %v", name, found, err)
		}
	}
	if _, _, err := f.Integers("matrix"); err == nil {
		t.Error("numbers were taken for integers")
	}
}

func TestOpenFindsTheFileInAFolder(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  string // the file; a text with a space is part of the error
	}{
		{"model.safetensors comes first", []string{"model.safetensors", "other.safetensors", "config.json"}, "model.safetensors"},
		{"the only one", []string{"medusa_lm_head.safetensors", "medusa_lm_head.pt"}, "medusa_lm_head.safetensors"},
		{"two", []string{"a.safetensors", "b.safetensors"}, "has 2 files"},
		{"pickled", []string{"pytorch_model.bin"}, "convert it"},
		{"none", []string{"README.md"}, "no file whose name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			for _, name := range c.files {
				content := sample()
				if name == "config.json" {
					content = []byte(`{"hidden_size":3}`)
				}
				if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f, err := Open(t.Context(), folder, nil)
			if strings.Contains(c.want, " ") {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil || f.Name() != filepath.Join(folder, c.want) {
				t.Fatalf("got %v, %v", f, err)
			}
			if has := slices.Contains(c.files, "config.json"); has != (f.Config() != nil) {
				t.Errorf("config is %q", f.Config())
			}
			if again, err := Open(t.Context(), f.Name(), nil); err != nil || string(again.Config()) != string(f.Config()) {
				t.Errorf("by its own path: %v", err)
			}
		})
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "gone"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing path: %v", err)
	}
}

func TestABadHeaderIsRefusedBeforeMemoryIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "huge.safetensors")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(file(`{}`, 0)); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 42); err != nil { // a hole, which takes no room on the disk
		t.Skip("the file system has no files of four tebibytes:", err)
	}
	if _, err := Open(t.Context(), path, nil); !errors.Is(err, weights.ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

// FuzzSafetensors: any bytes lead to a usable file or to an error about the bytes.
func FuzzSafetensors(f *testing.F) {
	for _, c := range malformed {
		f.Add(c.file)
	}
	whole := sample()
	f.Add(whole)
	for i := 0; i < len(whole); i += 7 {
		f.Add(whole[:i])
		flipped := slices.Clone(whole)
		flipped[i] ^= 1
		f.Add(flipped)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("fuzz", data)
		if err != nil {
			var m *weights.MalformedError
			if !errors.As(err, &m) || m.Offset < 0 || m.Offset > int64(len(data)) {
				t.Fatal(err)
			}
			return
		}
		total := int64(0)
		for _, tensor := range file.Tensors() {
			if size, ok := sizeOf(tensor); !ok || tensor.end-tensor.begin != size || tensor.begin != total {
				t.Fatalf("%+v does not follow %d", tensor, total)
			}
			total = tensor.end
			if w, _, err := file.Tensor(tensor.Name); err == nil {
				if _, err := gguf.Decode(w.Type, w.Data); err != nil || w.Rows < 1 || w.Cols < 1 {
					t.Fatalf("%v: %v", w, err)
				}
			}
			_, _, _ = file.Integers(tensor.Name)
		}
		if total != int64(len(file.data)) {
			t.Fatalf("tensors of %d bytes in %d", total, len(file.data))
		}
	})
}

func ExampleParse() {
	var b Builder
	b.Floats("fc.weight", compute.F32, []float32{1, 2, 3, 4}, 2, 2)
	f, err := Parse("head.safetensors", b.Bytes())
	if err != nil {
		panic(err)
	}
	w, _, _ := f.Tensor("fc.weight")
	fmt.Println(f.Tensors()[0].Name, w.Rows, "×", w.Cols)
	// Output: fc.weight 2 × 2
}

func TestModelGivenAsHeads(t *testing.T) {
	_, err := Parse("model.gguf", (&gguf.Builder{}).Set("general.architecture", "llama").Bytes())
	if !errors.As(err, new(*weights.ForeignError)) || !strings.Contains(err.Error(), "it is a GGUF file") || !strings.Contains(err.Error(), "--draft") {
		t.Errorf("error %v", err)
	}
}
