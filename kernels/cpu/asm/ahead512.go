package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	// prefetchBytes is how far ahead of its use a panel is asked for, so that memory is read while the rows are computed.
	prefetchBytes = 8192
	// With at most nearRows the processor foresees the most by itself, and to ask for what lies further ahead than this only gets into its way.
	prefetchNearBytes, nearRows = 2560, 2
	// rowLines are prefetched with each of few rows. They are as many as rowScale records have bytes.
	rowLines, rowScale = 3, 4
	// spreadRows is the number of rows from which on rowLines with each are enough.
	spreadRows = 4
)

// ahead512 asks for a tile that lies ahead while one is computed, a piece at a time: there is room for so many lines on their way, and what finds
// none delays the rest.
type ahead512 interface {
	before()             // the tile is read
	row(px reg.Register) // of activations, before the products with it
	behind()             // the last row
}

// inHalves asks before the tile and behind it.
type inHalves struct {
	p        *product512
	distance reg.Register // in bytes; nil for one row
}

// byNumber is inHalves with the distance for the number of rows.
func byNumber(p *product512) *inHalves {
	distance := p.GP64()
	p.MOVQ(U32(prefetchNearBytes), distance)
	p.CMPQ(p.m, Imm(nearRows))
	p.JLE(LabelRef("near"))
	p.MOVQ(U32(prefetchBytes), distance)
	p.Label("near")
	return &inHalves{p, distance}
}

func (h *inHalves) half() int        { return (h.p.tileBytes()/2 + 63) / 64 * 64 }
func (h *inHalves) before()          { h.ask(0, h.half()) }
func (h *inHalves) row(reg.Register) {}
func (h *inHalves) behind()          { h.ask(h.half(), h.p.tileBytes()) }

func (h *inHalves) ask(from, to int) {
	for line := from; line < to; line += 64 {
		if h.distance == nil {
			h.p.PREFETCHT0(at(h.p.w, prefetchNearBytes+line))
		} else {
			h.p.PREFETCHT0(Mem{Base: h.p.w, Index: h.distance, Scale: 1, Disp: line})
		}
	}
}

// withRows asks with each row, and before the tile for what is more than spreadRows ask for. More rows than that ask for what lies behind, too.
type withRows struct {
	p    *product512
	next reg.Register // what a row asks for, without rowScale times the place of its record
}

// first is how many lines are asked for before the tile.
func (w *withRows) first() int { return max(0, (w.p.tileBytes()+63)/64-spreadRows*rowLines) }

func (w *withRows) before() {
	p := w.p
	p.MOVQ(p.x, w.next)
	p.NEGQ(w.next)
	p.LEAQ(Mem{Base: p.w, Index: w.next, Scale: rowScale, Disp: prefetchBytes + 64*w.first()}, w.next)
	for line := range w.first() {
		p.PREFETCHT0(at(p.w, prefetchBytes+64*line))
	}
}

func (w *withRows) row(px reg.Register) {
	for line := range rowLines {
		w.p.PREFETCHT0(Mem{Base: w.next, Index: px, Scale: rowScale, Disp: 64 * line})
	}
}

func (w *withRows) behind() {}
