package weights

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
)

const (
	// chunkBytes is how many bytes are read between two checks of the context, or reports of progress.
	chunkBytes = 4 * pieceBytes
	// pieceBytes is how many bytes of a chunk one goroutine reads. To copy from the system's file cache
	// and to clear new memory takes a core's time, so several cores do it.
	pieceBytes = 4 << 20
)

// ReadFull fills data with the bytes of src from offset on. It tells progress, which may be nil, again and
// again how many bytes are read. The error wraps ErrChanged if src ends too early.
func ReadFull(ctx context.Context, src io.ReaderAt, data []byte, offset int64, progress func(done int64)) error {
	done := int64(0)
	for chunk := range slices.Chunk(data, chunkBytes) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := readChunk(src, chunk, offset+done); err != nil {
			return err
		}
		done += int64(len(chunk))
		if progress != nil {
			progress(done)
		}
	}
	return nil
}

// readChunk fills chunk with the bytes of src from offset on, all pieces at once. If several pieces fail, it
// returns the error of the one that comes first in the file.
func readChunk(src io.ReaderAt, chunk []byte, offset int64) error {
	errs := make([]error, (len(chunk)+pieceBytes-1)/pieceBytes)
	var all sync.WaitGroup
	for i := range errs {
		from, to := i*pieceBytes, min((i+1)*pieceBytes, len(chunk))
		all.Go(func() { errs[i] = readPiece(src, chunk[from:to], offset+int64(from)) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func readPiece(src io.ReaderAt, piece []byte, offset int64) error {
	got, err := src.ReadAt(piece, offset)
	if got == len(piece) {
		return nil // err may be io.EOF: the piece ends where the file ends
	}
	if err == nil || err == io.EOF {
		err = ErrChanged
	}
	return fmt.Errorf("at byte %d: got %d bytes, want %d: %w", offset, got, len(piece), err)
}
