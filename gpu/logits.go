package gpu

import (
	"encoding/binary"
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// logits are scores that lie in a buffer on the device.
type logits struct {
	owner      *Backend
	x          *buffer
	rows       int
	movedBytes int64
	syncs      int

	peaks driver.Pointer // (MaxRows, slices) scratch of choosing
	best  driver.Pointer // (MaxRows) ids
	cuts  driver.Pointer // (MaxRows) keys; 0 until filters ask for them
	p     weighing       // (MaxRows, vocab); empty until a round is sampled
	from  int            // rows from here on are in the host's memory; rows: none
	host  []float32      // (MaxRows, vocab)
}

// sliceTokens of a row are looked at by one warp, see kernels/cuda/src/rank.h.
const sliceTokens = 1024

// Logits hands the pass to the device and begins a new count of bytes.
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
	b.flush()
	return l, nil
}

// open reserves what choosing needs, once.
func (l *logits) open(b *Backend, x *buffer) error {
	if l.owner != nil {
		return nil
	}
	slices := ceilDivide(x.cols, sliceTokens)
	peaks, err := b.alloc("choosing tokens", int64(8*x.rows*slices))
	if err != nil {
		return err
	}
	best, err := b.alloc("chosen tokens", int64(4*x.rows))
	if err != nil {
		return err
	}
	*l = logits{owner: b, x: x, peaks: peaks, best: best}
	return nil
}

func (l *logits) Rows() int  { return l.rows }
func (l *logits) Vocab() int { return l.x.cols }

// choose makes the steps that write the best ids of m rows of x to ids, −1 for a row whose scores are not finite, and a token in any
// case to feed, which may be 0.
func (l *logits) choose(m int, ids, feed driver.Pointer) (steps [2]step, err error) {
	const warps = 8
	slices := ceilDivide(l.x.cols, sliceTokens)
	steps[0], err = l.owner.step("peak_rows", driver.Shape{Grid: [3]int{ceilDivide(slices, warps), m}, Block: [3]int{32 * warps}},
		address(l.x.memory), address(l.peaks), whole(l.x.cols))
	if err == nil {
		steps[1], err = l.owner.step("argmax_rows", driver.Shape{Grid: [3]int{m}, Block: [3]int{32}},
			address(l.peaks), address(ids), address(feed), whole(l.x.cols))
	}
	return steps, err
}

// Argmax chooses on the device: 4 bytes a row come to the host.
func (l *logits) Argmax(dst []int32) error {
	require(len(dst) == l.rows, "Argmax to another number of rows")
	steps, err := l.choose(l.rows, l.best, 0)
	if err != nil {
		return err
	}
	err = l.counted(func() error {
		for i := range steps {
			if err := l.owner.run(&steps[i]); err != nil {
				return err
			}
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

// Row copies a row. The first row asked for brings all behind it along, so that a round waits for the device once.
func (l *logits) Row(i int, dst []float32) error {
	require(0 <= i && i < l.rows && len(dst) == l.x.cols, "Row outside the pass, or to another width")
	if i < l.from {
		if l.host == nil {
			l.host = make([]float32, l.x.rows*l.x.cols)
		}
		numbers := (l.from - i) * l.x.cols
		err := l.counted(func() error {
			return l.owner.fetch(4*numbers, l.x.row(i), func(memory []byte) { toFloats(l.host[i*l.x.cols:][:numbers], memory) })
		})
		if err != nil {
			return fmt.Errorf("reading scores: %w", err)
		}
		l.from = i
	}
	copy(dst, l.host[i*l.x.cols:])
	return nil
}

// counted runs f on the device's thread and adds what came to the host, and the waits, to the logits' count.
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

// fetch copies from the device behind all that was queued, and waits. It runs on the device's thread; read gets what came.
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
	read(b.arrivals[:bytes])
	return nil
}

func toIDs(dst []int32, memory []byte) {
	for i := range dst {
		dst[i] = int32(binary.LittleEndian.Uint32(memory[4*i:]))
	}
}
