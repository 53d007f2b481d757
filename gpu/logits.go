package gpu

import (
	"encoding/binary"
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// logits are the scores of a pass, in a buffer on the device.
type logits struct {
	owner      *Backend
	x          *buffer
	rows       int
	movedBytes int64 // bytes that came to the host since Logits
	syncs      int   // how often the host waited since Logits

	peaks   driver.Pointer // (MaxRows, slices) keys of 8 bytes: the best score of each slice, with its id
	rest    driver.Pointer // (restRows, slices) sums of 16 bytes: residuals of the verdict
	ranking driver.Pointer // rankingBytes, for rank
	best    driver.Pointer // (MaxRows) int32: the best id of each row
	cuts    driver.Pointer // (MaxRows) keys of 8 bytes, and cuda.CutBytes for each row; 0 until top-k or top-p is used
	cleared int            // Backend.failures when cuts were cleared
	p       weighing       // the target's distributions, (MaxRows, vocab); empty until a round is sampled
	from    int            // host has the rows from … rows−1
	host    []float32      // (MaxRows, vocab)
}

// Logits hands the pass to the device's thread and starts to count bytes and waits from zero.
func (b *Backend) Logits(x compute.Buffer, m int) (compute.Logits, error) {
	if err := b.usable(); err != nil {
		return nil, err
	}
	xb := rowsOf(x, 0, m)
	l := &xb.logits
	if err := l.open(b, xb); err != nil {
		return nil, err
	}
	l.rows, l.from, l.movedBytes, l.syncs = m, m, 0, 0
	b.tape.scores = xb.memory
	b.flush()
	return l, nil
}

// open reserves the memory that choosing and drawing tokens needs, once per buffer.
func (l *logits) open(b *Backend, x *buffer) error {
	if l.owner != nil {
		return nil
	}
	slices := slicesOf(x.cols)
	forPeaks, forRest := 8*x.rows*slices, 16*restRows(x.rows)*slices
	peaks, err := b.alloc("choosing tokens", int64(forPeaks+forRest)+rankingBytes(x.rows, x.cols))
	if err != nil {
		return err
	}
	best, err := b.alloc("chosen tokens", int64(4*x.rows))
	if err != nil {
		return err
	}
	*l = logits{owner: b, x: x, peaks: peaks, rest: peaks + driver.Pointer(forPeaks), ranking: peaks + driver.Pointer(forPeaks+forRest), best: best}
	return nil
}

func (l *logits) Rows() int  { return l.rows }
func (l *logits) Vocab() int { return l.x.cols }

// choose returns the operations that write the best id of each of m rows of scores to ids and, if feed is not 0,
// also to feed, where the next pass reads it.
func (l *logits) choose(scores driver.Pointer, m int, ids, feed driver.Pointer) []operation {
	return []operation{
		findPeaks{scores, l.peaks, m, l.x.cols},
		chooseBest{l.peaks, ids, feed, m, l.x.cols},
	}
}

// Argmax chooses the best id of each row on the device. 4 bytes per row come to the host.
func (l *logits) Argmax(dst []int32) error {
	require(len(dst) == l.rows, "Argmax to another number of rows")
	steps, err := l.owner.lower(nil, l.choose(l.x.memory, l.rows, l.best, 0)...)
	if err != nil {
		return err
	}
	err = l.counted(func() error {
		if err := l.owner.runAll(steps); err != nil {
			return err
		}
		return l.owner.fetch(4*len(dst), l.best, func(memory []byte) { toIDs(dst, memory) })
	})
	if err != nil {
		return fmt.Errorf("choosing the best tokens: %w", err)
	}
	for i, id := range dst {
		if id < 0 {
			return fmt.Errorf("choosing the best token of row %d: %w", i, compute.ErrNotFinite)
		}
	}
	return nil
}

// Row copies row i to dst. If row i is not on the host yet, Row fetches it in one transfer with the later rows
// that are not there either. So a round that reads its rows in order waits for the device once.
func (l *logits) Row(i int, dst []float32) error {
	require(0 <= i && i < l.rows && len(dst) == l.x.cols, "Row outside the pass, or to another width")
	if i < l.from {
		if l.host == nil {
			l.host = make([]float32, l.x.rows*l.x.cols)
		}
		numbers := (l.from - i) * l.x.cols
		err := l.counted(func() error {
			return l.owner.fetch(4*numbers, l.x.row(i),
				func(memory []byte) { toFloats(l.host[i*l.x.cols:][:numbers], memory) })
		})
		if err != nil {
			return fmt.Errorf("reading scores: %w", err)
		}
		l.from = i
	}
	copy(dst, l.host[i*l.x.cols:])
	return nil
}

// counted runs f on the device's thread. It counts in l the bytes that f brought to the host, and how
// often f waited.
func (l *logits) counted(f func() error) error {
	return l.owner.onDevice(func() error {
		before := l.owner.device.Traffic()
		err := f()
		t := l.owner.device.Traffic().Minus(before)
		l.movedBytes += t.DownBytes
		l.syncs += t.Waits
		return err
	})
}

func (l *logits) Moved() (bytes int64, syncs int) { return l.movedBytes, l.syncs }

// fetch copies bytes from the device after all queued work, waits, and calls read with them. Call it
// on the device's thread.
func (b *Backend) fetch(bytes int, from driver.Pointer, read func(memory []byte)) error {
	if len(b.arrivals) < bytes {
		if b.arrivals != nil {
			if err := b.device.FreeHost(b.arrivals); err != nil {
				return err
			}
			b.arrivals = nil
		}
		memory, err := b.device.AllocHost(bytes)
		if err != nil {
			return err
		}
		b.arrivals = memory
	}
	if err := b.device.DownloadAsync(b.stream, b.arrivals[:bytes], from); err != nil {
		return err
	}
	if err := b.device.Wait(b.stream); err != nil {
		return err
	}
	b.inputs.waited()
	b.uploads.waited()
	read(b.arrivals[:bytes])
	return nil
}

func toIDs(dst []int32, memory []byte) {
	for i := range dst {
		dst[i] = int32(binary.LittleEndian.Uint32(memory[4*i:]))
	}
}
