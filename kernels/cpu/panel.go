package cpu

import (
	"encoding/binary"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

const (
	// Block is the number of columns of a tile, and the number of activations that share a scale.
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
// 32 rows in 16 bits each and, if the format has them, the minima or the scales of the second half; then
// the upper bits of the quants; then the lower bits. Four neighbouring columns of a row form a lane of
// four bytes, 32 lanes form a vector, and 8 vectors form a tile with a byte for each quant. If the lower
// part of a quant has four bits, vector v has columns 4v … 4v+3 in its low nibbles and columns 4v+16 …
// 4v+19 in its high nibbles. In formats with super-blocks, the scales (d) and minima come once before
// eight tiles, and each tile begins with its integer factors, one or two for each row.
//
// Missing rows of the last panel are zeros. Repacking changes no number. Panels of Q8_0 take as much
// memory as the blocks in the file, apart from the missing rows.
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

// tileAt returns two offsets in a panel: at, where a tile begins, and head, where its 16-bit scales
// begin. In formats with super-blocks, head lies before the super-block's first tile.
func (f Format) tileAt(tile int) (at, head int) {
	if !f.Super() {
		at = tile * f.TileBytes()
		return at, at
	}
	super := tile / tilesPerSuper
	head = super * (f.HeadBytes() + tilesPerSuper*f.TileBytes())
	return head + f.HeadBytes() + tile%tilesPerSuper*f.TileBytes(), head
}

// NewPanels allocates room for weights. A Repack fills it. cols is a multiple of the format's
// BlockElements.
func NewPanels(f Format, rows, cols int) *Panels { return NewPanelsOfEach(f, 1, rows, cols)[0] }

// NewPanelsOfEach is NewPanels for n matrices of one size, which lie one after the other in memory.
func NewPanelsOfEach(f Format, n, rows, cols int) (all []*Panels) {
	size := f.PanelBytes(rows, cols)
	data := make([]byte, int64(n)*size)
	inLargePages(data)
	for i := range int64(n) {
		all = append(all, &Panels{Format: f, Rows: rows, Cols: cols, data: data[i*size : (i+1)*size : (i+1)*size], each: f.panelBytes(cols)})
	}
	return all
}

// Items returns the number of panels.
func (w *Panels) Items() int { return (w.Rows + panelRows - 1) / panelRows }

// BytesEach returns the size of a panel.
func (w *Panels) BytesEach() int { return w.each }

// SourceBytes returns how many bytes the rows of the first panels take in the file. panels says how many
// panels are meant.
func (w *Panels) SourceBytes(panels int) int {
	return min(panels*panelRows, w.Rows) * (w.Cols / w.Format.BlockElements * w.Format.BlockBytes)
}

func (w *Panels) panel(i int) []byte { return w.data[i*w.each : (i+1)*w.each] }

// get reads into s what put (repack.go) stored for one row of a tile. lane is the row's place in the panel.
func (f Format) get(panel []byte, tile, lane int, s *format.Share) {
	le := binary.LittleEndian
	at, head := f.tileAt(tile)
	s.Scale = le.Uint16(panel[head+2*lane:])
	if f.HeadBytes() > 2*panelRows {
		s.Min = le.Uint16(panel[head+2*panelRows+2*lane:])
	}
	if f.Super() {
		s.Factors[0] = panel[at+lane]
		if !f.OneFactor() {
			s.Factors[1] = panel[at+panelRows+lane]
		}
	}
	vectors := panel[at+f.ScaleBytes()+4*lane:]
	s.Quants = [Block]uint8{}
	getBits(vectors, f.High.Bits, f.Low.Bits, &s.Quants)
	getBits(vectors[f.HighBytes():], f.Low.Bits, 0, &s.Quants)
}

// getBits reads what putBits stored, and sets bits first … first+bits−1 of a tile's quants to it. These
// bits must be 0 before.
func getBits(vectors []byte, bits, first int, quants *[Block]uint8) {
	le := binary.LittleEndian
	switch {
	case bits == 0:
		return
	case bits == 8: // whole quants, as in Q8_0
		for g := range groups {
			le.PutUint32(quants[4*g:], le.Uint32(vectors[vectorBytes*g:]))
		}
		return
	case bits == 4 && first == 0: // as in most formats
		for v := range groups / 2 {
			word := le.Uint32(vectors[vectorBytes*v:])
			low, high := quants[4*v:][:4], quants[Block/2+4*v:][:4]
			le.PutUint32(low, le.Uint32(low)|word&0x0f0f0f0f)
			le.PutUint32(high, le.Uint32(high)|word>>4&0x0f0f0f0f)
		}
		return
	}
	var words [groups]uint32
	for v := range bits {
		words[v] = le.Uint32(vectors[vectorBytes*v:])
	}
	mask := uint32(1<<bits-1) * 0x01010101
	for g := range groups {
		v, shift := layout.Place(bits, g)
		le.PutUint32(quants[4*g:], le.Uint32(quants[4*g:])|words[v&7]>>(shift&7)&mask<<(first&7))
	}
}

// Row decodes weight row r to dst (Cols).
func (w *Panels) Row(dst []float32, r int) {
	var s format.Share
	for tile := range w.Cols / Block {
		w.Format.get(w.panel(r/panelRows), tile, r%panelRows, &s)
		w.Format.decode(dst[tile*Block:(tile+1)*Block], &s)
	}
}

// decode writes the 32 weights of a row of a tile. It computes scale and minimum once for each half.
func (f Format) decode(dst []float32, s *format.Share) {
	scale, min := f.scaleAndMin(s)
	factors, mins := f.factors(s)
	values, bias := f.Values, int32(f.Bias)
	for upper := range 2 {
		factor, add, adds := int32(1), min, f.Mins()
		if f.Halves() {
			factor = factors[upper]
		}
		if f.TwoScales() && upper == 1 {
			scale = min
		}
		if f.Factors == format.Nibbles {
			add, adds = float32(min*float32(mins[upper])), true
		}
		weights := (*[Block / 2]float32)(dst[upper*Block/2:])
		for k, q := range (*[Block / 2]uint8)(s.Quants[upper*Block/2:]) {
			quant := int32(q) - bias
			if values != nil {
				quant = int32(values[q])
			}
			weights[k] = scale * float32(quant*factor)
		}
		if adds {
			for k := range weights {
				weights[k] += add
			}
		}
	}
}
