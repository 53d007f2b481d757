package weights

import (
	"context"
	"fmt"
	"io"

	"specula/engine/compute"
)

// WithFile opens a regular file and calls use. Afterwards it checks that nothing wrote to the file in the
// meantime. The error comes from use, wraps ErrChanged, or says why the file cannot be opened.
func WithFile(path string, use func(src io.ReaderAt, size int64) error) error {
	_, err := openRegular(path, func(src source) (*File, error) {
		before, err := src.Stat()
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", path, err)
		}
		if err := use(src, before.Size()); err != nil {
			return nil, err
		}
		after, err := src.Stat()
		if err == nil && (after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())) {
			err = fmt.Errorf("%d bytes became %d: %w", before.Size(), after.Size(), ErrChanged)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", path, err)
		}
		return nil, nil
	})
	return err
}

// ReadFile reads a regular file of another format into memory, for the readers of such formats. It
// calls accept before it allocates memory for the file: accept refuses a file that breaks the rules of
// its format, and ReadFile returns that error. ReadFile tells progress, which may be nil, again and
// again how many bytes are read.
//
// The error wraps ErrChanged if something writes to the file. It wraps compute.ErrOutOfMemory if the
// file does not fit into memory; nothing was allocated then. It may also be the context's error.
func ReadFile(ctx context.Context, path string, accept func(src io.ReaderAt, size int64) error, progress func(done, total int64)) (data []byte, err error) {
	err = WithFile(path, func(src io.ReaderAt, size int64) error {
		if err := accept(src, size); err != nil {
			return err
		}
		if free, known := availableMemory(); known && size > free {
			return fmt.Errorf("reading %q: it takes %d bytes of memory, %d are free: %w", path, size, free, compute.ErrOutOfMemory)
		}
		data, err = readAll(ctx, path, src, size, progress)
		return err
	})
	return data, err
}
