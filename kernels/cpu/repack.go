package cpu

import (
	"encoding/binary"
	"slices"

	"specula/kernels/format"
)

// Repack is the task that fills Panels from Src, which has the rows as in a file. Its items are the
// panels.
type Repack struct {
	Panels *Panels
	Src    []byte // (Rows, Cols/BlockElements) blocks
}

// Do repacks the panels from … to−1, one row after the other. Another order took longer: a few columns of
// all rows first, so that these stay in the first-level cache.
func (t *Repack) Do(from, to int) {
	w, f := t.Panels, t.Panels.Format
	rowBytes := w.Cols / f.BlockElements * f.BlockBytes
	for r := from * panelRows; r < min(to*panelRows, w.Rows); r++ {
		panel, row := w.panel(r/panelRows), t.Src[r*rowBytes:(r+1)*rowBytes]
		if f.Type == format.Q8_0 {
			repackQ8_0(panel, row, r%panelRows)
			continue
		}
		f.repackRow(panel, row, r%panelRows)
	}
	t.clearBeyond(to)
}

// repackRow stores a row of the file in the row's lane of a panel. If the bits of the quants lie in
// planes, it moves these bits without making quants of them first: panels store the same planes in
// another order.
func (f Format) repackRow(panel, row []byte, lane int) {
	var s format.Share
	to, inPlanes := f.laneOf(lane), f.InPlanes()
	at, super, headBytes, tileBytes := 0, f.Super(), f.HeadBytes(), f.TileBytes()
	for block := range slices.Chunk(row, f.BlockBytes) {
		head := panel[at:]
		if super {
			at += headBytes
		}
		for i := range f.BlockElements / Block {
			tile := panel[at : at+tileBytes]
			if !super {
				head = tile
			}
			if inPlanes {
				f.ReadScales(&s, block, i)
				to.putScales(head, tile, &s)
				if to.highBits > 0 {
					putBits(tile[to.highAt:], to.highBits, f.High.Read(block, i))
				}
				putBits(tile[to.lowAt:], to.lowBits, f.Low.Read(block, i))
			} else {
				f.Read(&s, block, i)
				to.put(head, tile, &s)
			}
			at += tileBytes
		}
	}
}

// repackQ8_0 is repackRow for Q8_0. It is faster, because a quant of Q8_0 is one whole byte.
func repackQ8_0(panel, row []byte, lane int) {
	const tileBytes = 2*panelRows + Block*panelRows
	le := binary.LittleEndian
	for len(row) > 0 {
		block, tile := (*[34]byte)(row), (*[tileBytes]byte)(panel)
		le.PutUint16(tile[2*lane:], le.Uint16(block[:]))
		for g := range groups {
			le.PutUint32(tile[2*panelRows+4*(panelRows*g+lane):], le.Uint32(block[2+4*g:])^0x80808080)
		}
		row, panel = row[len(block):], panel[tileBytes:]
	}
}

// clearBeyond makes the missing rows of the last panel zeros, if that is panel to−1: their scales, minima
// and factors are 0. Each quant is the bias, which stands for 0 in formats without a table of values.
func (t *Repack) clearBeyond(to int) {
	w := t.Panels
	if to < w.Items() || w.Rows%panelRows == 0 {
		return
	}
	var zero format.Share
	for k := range zero.Quants {
		zero.Quants[k] = uint8(w.Format.Bias)
	}
	for row := w.Rows % panelRows; row < panelRows; row++ {
		lane, panel := w.Format.laneOf(row), w.panel(to-1)
		for tile := range w.Cols / Block {
			at, head := w.Format.tileAt(tile)
			lane.put(panel[head:], panel[at:], &zero)
		}
	}
}

// laneOffsets say where the part of a tile that belongs to one row lies: the scale and the minimum in the head,
// which has the 16-bit numbers, the rest in the tile. tileAt says where head and tile begin. In formats
// without super-blocks both begin at the same byte.
type laneOffsets struct {
	scaleAt, minAt    int // minAt is 0 if there is neither a minimum nor a second scale
	factorAt          [2]int
	factors           int // how many of factorAt are used
	highAt, lowAt     int // where the upper and the lower bits of the quants begin
	highBits, lowBits int // of a quant
}

// laneOf returns the offsets for a row, counted from the first row of its panel.
func (f Format) laneOf(row int) (l laneOffsets) {
	l.scaleAt = 2 * row
	if f.HeadBytes() > 2*panelRows {
		l.minAt = 2*panelRows + 2*row
	}
	if l.factorAt = [2]int{row, panelRows + row}; f.Super() {
		l.factors = 2
		if f.OneFactor() {
			l.factors = 1
		}
	}
	l.highAt = f.ScaleBytes() + 4*row
	l.lowAt = l.highAt + f.HighBytes()
	l.highBits, l.lowBits = f.High.Bits, f.Low.Bits
	return l
}

// put stores s in the lane.
func (l *laneOffsets) put(head, tile []byte, s *format.Share) {
	l.putScales(head, tile, s)
	putBits(tile[l.highAt:], l.highBits, s.Words(l.lowBits, l.highBits))
	putBits(tile[l.lowAt:], l.lowBits, s.Words(0, l.lowBits))
}

// putScales is put without the quants.
func (l *laneOffsets) putScales(head, tile []byte, s *format.Share) {
	binary.LittleEndian.PutUint16(head[l.scaleAt:], s.Scale)
	if l.minAt > 0 {
		binary.LittleEndian.PutUint16(head[l.minAt:], s.Min)
	}
	if l.factors > 0 {
		tile[l.factorAt[0]] = s.Factors[0]
	}
	if l.factors > 1 {
		tile[l.factorAt[1]] = s.Factors[1]
	}
}

// putBits stores some bits of a tile's quants, given as the lowest bits of the bytes of w. A word of w has
// two neighbouring groups; layout.Place says which groups share a vector, and how.
func putBits(vectors []byte, bits int, w format.Words) {
	le := binary.LittleEndian
	switch bits {
	case 1: // all groups in one vector
		all := w.A | w.B<<2 | w.C<<4 | w.D<<6
		le.PutUint32(vectors, uint32(all)|uint32(all>>32)<<1)
	case 2: // four neighbouring groups in a vector
		for v, four := range [2]uint64{w.A | w.B<<4, w.C | w.D<<4} {
			le.PutUint32(vectors[vectorBytes*v:], uint32(four)|uint32(four>>32)<<2)
		}
	case 4: // groups v and v+4 in vector v
		vectors = vectors[:3*vectorBytes+4]
		first, second := w.A|w.C<<4, w.B|w.D<<4
		le.PutUint32(vectors, uint32(first))
		le.PutUint32(vectors[vectorBytes:], uint32(first>>32))
		le.PutUint32(vectors[2*vectorBytes:], uint32(second))
		le.PutUint32(vectors[3*vectorBytes:], uint32(second>>32))
	case 8: // a group in each vector
		for i, both := range [4]uint64{w.A, w.B, w.C, w.D} {
			le.PutUint32(vectors[vectorBytes*2*i:], uint32(both))
			le.PutUint32(vectors[vectorBytes*(2*i+1):], uint32(both>>32))
		}
	}
}
