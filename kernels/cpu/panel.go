package cpu

import (
	"encoding/binary"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

const (
	// Block is the number of weights that share a scale. It is the same for activations.
	Block         = layout.Columns
	panelRows     = layout.Rows
	tilesPerSuper = layout.TilesPerSuper
	groups        = layout.Groups
	vectorBytes   = layout.VectorBytes
)

// Panels are quantised weights (Rows, Cols), repacked so that each weight row has its own vector
// lane.
//
// A panel holds 32 rows as a sequence of tiles of 32 columns. A tile consists of: the scales of the
// 32 rows in half precision and, if the format has them, the minima; then the upper bits of the
// quants; then the quants. Four neighbouring columns of a row form a lane of four bytes, 32 lanes
// form a vector, and 8 vectors form the tile. If the lower part of a quant has four bits, vector v
// has columns 4v … 4v+3 in its low nibbles and columns 4v+16 … 4v+19 in its high nibbles. In
// formats with super-blocks, d and min come before eight tiles, and a tile begins with its two
// integer scales.
//
// Rows after the last are zeros. Repacking changes no number. For Q8_0 it also does not change the
// size, apart from those rows.
type Panels struct {
	Format Format
	Rows   int
	Cols   int
	data   []byte // (⌈Rows/32⌉, each)
	each   int    // bytes of a panel
}

// PanelBytes returns the memory of rows × cols weights as panels.
func (f Format) PanelBytes(rows, cols int) int64 {
	return int64((rows+panelRows-1)/panelRows) * int64(f.panelBytes(cols))
}

func (f Format) panelBytes(cols int) int {
	tiles := cols / Block
	if f.Super() {
		return tiles/tilesPerSuper*f.HeadBytes() + tiles*f.TileBytes()
	}
	return tiles * f.TileBytes()
}

// tileAt returns the offsets in a panel of a tile (at) and of the half-precision numbers that
// belong to it (head).
func (f Format) tileAt(tile int) (at, head int) {
	if !f.Super() {
		at = tile * f.TileBytes()
		return at, at
	}
	super := tile / tilesPerSuper
	head = super * (f.HeadBytes() + tilesPerSuper*f.TileBytes())
	return head + f.HeadBytes() + tile%tilesPerSuper*f.TileBytes(), head
}

// Repack is the task that fills Panels from Src, which has the rows as in a file. Its items are the
// panels.
type Repack struct {
	Panels *Panels
	Src    []byte // (Rows, Cols/BlockElements) blocks
}

// NewPanels allocates room for weights. A Repack fills it. cols is a multiple of the format's
// BlockElements.
func NewPanels(f Format, rows, cols int) *Panels {
	data := make([]byte, f.PanelBytes(rows, cols))
	inLargePages(data)
	return &Panels{Format: f, Rows: rows, Cols: cols, data: data, each: f.panelBytes(cols)}
}

// Items returns the number of panels.
func (w *Panels) Items() int { return (w.Rows + panelRows - 1) / panelRows }

// BytesEach returns the size of a panel.
func (w *Panels) BytesEach() int { return w.each }

// SourceBytes returns the size in the file of the rows of the first panels.
func (w *Panels) SourceBytes(panels int) int {
	return min(panels*panelRows, w.Rows) * (w.Cols / w.Format.BlockElements * w.Format.BlockBytes)
}

func (w *Panels) panel(i int) []byte { return w.data[i*w.each : (i+1)*w.each] }

// Do repacks the panels from … to−1.
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

// repackRow stores a row of the file in its lane.
func (f Format) repackRow(panel, row []byte, lane int) {
	var s share
	tiles := f.BlockElements / Block // in a block
	for b := range len(row) / f.BlockBytes {
		block := row[b*f.BlockBytes:][:f.BlockBytes]
		for tile := range tiles {
			f.split(block, tile, &s)
			f.put(panel, b*tiles+tile, lane, &s)
		}
	}
}

// repackQ8_0 is repackRow for the format that is used most and needs no splitting.
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

// clearBeyond fills up the last panel with rows of quants that count as zero. Their scales are zero
// already.
func (t *Repack) clearBeyond(to int) {
	w := t.Panels
	if to < w.Items() || w.Rows%panelRows == 0 {
		return
	}
	var zero share
	for k := range zero.quants {
		zero.quants[k] = uint8(w.Format.Bias)
	}
	for lane := w.Rows % panelRows; lane < panelRows; lane++ {
		for tile := range w.Cols / Block {
			w.Format.put(w.panel(to-1), tile, lane, &zero)
		}
	}
}

// put stores a row's share of a tile in the row's lane.
func (f Format) put(panel []byte, tile, lane int, s *share) {
	le := binary.LittleEndian
	at, head := f.tileAt(tile)
	le.PutUint16(panel[head+2*lane:], s.d)
	if f.Mins() {
		le.PutUint16(panel[head+2*panelRows+2*lane:], s.min)
	}
	if f.Super() {
		panel[at+lane], panel[at+panelRows+lane] = s.scales[0], s.scales[1]
	}
	vectors := panel[at+f.ScaleBytes()+4*lane:]
	if f.Bits() == 8 {
		for g := range groups {
			le.PutUint32(vectors[vectorBytes*g:], le.Uint32(s.quants[4*g:]))
		}
		return
	}
	if f.High.Bits > 0 {
		var high [2]uint32
		for g := range groups {
			upper := le.Uint32(s.quants[4*g:]) >> 4
			if f.High.Bits == 1 {
				high[0] |= upper & 0x01010101 << g
			} else {
				high[g/4] |= upper & 0x03030303 << (2 * (g % 4))
			}
		}
		for v := range f.High.Bits {
			le.PutUint32(vectors[vectorBytes*v:], high[v])
		}
		vectors = vectors[f.HighBytes():]
	}
	for v := range groups / 2 {
		low, high := le.Uint32(s.quants[4*v:]), le.Uint32(s.quants[4*v+Block/2:])
		le.PutUint32(vectors[vectorBytes*v:], low&0x0f0f0f0f|high&0x0f0f0f0f<<4)
	}
}

// get is the inverse of put.
func (f Format) get(panel []byte, tile, lane int, s *share) {
	le := binary.LittleEndian
	at, head := f.tileAt(tile)
	s.d = le.Uint16(panel[head+2*lane:])
	if f.Mins() {
		s.min = le.Uint16(panel[head+2*panelRows+2*lane:])
	}
	if f.Super() {
		s.scales = [2]uint8{panel[at+lane], panel[at+panelRows+lane]}
	}
	vectors := panel[at+f.ScaleBytes()+4*lane:]
	if f.Bits() == 8 {
		v := (*[vectorBytes*(groups-1) + 4]byte)(vectors)
		low := [4]uint64{}
		for g := range low { // constant bounds need no checks
			low[g] = uint64(le.Uint32(v[2*vectorBytes*g:])) | uint64(le.Uint32(v[2*vectorBytes*g+vectorBytes:]))<<32
			le.PutUint64(s.quants[8*g:], low[g])
		}
		return
	}
	var high [2]uint32
	for v := range f.HighBytes() / vectorBytes {
		high[v] = le.Uint32(vectors[vectorBytes*v:])
	}
	vectors = vectors[f.HighBytes():]
	for g := range groups {
		word := le.Uint32(vectors[vectorBytes*(g%4):]) >> (g / 4 * 4) & 0x0f0f0f0f
		switch f.Bits() {
		case 5:
			word |= high[0] >> g & 0x01010101 << 4
		case 6:
			word |= high[g/4] >> (2 * (g % 4)) & 0x03030303 << 4
		}
		le.PutUint32(s.quants[4*g:], word)
	}
}

// Row decodes weight row r to dst (Cols).
func (w *Panels) Row(dst []float32, r int) {
	var s share
	for tile := range w.Cols / Block {
		w.Format.get(w.panel(r/panelRows), tile, r%panelRows, &s)
		w.Format.decode(dst[tile*Block:(tile+1)*Block], &s)
	}
}

// decode writes the 32 weights of a share.
func (f Format) decode(dst []float32, s *share) {
	scale, min := f.scaleAndMin(s)
	for k, q := range s.quants {
		quant := int32(q) - int32(f.Bias)
		if f.Halves() {
			quant *= int32(int8(s.scales[k/(Block/2)]))
		}
		dst[k] = scale * float32(quant)
		if f.Mins() {
			dst[k] += min
		}
	}
}
