package sim

import "fmt"

// history is what is known of one byte of shared memory. Accesses are ordered by barriers, which end an epoch of the block, and
// among the lanes of one warp also by bar.warp.sync, which the warp's clock counts.
type history struct {
	writeEpoch, readEpoch, copyEpoch uint32 // 0: never
	writeClock, readClock            uint32 // of the thread's warp
	writer, reader                   int16  // threads; see below for reader
	atomic                           bool   // the last write was atomic
}

// reader is a thread, or that there are several of one warp or of several warps.
const (
	severalWarps int16 = -1
	severalLanes int16 = -2 // minus the warp's number
)

// use is how an access touches memory.
type use byte

const (
	reading use = iota
	writing
	updating // atomically
)

// touch records an access of shared memory and reports what is not ordered by a barrier.
func (b *block) touch(w *warp, lane, offset, n int, how use) error {
	thread := int16(w.first + lane)
	for i := offset; i < offset+n; i++ {
		h := &b.history[i]
		if h.copyEpoch >= b.firstEpoch {
			return fmt.Errorf("thread %d uses %s while an asynchronous copy into it is under way", thread, b.describe(i))
		}
		if how != writing && h.writeEpoch < b.firstEpoch {
			return fmt.Errorf("thread %d reads %s, which nobody has written", thread, b.describe(i))
		}
		if h.writeEpoch == b.epoch && h.writer != thread && !(how == updating && h.atomic) && !w.ordered(b, int(h.writer), h.writeClock, lane) {
			return fmt.Errorf("race: thread %d wrote %s and thread %d %s it without a barrier between", h.writer, b.describe(i), thread, how)
		}
		if how == reading {
			b.noteRead(w, h, thread)
			continue
		}
		if h.readEpoch == b.epoch && h.reader != thread && !w.readsOrdered(b, h, lane) {
			return fmt.Errorf("race: %s was read by %s and thread %d %s it without a barrier between", b.describe(i), readers(h.reader), thread, how)
		}
		h.writeEpoch, h.writeClock, h.writer, h.atomic = b.epoch, w.clock, thread, how == updating
	}
	return nil
}

func (u use) String() string { return [...]string{"reads", "writes", "updates"}[u] }

func readers(reader int16) string {
	switch {
	case reader >= 0:
		return fmt.Sprintf("thread %d", reader)
	case reader == severalWarps:
		return "several warps"
	}
	return fmt.Sprintf("several threads of warp %d", severalLanes-reader)
}

// noteRead remembers a read. Reads that a bar.warp.sync orders before it need not be remembered any longer: what is ordered behind
// this one is ordered behind them.
func (b *block) noteRead(w *warp, h *history, thread int16) {
	if h.readEpoch != b.epoch || w.readsOrdered(b, h, int(thread)-w.first) {
		h.readEpoch, h.reader, h.readClock = b.epoch, thread, w.clock
		return
	}
	number := thread / 32
	switch {
	case h.reader == severalWarps:
	case h.reader == thread || h.reader == severalLanes-number:
	case h.reader >= 0 && h.reader/32 == number:
		h.reader = severalLanes - number
	default:
		h.reader = severalWarps
	}
	h.readClock = w.clock
}

// ordered reports whether a bar.warp.sync lies between what other did at the warp's clock and what lane does now.
func (w *warp) ordered(b *block, other int, clock uint32, lane int) bool {
	if other/32 != w.first/32 {
		return false
	}
	return w.synced[other%32][lane] > clock
}

func (w *warp) readsOrdered(b *block, h *history, lane int) bool {
	switch {
	case h.reader >= 0:
		return w.ordered(b, int(h.reader), h.readClock, lane)
	case h.reader == severalWarps || int(severalLanes-h.reader) != w.first/32:
		return false
	}
	for l := range w.count {
		if l != lane && w.synced[l][lane] <= h.readClock {
			return false
		}
	}
	return true
}

// synchronise makes what the lanes did so far visible to each other.
func (w *warp) synchronise(lanes uint32) {
	w.clock++
	for l := range 32 {
		if lanes>>l&1 == 0 {
			continue
		}
		for m := range 32 {
			if lanes>>m&1 != 0 {
				w.synced[l][m] = w.clock
			}
		}
	}
}
