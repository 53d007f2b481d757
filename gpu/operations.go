package gpu

import (
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// rowsOf checks that a buffer has the rows first … first+m−1, and returns it.
func rowsOf(x compute.Buffer, first, m int) *buffer {
	b := x.(*buffer)
	require(first >= 0 && 1 <= m && first+m <= b.rows, "rows outside of the buffer, or none")
	return b
}

// word is the device address of word n of the tape's inputs: 4 bytes that the host copies before the tape runs (inputs.go).
// It panics if the words of the tape do not all have room there.
func (b *Backend) word(n int) driver.Pointer {
	require(len(b.tape.words) <= inputWords, "a pass with too many words")
	return b.inputs.words + driver.Pointer(4*n)
}

// positionOf is the device address of the word that holds a row's position. If the tape has no such word yet,
// positionOf appends it.
func (b *Backend) positionOf(row, position int) driver.Pointer {
	return b.word(b.tape.positionWord(row, position))
}

// Embed begins a pass: it hands the tape of the pass before to the device's thread.
func (b *Backend) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	if err := b.usable(); err != nil {
		return err
	}
	t := table.(*matrix)
	for _, id := range ids {
		if id < 0 || int(id) >= t.rows {
			return fmt.Errorf("token %d is outside the vocabulary of %d", id, t.rows)
		}
	}
	b.flush()
	b.embed(dst, t, b.word(b.tape.word(ids...)), len(ids))
	return nil
}

// embed looks up m ids that are in device memory.
func (b *Backend) embed(dst compute.Buffer, t *matrix, ids driver.Pointer, m int) {
	d := rowsOf(dst, 0, m)
	require(d.cols == t.cols, "Embed between different widths")
	b.tape.beginPass()
	b.changed(d)
	b.tape.append(embed{t.format, d.memory, t.memory, ids, m, t.cols})
}

// RMSNorm normalises each group of w.Len() numbers.
func (b *Backend) RMSNorm(dst, x compute.Buffer, m int, w compute.Vector, eps float32) error {
	xb, d, v := rowsOf(x, 0, m), rowsOf(dst, 0, m), w.(*vector)
	n := v.length
	require(xb.cols == d.cols && xb.cols%n == 0, "RMSNorm of widths that do not fit")
	b.changed(d)
	b.tape.append(norm{d.memory, xb.memory, v.memory, m * (xb.cols / n), n, eps})
	return nil
}

// AddBias adds a vector to each row.
func (b *Backend) AddBias(x compute.Buffer, m int, bias compute.Vector) error {
	xb, v := rowsOf(x, 0, m), bias.(*vector)
	require(v.length == xb.cols, "AddBias of another width")
	b.changed(xb)
	b.tape.append(addBias{xb.memory, v.memory, m, xb.cols})
	return nil
}

// RoPE rotates each head of each row by the angles of the row's position.
func (b *Backend) RoPE(x compute.Buffer, m int, r compute.Rope) error {
	xb := rowsOf(x, r.Row, m)
	half := r.Dim / 2
	require(xb.cols == r.Heads*r.HeadDim && 2*half == r.Dim && r.Dim <= r.HeadDim,
		"RoPE of heads that do not fit")
	require((r.Position+m)*half <= len(r.Cos) && len(r.Cos) == len(r.Sin), "RoPE beyond its tables")
	cos, err := b.table(r.Cos)
	if err != nil {
		return err
	}
	sin, err := b.table(r.Sin)
	if err != nil {
		return err
	}
	b.changed(xb)
	by := angles{cos, sin, b.positionOf(r.Row, r.Position), r.Dim, r.NeoX}
	b.tape.append(rotate{xb.row(r.Row), m, r.Heads, r.HeadDim, by})
	return nil
}

// table returns the device copy of a table of angles. The first pass that needs the table copies
// it.
func (b *Backend) table(angles []float32) (driver.Pointer, error) {
	if p, ok := b.tables[&angles[0]]; ok {
		return p, nil
	}
	p, err := b.floats("angles of positions", angles)
	if err != nil {
		return 0, err
	}
	b.tables[&angles[0]] = p
	return p, nil
}

// SwiGLU writes silu(gate)·up to gate.
func (b *Backend) SwiGLU(gate, up compute.Buffer, m int) error {
	g, u := rowsOf(gate, 0, m), rowsOf(up, 0, m)
	require(g.cols == u.cols, "SwiGLU of different widths")
	b.changed(g)
	b.tape.append(swiGLU{g.memory, u.memory, m * g.cols})
	return nil
}

// Add adds y to x.
func (b *Backend) Add(x, y compute.Buffer, m int) error {
	xb, yb := rowsOf(x, 0, m), rowsOf(y, 0, m)
	require(xb.cols == yb.cols, "Add of different widths")
	b.changed(xb)
	b.tape.append(add{xb.memory, yb.memory, m * xb.cols})
	return nil
}

// Copy writes rows of x into a block of another buffer.
func (b *Backend) Copy(dst, x compute.Buffer, m int, c compute.Block) error {
	require(m > 0 && c.From >= 0 && c.Row >= 0 && c.Col >= 0, "Copy of a block that does not fit")
	xb, d := rowsOf(x, c.From, m), rowsOf(dst, c.Row, m)
	require(c.Col+xb.cols <= d.cols, "Copy to a block that does not fit")
	b.changed(d)
	b.tape.append(copyBlock{d.row(c.Row), xb.row(c.From), m, xb.cols, d.cols, c.Col})
	return nil
}
