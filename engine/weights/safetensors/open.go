package safetensors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"specula/engine/weights"
)

// maxConfigBytes is the largest config.json that is read; published ones have a few kilobytes.
const maxConfigBytes = 1 << 20

// Open reads the file of heads at path, or in the folder at path, into memory. It also reads the
// config.json beside it if there is one. It tells progress, which may be nil, how many bytes are read.
//
// In a folder the file is model.safetensors, or the only one whose name ends in .safetensors. The
// error is one of weights.ReadFile, wraps weights.ErrMalformed if the file breaks the format, or is
// a weights.ForeignError for a GGUF file.
func Open(ctx context.Context, path string, progress func(done, total int64)) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("opening heads: %w", err)
	}
	folder := filepath.Dir(path)
	if info.IsDir() {
		folder = path
		if path, err = choose(path); err != nil {
			return nil, err
		}
	}
	data, err := weights.ReadFile(ctx, path, func(src io.ReaderAt, size int64) error { _, err := ReadHeader(path, src, size); return err }, progress)
	if err != nil {
		return nil, err
	}
	f, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(folder, "config.json")
	f.config, err = weights.ReadFile(ctx, config, func(_ io.ReaderAt, size int64) error {
		if size > maxConfigBytes {
			return fmt.Errorf("reading %q: it has %d bytes, allowed are %d: %w", config, size, maxConfigBytes, weights.ErrMalformed)
		}
		return nil
	}, nil)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return f, err
}

// choose finds the file of heads in a folder.
func choose(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", fmt.Errorf("opening heads: %w", err)
	}
	var found, pickled []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "model.safetensors":
			return filepath.Join(folder, name), nil
		case strings.HasSuffix(name, ".safetensors"):
			found = append(found, name)
		case strings.HasSuffix(name, ".bin"), strings.HasSuffix(name, ".pt"):
			pickled = append(pickled, name)
		}
	}
	switch {
	case len(found) == 1:
		return filepath.Join(folder, found[0]), nil
	case len(found) > 1:
		return "", fmt.Errorf("opening heads: the folder %q has %d files ending in .safetensors and none called model.safetensors: name the one file, and merge heads in several pieces first", folder, len(found))
	case len(pickled) > 0:
		return "", fmt.Errorf("opening heads: the folder %q has %.64q, a format that can run code, and no .safetensors: convert it, in Python: safetensors.torch.save_file(torch.load(%.64q, weights_only=True), \"model.safetensors\")", folder, pickled[0], pickled[0])
	}
	return "", fmt.Errorf("opening heads: the folder %q has no file whose name ends in .safetensors", folder)
}

// ReadHeader reads and checks the header of an open file, before memory is allocated for the rest.
// The File has no data: Tensor and Integers must not be called.
func ReadHeader(name string, src io.ReaderAt, size int64) (*File, error) {
	first := make([]byte, min(lengthBytes, size))
	if _, err := src.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	n, err := headerLength(name, first, size)
	if err != nil {
		return nil, err
	}
	header := make([]byte, n)
	if _, err := src.ReadAt(header, lengthBytes); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	f, err := parseHeader(name, header, size-lengthBytes-n)
	if err != nil {
		return nil, err
	}
	f.dataAt = lengthBytes + n
	return f, nil
}

// Parse checks a file that is in memory. The File borrows data, which must not be written any more.
// The error wraps weights.ErrMalformed or is a weights.ForeignError.
func Parse(name string, data []byte) (*File, error) {
	n, err := headerLength(name, data[:min(lengthBytes, len(data))], int64(len(data)))
	if err != nil {
		return nil, err
	}
	f, err := parseHeader(name, data[lengthBytes:lengthBytes+n], int64(len(data))-lengthBytes-n)
	if err != nil {
		return nil, err
	}
	f.data, f.dataAt = data[lengthBytes+n:], lengthBytes+n
	return f, nil
}

// WithConfig returns a copy of the file that has config as its config.json.
func (f *File) WithConfig(config []byte) *File {
	with := *f
	with.config = config
	return &with
}
