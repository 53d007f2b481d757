package weights

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"specula/engine/compute"
)

// source is what reading needs of an open file.
type source interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// Open reads the model file at path into memory and checks it. It tells progress, which may be nil,
// again and again how many bytes of the total are read.
//
// The error is a ForeignError for a file of another format. It wraps ErrMalformed if the file breaks
// the format, and ErrChanged if something writes to the file. It wraps compute.ErrOutOfMemory if the
// file does not fit into memory; nothing was allocated then. It may also be the context's error.
//
// A path of the form NAME-0000K-of-0000N.gguf names part K of a model in N files. Open then reads
// all N parts.
func Open(ctx context.Context, path string, progress func(done, total int64)) (*File, error) {
	paths, err := partPaths(path)
	switch {
	case err != nil:
		return nil, err
	case paths != nil:
		return readParts(ctx, paths, progress)
	}
	return openWhole(ctx, path, progress)
}

// openWhole is Open for a file that has all of a model, or for one part.
func openWhole(ctx context.Context, path string, progress func(done, total int64)) (*File, error) {
	return openRegular(path, func(src source) (*File, error) {
		return load(ctx, path, src, availableMemory, progress)
	})
}

// OpenHeader reads and checks only the header, so it can describe a file of any size. Tensor then
// fails for every tensor of the file.
func OpenHeader(ctx context.Context, path string) (*File, error) {
	paths, err := partPaths(path)
	switch {
	case err != nil:
		return nil, err
	case paths != nil:
		return openParts(paths, func(path string) (*File, error) { return openHeader(ctx, path) })
	}
	return openHeader(ctx, path)
}

func openHeader(ctx context.Context, path string) (*File, error) {
	return openRegular(path, func(src source) (*File, error) {
		return loadHeader(ctx, path, src)
	})
}

// Parse checks a model file that is in memory. The File borrows data, which must not be written any
// more. The error wraps ErrMalformed or is a ForeignError.
func Parse(name string, data []byte) (*File, error) {
	return parse(context.Background(), name, data, int64(len(data)))
}

// openRegular opens path if it is a regular file. It checks before opening, because opening a named
// pipe would wait for a writer. It checks again afterwards, because path may name another file by
// then.
func openRegular(path string, read func(source) (*File, error)) (*File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("opening a model file: %w; is the path right, seen from the current folder?", err)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a model file: %w", err)
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening a model file: %w", err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening a model file: %w", err)
	}
	if err := regular(path, opened); err != nil {
		return nil, err
	}
	return read(f)
}

func regular(path string, info fs.FileInfo) error {
	if mode := info.Mode(); !mode.IsRegular() {
		return fmt.Errorf("opening a model file: %q is %s, allowed are regular files", path, kindOf(mode))
	}
	return nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// load is Open for an open file. memory returns the free memory in bytes, and whether it is known.
func load(ctx context.Context, name string, src source, memory func() (int64, bool), progress func(done, total int64)) (*File, error) {
	return read(ctx, name, src, func(h header) (int64, error) {
		if free, known := memory(); known && h.end > free {
			return 0, fmt.Errorf("reading %q: header and tensors take %d bytes of memory, %d are free; choose a smaller model: %w",
				name, h.end, free, compute.ErrOutOfMemory)
		}
		return h.end, nil
	}, progress)
}

// loadHeader is OpenHeader for an open file.
func loadHeader(ctx context.Context, name string, src source) (*File, error) {
	return read(ctx, name, src, func(h header) (int64, error) { return h.bytes, nil }, nil)
}

// read checks the header on disk, reads into memory as many bytes as span says, and parses them there.
// The error wraps ErrChanged if the file changed in between.
func read(ctx context.Context, name string, src source, span func(header) (int64, error), progress func(done, total int64)) (f *File, err error) {
	defer fence(name, &err)
	before, err := src.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	h, err := parseHeader(ctx, name, src, before.Size())
	if err != nil {
		return nil, err
	}
	n, err := span(h)
	if err != nil {
		return nil, err
	}
	data, err := readAll(ctx, name, src, n, progress)
	if err != nil {
		return nil, err
	}
	after, err := src.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return nil, fmt.Errorf("reading %q: got %d bytes of %v, had %d bytes of %v: %w",
			name, after.Size(), after.ModTime(), before.Size(), before.ModTime(), ErrChanged)
	}
	f, err = parse(ctx, name, data, before.Size())
	if err != nil {
		return nil, err
	}
	f.owned = true
	return f, nil
}

// readAll reads the first n bytes of a file whose header is valid.
func readAll(ctx context.Context, name string, src io.ReaderAt, n int64, progress func(done, total int64)) ([]byte, error) {
	data := make([]byte, n)
	inLargePages(data)
	var tell func(done int64)
	if progress != nil {
		tell = func(done int64) { progress(done, n) }
	}
	if err := ReadFull(ctx, src, data, 0, tell); err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	return data, nil
}

// parse indexes a file of size bytes. data holds its start: at least the header.
func parse(ctx context.Context, name string, data []byte, size int64) (f *File, err error) {
	defer fence(name, &err)
	h, err := parseHeader(ctx, name, bytes.NewReader(data), size)
	if err != nil {
		return nil, err
	}
	f = &File{name: name, size: size, header: h, data: data, released: make([]atomic.Bool, len(h.tensors))}
	if err := f.index(); err != nil {
		return nil, err
	}
	return f, nil
}

// errFault marks a panic of the reader, to distinguish it from errors about files.
var errFault = errors.New("the reader failed, which is a fault of the program")

// fence turns a panic into an error. No file is known to cause a panic; this is a second safeguard.
func fence(name string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("reading %q: %w: %v: %w", name, errFault, p, ErrMalformed)
	}
}
