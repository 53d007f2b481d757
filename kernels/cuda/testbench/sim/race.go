package sim

import "fmt"

// history records the last accesses to one grain of shared memory. A grain has as many bytes as the
// smallest access of the kernel, so that every access covers whole grains. Barriers order accesses;
// the time between two barriers is an epoch. Among the lanes of one warp, bar.warp.sync orders
// accesses, too; the warp's clock counts these instructions.
type history struct {
	writeEpoch, readEpoch, copyEpoch uint32 // 0: never
	writeClock, readClock            uint32 // the clock of the thread's warp at these accesses
	writer, reader                   int16  // thread numbers; for a reader below 0 see severalWarps
	wrote                            use    // how the last write was done
}

// A reader below 0 stands for several threads, of several warps or of one warp.
const (
	severalWarps int16 = -1
	severalLanes int16 = -2 // of warp 0; severalLanes − n stands for several threads of warp n
)

// use is how an access touches memory.
type use byte

const (
	reading use = iota
	writing
	updating    // atomically
	readingOnly // by ld.global.nc
)

// touch records an access to shared memory. It returns an error if no barrier lies between the access
// and a conflicting one, if the access reads bytes that were never written, or if an asynchronous copy
// into these bytes is under way.
func (b *block) touch(w *warp, lane, offset, n int, how use) error {
	list := b.grains(offset, n)
	for i := range list {
		if err := b.touchGrain(w, &list[i], lane, offset+i<<b.kernel.grain, how); err != nil {
			return err
		}
	}
	return nil
}

// grains are the histories of n bytes.
func (b *block) grains(offset, n int) []history {
	return b.history[offset>>b.kernel.grain : (offset+n)>>b.kernel.grain]
}

func (b *block) touchGrain(w *warp, h *history, lane, at int, how use) error {
	thread := int16(w.first + lane)
	if h.copyEpoch >= b.firstEpoch {
		return fmt.Errorf("thread %d uses %s while an asynchronous copy into it is under way", thread,
			b.describe(at))
	}
	if how != writing && h.writeEpoch < b.firstEpoch {
		return fmt.Errorf("thread %d reads %s, which nobody has written yet", thread, b.describe(at))
	}
	if h.writeEpoch == b.epoch && h.writer != thread && !(how == updating && h.wrote == updating) &&
		!w.ordered(int(h.writer), h.writeClock, lane) {
		return fmt.Errorf("race: thread %d wrote %s and thread %d %s it without a barrier between",
			h.writer, b.describe(at), thread, how)
	}
	if how == reading {
		b.noteRead(w, h, thread)
		return nil
	}
	if h.readEpoch == b.epoch && h.reader != thread && !w.readsOrdered(h, lane) {
		return fmt.Errorf("race: %s was read by %s and thread %d %s it without a barrier between",
			b.describe(at), readers(h.reader), thread, how)
	}
	h.writeEpoch, h.writeClock, h.writer, h.wrote = b.epoch, w.clock, thread, how
	return nil
}

func (u use) String() string { return [...]string{"reads", "writes", "updates", "reads"}[u] }

func readers(reader int16) string {
	switch {
	case reader >= 0:
		return fmt.Sprintf("thread %d", reader)
	case reader == severalWarps:
		return "several warps"
	}
	return fmt.Sprintf("several threads of warp %d", severalLanes-reader)
}

// noteRead records a read. If barriers order all recorded reads before the new one, the new one replaces
// them: whatever comes after the new read also comes after the old ones.
func (b *block) noteRead(w *warp, h *history, thread int16) {
	if h.readEpoch != b.epoch || w.readsOrdered(h, int(thread)-w.first) {
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

// ordered reports whether a bar.warp.sync lies between an access of thread other, made at this clock of
// the warp, and the access that lane makes now.
func (w *warp) ordered(other int, clock uint32, lane int) bool {
	if other/32 != w.first/32 {
		return false
	}
	return w.synced[other%32][lane] > clock
}

func (w *warp) readsOrdered(h *history, lane int) bool {
	switch {
	case w.clock <= h.readClock: // no barrier since
		return false
	case h.reader >= 0:
		return w.ordered(int(h.reader), h.readClock, lane)
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

// synchronise records a bar.warp.sync of the lanes: it orders their earlier accesses before later ones.
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
