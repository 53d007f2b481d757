package weights

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenEqualsParse(t *testing.T) {
	data := baseBuilder().Bytes()
	path := write(t, data)
	opened, err := Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := Describe(opened), Describe(parsed); !reflect.DeepEqual(a, b) {
		t.Errorf("opened %+v\nparsed %+v", a, b)
	}
	for _, x := range parsed.Tensors() {
		a, _, _ := opened.Tensor(x.Name)
		b, _, _ := parsed.Tensor(x.Name)
		if !bytes.Equal(a.Data, b.Data) {
			t.Errorf("%s differs", x.Name)
		}
	}
	if w, _, _ := parsed.Tensor("norm.weight"); &w.Data[0] != &data[parsed.header.tensors[1].offset] {
		t.Error("Parse copied the data")
	}
	if _, found, err := opened.Tensor("no such tensor"); found || err != nil {
		t.Errorf("got %v, %v for a missing tensor", found, err)
	}
}

func TestOpenRefusesBySight(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip("symbolic links are not available: ", err)
	}
	for _, c := range []struct{ name, path, message string }{
		{"missing", filepath.Join(dir, "none"), "no such file"},
		{"directory", dir, "is a directory, allowed are regular files"},
		{"symbolic link to itself", loop, "too many levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Open(context.Background(), c.path, nil); err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("Open: got %v, want %q", err, c.message)
			}
			if _, err := OpenHeader(context.Background(), c.path); err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("OpenHeader: got %v, want %q", err, c.message)
			}
		})
	}
}

// TestOpenSparse: holes cost no memory and are no reason to refuse a file. Tensors inside holes
// cost what they say.
func TestOpenSparse(t *testing.T) {
	tail := write(t, baseBuilder().Bytes())
	if err := os.Truncate(tail, 1<<40); err != nil {
		t.Skip("sparse files are not available: ", err)
	}
	before := totalAlloc()
	f, err := Open(context.Background(), tail, nil)
	if err != nil {
		t.Fatal(err)
	}
	if taken := totalAlloc() - before; taken > 1<<20 {
		t.Errorf("a hole after the tensors took %d bytes", taken)
	}
	if spare := Describe(f).SpareBytes; spare < 1<<40-4096 {
		t.Errorf("%d spare bytes", spare)
	}

	claim := write(t, patched(t, baseBuilder().Bytes(), "tensors[3] dims[1]", uint64(1<<37))) // 3·2³⁷ numbers of 2 bytes
	if err := os.Truncate(claim, 1<<40); err != nil {
		t.Fatal(err)
	}
	before = totalAlloc()
	if _, err := Open(context.Background(), claim, nil); !errors.Is(err, compute.ErrOutOfMemory) {
		t.Errorf("got %v, want %v", err, compute.ErrOutOfMemory)
	}
	header, err := OpenHeader(context.Background(), claim)
	if err != nil {
		t.Fatal(err)
	}
	if taken := totalAlloc() - before; taken > 1<<20 {
		t.Errorf("a claim of 768 GiB took %d bytes", taken)
	}
	if got := Describe(header).Parameters; got < 3<<37 {
		t.Errorf("%d parameters", got)
	}
	if _, found, err := header.Tensor("brain"); !found || err == nil || !strings.Contains(err.Error(), "only the header was opened") {
		t.Errorf("got %v, %v", found, err)
	}
}

// medium is a file in memory whose behaviour the test controls.
type medium struct {
	data    []byte
	readAt  func(p []byte, at int64) (int, error) // nil: from data
	size    int64
	modTime time.Time
	stats   int
	onStat  func(m *medium) // called before each Stat after the first
}

func (m *medium) ReadAt(p []byte, at int64) (int, error) {
	if m.readAt != nil {
		return m.readAt(p, at)
	}
	return bytes.NewReader(m.data).ReadAt(p, at)
}

func (m *medium) Stat() (fs.FileInfo, error) {
	if m.stats++; m.stats > 1 && m.onStat != nil {
		m.onStat(m)
	}
	return mediumInfo{m.size, m.modTime}, nil
}

type mediumInfo struct {
	size    int64
	modTime time.Time
}

func (i mediumInfo) Name() string       { return "medium" }
func (i mediumInfo) Size() int64        { return i.size }
func (i mediumInfo) Mode() fs.FileMode  { return 0 }
func (i mediumInfo) ModTime() time.Time { return i.modTime }
func (i mediumInfo) IsDir() bool        { return false }
func (i mediumInfo) Sys() any           { return nil }

func plenty() (int64, bool) { return math.MaxInt64, true }

// TestFileChanges: a file that is written to or cut while it is read, and a disk that fails.
func TestFileChanges(t *testing.T) {
	base := baseBuilder().Bytes()
	dataAt := alignUp(uint64(landmarks(base)["end of header"]), 32)
	errDisk := errors.New("input/output error")
	second := func(then func([]byte, int64) (int, error)) func([]byte, int64) (int, error) {
		reads := 0
		return func(p []byte, at int64) (int, error) {
			if reads++; reads > 1 { // the first read is that of the header
				return then(p, at)
			}
			return bytes.NewReader(base).ReadAt(p, at)
		}
	}
	swapped := patched(t, base, "tensors[3] offset", uint64(1<<40))
	for _, c := range []struct {
		name   string
		medium *medium
		want   error
	}{
		{"cut inside the header before it was read", &medium{data: base[:100]}, ErrChanged},
		{"cut inside the data", &medium{readAt: second(bytes.NewReader(base[:dataAt+5]).ReadAt)}, ErrChanged},
		{"cut to nothing", &medium{readAt: second(bytes.NewReader(nil).ReadAt)}, ErrChanged},
		{"longer at the end", &medium{data: base, onStat: func(m *medium) { m.size++ }}, ErrChanged},
		{"shorter at the end", &medium{data: base, onStat: func(m *medium) { m.size-- }}, ErrChanged},
		{"written in between", &medium{data: base, onStat: func(m *medium) { m.modTime = m.modTime.Add(time.Second) }}, ErrChanged},
		{"header swapped after the first look", &medium{readAt: second(bytes.NewReader(swapped).ReadAt)}, ErrMalformed},
		{"disk fails in the header", &medium{readAt: func([]byte, int64) (int, error) { return 0, errDisk }}, errDisk},
		{"disk fails in the data", &medium{readAt: second(func([]byte, int64) (int, error) { return 3, errDisk })}, errDisk},
		{"short read without an error", &medium{readAt: func([]byte, int64) (int, error) { return 2, nil }}, ErrChanged},
		{"panic in the reader", &medium{readAt: func([]byte, int64) (int, error) { panic("a fault") }}, ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.medium.size, c.medium.modTime = int64(len(base)), time.Unix(1e9, 0)
			f, err := load(context.Background(), "changing", c.medium, plenty, nil)
			if f != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), `"changing"`) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// TestNotEnoughMemory: the size is compared with the free memory before memory is allocated, to the
// byte.
func TestNotEnoughMemory(t *testing.T) {
	base := baseBuilder().Bytes()
	f, err := Parse("f", base)
	if err != nil {
		t.Fatal(err)
	}
	need := f.header.end
	for _, c := range []struct {
		name  string
		free  int64
		known bool
		want  error
	}{{"enough", need, true, nil}, {"one byte short", need - 1, true, compute.ErrOutOfMemory}, {"unknown", 0, false, nil}} {
		src := &medium{data: base, size: int64(len(base))}
		if _, err := load(context.Background(), "f", src, func() (int64, bool) { return c.free, c.known }, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

// TestProgressAndCancel reads a file of several chunks.
func TestProgressAndCancel(t *testing.T) {
	big := new(gguf.Builder).Tensor("t", compute.F16, make([]byte, 40<<20), 20<<20).Bytes()
	src := func() *medium { return &medium{data: big, size: int64(len(big))} }
	var seen []int64
	f, err := load(context.Background(), "big", src(), plenty, func(done, total int64) {
		seen = append(seen, done)
		if total != int64(len(big)) {
			t.Errorf("total %d, want %d", total, len(big))
		}
	})
	if want := []int64{chunkBytes, 2 * chunkBytes, int64(len(big))}; err != nil || !reflect.DeepEqual(seen, want) {
		t.Errorf("got progress %v, %v, want %v", seen, err, want)
	}
	if w, _, err := f.Tensor("t"); err != nil || w.Rows != 1 || w.Cols != 20<<20 {
		t.Errorf("got %d×%d, %v", w.Rows, w.Cols, err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	if f, err := load(ctx, "big", src(), plenty, func(int64, int64) { calls++; cancel() }); f != nil || !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("cancelled in the data: got %v after %d calls", err, calls)
	}
	if f, err := load(ctx, "big", src(), plenty, nil); f != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled from the start: got %v", err)
	}
}

// TestPiecesLieWhereTheyBelong: several goroutines read a chunk, so a piece could land in the wrong place, or its
// error be lost.
func TestPiecesLieWhereTheyBelong(t *testing.T) {
	file := make([]byte, chunkBytes+pieceBytes+5)
	for i := range len(file) / 4 {
		binary.LittleEndian.PutUint32(file[4*i:], uint32(i))
	}
	const offset = 3
	got := make([]byte, len(file)-offset)
	if err := ReadFull(context.Background(), bytes.NewReader(file), got, offset, nil); err != nil || !bytes.Equal(got, file[offset:]) {
		t.Errorf("error %v, the bytes are right: %v", err, bytes.Equal(got, file[offset:]))
	}
	cut := 2*pieceBytes + 7 // inside the third of four pieces
	err := ReadFull(context.Background(), bytes.NewReader(file[:cut]), got, 0, nil)
	if want := fmt.Sprintf("at byte %d: got 7 bytes, want %d", 2*pieceBytes, pieceBytes); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), want) {
		t.Errorf("a file cut in its third piece: %v, want %q", err, want)
	}
}

// TestCancelInHeader: reading a long header can be cancelled too.
func TestCancelInHeader(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	data := new(gguf.Builder).Set("a", make([]string, 100000)).Bytes()
	reads := 0
	_, err := parseHeader(ctx, "f", readerFunc(func(p []byte, at int64) (int, error) {
		reads++
		cancel()
		return bytes.NewReader(data).ReadAt(p, at)
	}), int64(len(data)))
	if !errors.Is(err, context.Canceled) || reads != 1 {
		t.Errorf("got %v after %d reads", err, reads)
	}
}

type readerFunc func(p []byte, at int64) (int, error)

func (f readerFunc) ReadAt(p []byte, at int64) (int, error) { return f(p, at) }

var _ io.ReaderAt = readerFunc(nil)

func TestRelease(t *testing.T) {
	const rows, cols = 64, 1024 // more than a page of data
	b := baseBuilder().Tensor("large", compute.F32, bytes.Repeat([]byte{1}, 4*rows*cols), cols, rows)
	opened, err := Open(context.Background(), write(t, b.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	before, _, err := opened.Tensor("norm.weight")
	if err != nil {
		t.Fatal(err)
	}
	norm := bytes.Clone(before.Data)
	opened.Release("large")
	opened.Release("large")
	opened.Release("no such tensor")
	if _, found, err := opened.Tensor("large"); !found || err == nil || !strings.Contains(err.Error(), `"large" were released`) {
		t.Errorf("got %v, %v for a tensor that was released", found, err)
	}
	if after, _, err := opened.Tensor("norm.weight"); err != nil || !bytes.Equal(after.Data, norm) {
		t.Errorf("another tensor changed: %v", err)
	}
	data := b.Bytes()
	parsed, err := Parse("borrowed", data)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Release("large")
	if w, _, err := parsed.Tensor("large"); err != nil || w.Data[len(w.Data)-1] != 1 {
		t.Errorf("borrowed data were given back: %v", err)
	}
}

// A file of another format is recognised by its first bytes, and is not called a broken GGUF file.
func TestOtherFormatsAreRecognised(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"model.safetensors", "\x40\x00\x00\x00\x00\x00\x00\x00{\"a\":1}", "it is a safetensors file: give a GGUF file, or the folder"},
		{"model.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:12", "git lfs pull"},
		{"model.gguf", "<!DOCTYPE html><html>", "a web page"},
		{"config.json", "{\"model_type\": \"llama\"}", "a JSON text"},
		{"pytorch_model.bin", "PK\x03\x04\x00\x00", "a zip archive"},
		{"ggml-model.bin", "tjgg\x03\x00\x00\x00", "the format before GGUF"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func() (*File, error){
			func() (*File, error) { return OpenHeader(t.Context(), path) },
			func() (*File, error) { return Open(t.Context(), path, nil) },
			func() (*File, error) { return Parse(path, []byte(c.content)) },
		} {
			_, err := open()
			if !errors.As(err, new(*ForeignError)) || errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s: error %v, want one that says %q", c.name, err, c.want)
				continue
			}
			checkMessage(t, err)
		}
	}
}
