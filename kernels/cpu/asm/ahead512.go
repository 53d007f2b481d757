package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	// prefetchBytes is how far ahead of its use a panel is prefetched, so that memory is read while
	// rows are computed.
	prefetchBytes = 8192
	// With at most nearRows rows, the processor prefetches most weights by itself. To prefetch
	// further ahead than prefetchNearBytes would only disturb it.
	prefetchNearBytes, nearRows = 2560, 2
	// rowLines is how many cache lines withRows prefetches for each row of activations: as many
	// bytes as rowScale records of activations have.
	rowLines, rowScale = 3, 4
	// spreadRows is the number of rows over which withRows spreads the prefetching of a tile. Lines
	// that exceed spreadRows·rowLines are prefetched before the tile.
	spreadRows = 4
)

// ahead512 prefetches a later tile while one is computed, a piece at a time. The processor can have
// only a certain number of requests under way; a request beyond this number delays all later ones.
type ahead512 interface {
	head()   // called before each super-block, whose head belongs to no tile
	before() // called for each tile, before its weights are unpacked
	// row is called for each tile and row of activations, before their products. The row's record is r
	// records after px.
	row(px reg.Register, r int)
	after() // called for each tile, when all rows of activations are multiplied
}

// inHalves prefetches a later tile: one half of its bytes before the current tile is computed, and the
// other half afterwards.
type inHalves struct {
	p        *product512
	distance reg.Register // in bytes; nil: prefetchNearBytes, for rows whose sums stay in registers
	near     bool         // prefetch into all caches: Prefetching.FillCaches of kernels/cpu
}

// byNumber returns an inHalves whose prefetch distance depends on the number of rows. It generates the code
// that chooses the distance when the kernel runs.
func byNumber(p *product512) *inHalves {
	distance := p.GP64()
	p.MOVQ(U32(prefetchNearBytes), distance)
	p.CMPQ(p.m, Imm(nearRows))
	p.JLE(LabelRef("near"))
	p.MOVQ(U32(prefetchBytes), distance)
	p.Label("near")
	return &inHalves{p: p, distance: distance}
}

func (h *inHalves) half() int             { return (h.p.tileBytes()/2 + 63) / 64 * 64 }
func (h *inHalves) head()                 { h.ask(0, h.p.headBytes()) }
func (h *inHalves) before()               { h.ask(0, h.half()) }
func (h *inHalves) row(reg.Register, int) {}
func (h *inHalves) after()                { h.ask(h.half(), h.p.tileBytes()) }

// ask prefetches the bytes from … to−1 of a later tile. For several rows, it uses the second-level
// cache, which can have more requests under way than the first. One or two rows whose sums stay in
// registers use the weights once: PREFETCHNTA keeps the weights from driving other data out of the caches.
// If near is true, the weights go into all caches.
func (h *inHalves) ask(from, to int) {
	for line := from; line < to; line += 64 {
		switch {
		case h.near:
			h.p.PREFETCHT0(at(h.p.w, prefetchNearBytes+line))
		case h.distance == nil:
			h.p.PREFETCHNTA(at(h.p.w, prefetchNearBytes+line))
		default:
			h.p.PREFETCHT1(Mem{Base: h.p.w, Index: h.distance, Scale: 1, Disp: line})
		}
	}
}

// withRows prefetches rowLines lines with each row. If spreadRows rows are not enough for the whole
// tile, it prefetches the rest before the tile. With more than spreadRows rows, it prefetches beyond
// the tile.
type withRows struct {
	p    *product512
	next reg.Register // a row prefetches at next + rowScale times the address of its record
	// second prefetches into the second-level cache, which can have more requests under way than the
	// first. The first is better if computing the rows takes longer than reading the weights.
	second bool
}

func (w *withRows) ask(m Mem) {
	if w.second {
		w.p.PREFETCHT1(m)
		return
	}
	w.p.PREFETCHT0(m)
}

// first returns how many lines are prefetched before the tile.
func (w *withRows) first() int { return max(0, (w.p.tileBytes()+63)/64-spreadRows*rowLines) }

func (w *withRows) head() {
	for line := 0; line < w.p.headBytes(); line += 64 {
		w.ask(at(w.p.w, prefetchBytes+line))
	}
}

func (w *withRows) before() {
	p := w.p
	p.MOVQ(p.x, w.next)
	p.NEGQ(w.next)
	p.LEAQ(Mem{Base: p.w, Index: w.next, Scale: rowScale, Disp: prefetchBytes + 64*w.first()}, w.next)
	for line := range w.first() {
		w.ask(at(p.w, prefetchBytes+64*line))
	}
}

func (w *withRows) row(px reg.Register, r int) {
	for line := range rowLines {
		w.ask(Mem{Base: w.next, Index: px, Scale: rowScale, Disp: rowScale*r*recordBytes + 64*line})
	}
}

func (w *withRows) after() {}
