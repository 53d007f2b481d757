package weights

import (
	"context"
	"fmt"
	"sync/atomic"

	"specula/engine/compute"
)

// Assembly is a model in files of another format, laid out like one GGUF file. So everything after
// reading, from the checks of tensors to the report for people, is the same as for a GGUF file.
type Assembly struct {
	Name   string // path of the folder or file that the user gave
	Format string // such as "safetensors"
	Files  int    // files with weights
	Size   int64  // size of these files in bytes
	Header []byte // header of the GGUF file, from gguf.Builder
	Bytes  int64  // size of the GGUF file

	// Fill writes the data of a tensor; nil: only the header is wanted.
	Fill func(ctx context.Context, tensor string, data []byte) error
	// Called returns the name that a tensor or metadata key has in the original files, for errors.
	Called func(name string) string
}

// Assemble makes the File. After checking the header it allocates memory for the whole model, if there
// is enough, and fills the tensors in the order of the header. progress, which may be nil, gets the
// number of bytes done. Assemble returns the errors of Fill, and otherwise the same errors as Open.
func Assemble(ctx context.Context, a Assembly, progress func(done, total int64)) (f *File, err error) {
	defer fence(a.Name, &err)
	if f, err = parse(ctx, a.Name, a.Header, a.Bytes); err != nil {
		return nil, err
	}
	f.from = &a
	if a.Fill == nil {
		return f, nil
	}
	if free, known := availableMemory(); known && a.Bytes > free {
		return nil, fmt.Errorf("reading %q: vocabulary and tensors take %d bytes of memory, %d are free; choose a smaller model: %w",
			a.Name, a.Bytes, free, compute.ErrOutOfMemory)
	}
	f.data, f.owned = make([]byte, a.Bytes), true
	f.released = make([]atomic.Bool, len(f.header.tensors))
	inLargePages(f.data)
	copy(f.data, a.Header)
	for _, t := range f.header.tensors {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading %q: %w", a.Name, err)
		}
		if err := a.Fill(ctx, t.Name, f.data[t.offset:t.offset+t.bytes:t.offset+t.bytes]); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(t.offset+t.bytes, a.Bytes)
		}
	}
	return f, nil
}

// Called returns, in quotes, the name of a tensor or metadata key in the files that the model was read
// from.
func (f *File) Called(name string) string {
	if f.from != nil {
		if own := f.from.Called(name); own != "" {
			return quote(own)
		}
	}
	return quote(name)
}
