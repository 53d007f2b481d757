package gpu

import (
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// threadsPerBlock is the block size of kernels that need no size of their own.
const threadsPerBlock = 256

// blocksOf returns how many blocks n threads need, at most 1024. Kernels launched with it loop in
// strides, so more blocks would not keep a GPU busier.
func blocksOf(n int) int { return min((n+threadsPerBlock-1)/threadsPerBlock, 1024) }

func ceilDivide(n, by int) int { return (n + by - 1) / by }

// address, whole and real make arguments of kernels.
func address(p driver.Pointer) driver.Argument { return driver.Address(p) }
func whole(n int) driver.Argument              { return driver.Int(int32(n)) }
func real(f float32) driver.Argument           { return driver.Float(f) }

// rowsOf checks that a buffer has the rows first … first+m−1, and returns it.
func rowsOf(x compute.Buffer, first, m int) *buffer {
	b := x.(*buffer)
	require(first >= 0 && 1 <= m && first+m <= b.rows, "rows outside of the buffer, or none")
	return b
}

// word is the device address of the tape's word n.
func (b *Backend) word(n int) driver.Pointer {
	require(n < inputWords, "a pass with too many rows")
	return b.inputs.words + driver.Pointer(4*n)
}

// positionOf is the device address of a row's position.
func (b *Backend) positionOf(row, position int) driver.Argument {
	return address(b.word(b.tape.positionWord(row, position)))
}

// Embed begins a pass: it hands the tape before it to the device's thread.
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
	return b.embed(dst, t, b.word(b.tape.word(ids...)), len(ids))
}

// embed looks up m ids that are in device memory.
func (b *Backend) embed(dst compute.Buffer, t *matrix, ids driver.Pointer, m int) error {
	d := rowsOf(dst, 0, m)
	require(d.cols == t.cols, "Embed between different widths")
	b.tape.positions = b.tape.positions[:0] // a new pass begins
	b.changed(d)
	return b.launch(t.format.EmbedKernel(), driver.Shape{Grid: [3]int{m}, Block: [3]int{threadsPerBlock}},
		address(d.memory), address(t.memory), address(ids), whole(t.cols), whole(t.format.Slabs(t.cols)))
}

// mostHeadDim is the widest group for which RMSNorm uses one warp. A wider group gets a block.
const mostHeadDim = 256

// RMSNorm normalises each group of w.Len() numbers. The number of threads decides the order of the
// sum, so it is chosen by the group's length alone; else the bits would depend on the number of
// rows.
func (b *Backend) RMSNorm(dst, x compute.Buffer, m int, w compute.Vector, eps float32) error {
	xb, d, v := rowsOf(x, 0, m), rowsOf(dst, 0, m), w.(*vector)
	n := v.length
	require(xb.cols == d.cols && xb.cols%n == 0, "RMSNorm of widths that do not fit")
	b.changed(d)
	groups := m * (xb.cols / n)
	if n <= mostHeadDim {
		const warps = 8
		return b.launch("rms_norm_heads", driver.Shape{Grid: [3]int{ceilDivide(groups, warps)}, Block: [3]int{32 * warps}},
			address(d.memory), address(xb.memory), address(v.memory), whole(n), whole(groups), real(eps))
	}
	if fused, err := b.fuseAdd(d, xb, m, v, eps); fused || err != nil {
		return err
	}
	return b.launch("rms_norm", driver.Shape{Grid: [3]int{groups}, Block: [3]int{normThreads(n)}},
		address(d.memory), address(xb.memory), address(v.memory), whole(n), real(eps))
}

// normThreads is the number of threads for a group of n numbers. It decides the order of the sum.
func normThreads(n int) int { return min(1024, ceilDivide(n, 128)*32) }

// AddBias adds a vector to each row.
func (b *Backend) AddBias(x compute.Buffer, m int, bias compute.Vector) error {
	xb, v := rowsOf(x, 0, m), bias.(*vector)
	require(v.length == xb.cols, "AddBias of another width")
	b.changed(xb)
	return b.launch("add_bias", driver.Shape{Grid: [3]int{blocksOf(xb.cols), m}, Block: [3]int{threadsPerBlock}},
		address(xb.memory), address(v.memory), whole(xb.cols))
}

// RoPE rotates each head of each row by the angles of its position.
func (b *Backend) RoPE(x compute.Buffer, m int, r compute.Rope) error {
	xb := rowsOf(x, r.Row, m)
	half := r.Dim / 2
	require(xb.cols == r.Heads*r.HeadDim && 2*half == r.Dim && r.Dim <= r.HeadDim, "RoPE of heads that do not fit")
	require((r.Position+m)*half <= len(r.Cos) && len(r.Cos) == len(r.Sin), "RoPE beyond its tables")
	cos, err := b.table(r.Cos)
	if err != nil {
		return err
	}
	sin, err := b.table(r.Sin)
	if err != nil {
		return err
	}
	neox := 0
	if r.NeoX {
		neox = 1
	}
	b.changed(xb)
	return b.launch("rope", driver.Shape{Grid: [3]int{blocksOf(r.Heads * half), m}, Block: [3]int{threadsPerBlock}},
		address(xb.row(r.Row)), address(cos), address(sin), b.positionOf(r.Row, r.Position), whole(0),
		whole(r.Heads), whole(r.HeadDim), whole(r.Dim), whole(neox))
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
	return b.elementwise("swiglu", g, u, m*g.cols)
}

// Add adds y to x.
func (b *Backend) Add(x, y compute.Buffer, m int) error {
	xb, yb := rowsOf(x, 0, m), rowsOf(y, 0, m)
	require(xb.cols == yb.cols, "Add of different widths")
	return b.elementwise("add_rows", xb, yb, m*xb.cols)
}

func (b *Backend) elementwise(name string, x, y *buffer, n int) error {
	b.changed(x)
	return b.launch(name, driver.Shape{Grid: [3]int{blocksOf(n)}, Block: [3]int{threadsPerBlock}}, address(x.memory), address(y.memory), whole(n))
}

// Copy writes rows of x into a block of another buffer.
func (b *Backend) Copy(dst, x compute.Buffer, m int, c compute.Block) error {
	require(m > 0 && c.From >= 0 && c.Row >= 0 && c.Col >= 0, "Copy of a block that does not fit")
	xb, d := rowsOf(x, c.From, m), rowsOf(dst, c.Row, m)
	require(c.Col+xb.cols <= d.cols, "Copy to a block that does not fit")
	b.changed(d)
	return b.launch("copy_block", driver.Shape{Grid: [3]int{blocksOf(xb.cols), m}, Block: [3]int{threadsPerBlock}},
		address(d.row(c.Row)), address(xb.row(c.From)), whole(xb.cols), whole(d.cols), whole(c.Col))
}
