package gpu

import (
	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
	"specula/kernels/ref"
)

// operation is one step of a pass as plain data: what is computed, and where in device memory. join
// compares the fields to find the operations that one kernel can do together. Only launch knows the
// kernels, the order of their arguments and their grids.
type operation interface {
	launch() launch
}

// launch is how an operation runs: a kernel by name, or a copy within device memory.
type launch struct {
	kernel    string // "": a copy; arguments are to, from and bytes
	shape     driver.Shape
	arguments [mostArguments]driver.Argument
	count     int
	// turns means that a block goes on with the work of further blocks. Then a grid has no more blocks than the
	// device runs at the same time.
	turns bool
}

// mostArguments is the largest number of arguments of a kernel.
const mostArguments = 37

func launchOf(kernel string, shape driver.Shape, arguments ...driver.Argument) launch {
	l := launch{kernel: kernel, shape: shape, count: len(arguments)}
	require(copy(l.arguments[:], arguments) == len(arguments),
		"a kernel with more arguments than a launch has room for")
	return l
}

// threadsPerBlock is the block size of kernels that need no size of their own.
const threadsPerBlock = 256

// strided is the shape for n numbers in each of m rows; with m = 0 there is one row. Kernels launched with it loop
// over the numbers in strides of the grid. More than 1024 blocks per row would not make a GPU faster.
func strided(n, m int) driver.Shape {
	return driver.Shape{Grid: [3]int{min(ceilDivide(n, threadsPerBlock), 1024), m},
		Block: [3]int{threadsPerBlock}}
}

// warpEach is the shape for n pieces of work in each of m rows, with a warp for each piece. With m = 0 there is one
// row.
func warpEach(n, m int) driver.Shape {
	const warps = 8
	return driver.Shape{Grid: [3]int{ceilDivide(n, warps), m}, Block: [3]int{32 * warps}}
}

func ceilDivide(n, by int) int { return (n + by - 1) / by }

// address, whole and real make arguments of kernels.
func address(p driver.Pointer) driver.Argument { return driver.Address(p) }
func whole(n int) driver.Argument              { return driver.Int(int32(n)) }
func real(f float32) driver.Argument           { return driver.Float(f) }

func flag(on bool) driver.Argument {
	if on {
		return whole(1)
	}
	return whole(0)
}

// The operations of a layer. Pointers to activations point to (rows, cols) float32 numbers unless a comment
// says otherwise. Those to weights point to the memory of a matrix or a vector.

// embed looks up the rows of a table by ids on the device.
type embed struct {
	format     *cuda.Format
	dst, table driver.Pointer
	ids        driver.Pointer // (rows) int32
	rows, cols int
}

func (o embed) launch() launch {
	return launchOf(o.format.EmbedKernel(), driver.Shape{Grid: [3]int{o.rows},
		Block: [3]int{threadsPerBlock}},
		address(o.dst), address(o.table), address(o.ids), whole(o.cols), whole(o.format.Slabs(o.cols)))
}

// norm is RMSNorm of groups of numbers: of whole rows, or of the heads in them.
type norm struct {
	dst, x, w      driver.Pointer
	groups, length int
	eps            float32
}

// launch uses a warp for a short group, with several warps in a block, and a block for a longer one.
// The number of threads decides the order of the sum, so it depends on the group's length alone.
func (o norm) launch() launch {
	if o.warps() {
		return launchOf("rms_norm_heads", warpEach(o.groups, 0),
			address(o.dst), address(o.x), address(o.w), whole(o.length), whole(o.groups), real(o.eps))
	}
	return launchOf("rms_norm", o.shape(), address(o.dst), address(o.x), address(o.w), whole(o.length),
		real(o.eps))
}

// warps reports whether a warp is enough for each group.
func (o norm) warps() bool { return ref.NormThreads(o.length) == ref.Warp }

// shape is the launch shape with a block for each group.
func (o norm) shape() driver.Shape {
	return driver.Shape{Grid: [3]int{o.groups}, Block: [3]int{ref.NormThreads(o.length)}}
}

// addNorm adds y to x and normalises the sum.
type addNorm struct {
	y driver.Pointer // added to the x of norm
	norm
}

func (o addNorm) launch() launch {
	return launchOf("add_rms_norm", o.shape(), address(o.dst), address(o.x), address(o.y), address(o.w),
		whole(o.length), real(o.eps))
}

// add adds n numbers of y to those of x.
type add struct {
	x, y driver.Pointer
	n    int
}

func (o add) launch() launch {
	return launchOf("add_rows", strided(o.n, 0), address(o.x), address(o.y), whole(o.n))
}

// swiGLU writes silu(gate)·up to gate.
type swiGLU struct {
	gate, up driver.Pointer
	n        int
}

func (o swiGLU) launch() launch {
	return launchOf("swiglu", strided(o.n, 0), address(o.gate), address(o.up), whole(o.n))
}

// activate replaces n numbers of x by their activation, times the numbers of y if y is not 0. See
// Activate for ClampedSwiGLU.
type activate struct {
	x, y driver.Pointer
	n    int
	by   compute.Activation
}

// activationKernels are the names of the kernels of activate.
var activationKernels = map[compute.Activation]string{
	compute.SiLU: "activate_silu", compute.GELU: "activate_gelu",
	compute.ReLUSquared: "activate_relu_squared", compute.Sigmoid: "activate_sigmoid",
	compute.ClampedSwiGLU: "activate_clamped_swiglu",
}

func (o activate) launch() launch {
	return launchOf(activationKernels[o.by], strided(o.n, 0), address(o.x), address(o.y), flag(o.y != 0),
		whole(o.n))
}

// scaleRows multiplies n numbers by a factor.
type scaleRows struct {
	x      driver.Pointer
	factor float32
	n      int
}

func (o scaleRows) launch() launch {
	return launchOf("scale_rows", strided(o.n, 0), address(o.x), real(o.factor), whole(o.n))
}

// capRows replaces n numbers v by limit·tanh(v/limit).
type capRows struct {
	x     driver.Pointer
	limit float32
	n     int
}

func (o capRows) launch() launch {
	return launchOf("cap_rows", strided(o.n, 0), address(o.x), real(o.limit), whole(o.n))
}

// layerNorm normalises groups of numbers around their mean. w holds the weights of repeats groups;
// later groups use them again from the first on.
type layerNorm struct {
	norm
	repeats int
}

func (o layerNorm) launch() launch {
	return launchOf("layer_norm", o.shape(), address(o.dst), address(o.x), address(o.w), whole(o.length),
		whole(o.repeats), real(o.eps))
}

// addBias adds a vector to each row.
type addBias struct {
	x, bias    driver.Pointer
	rows, cols int
}

func (o addBias) launch() launch {
	return launchOf("add_bias", strided(o.cols, o.rows), address(o.x), address(o.bias), whole(o.cols))
}

// copyBlock writes rows of x into columns of wider rows.
type copyBlock struct {
	dst, x     driver.Pointer
	rows, cols int
	dstCols    int // of a whole row of dst
	at         int // the first column of dst that is written
}

func (o copyBlock) launch() launch {
	return launchOf("copy_block", strided(o.cols, o.rows), address(o.dst), address(o.x), whole(o.cols),
		whole(o.dstCols), whole(o.at))
}

// convert writes activations in the form that products of a format read.
type convert struct {
	format     *cuda.Format
	dst, x     driver.Pointer
	rows, cols int
}

func (o convert) launch() launch {
	l := o.format.Prepare(o.rows, o.cols)
	return launchOf(l.Kernel, shapeOf(l), address(o.dst), address(o.x), whole(o.cols),
		whole(o.format.ActivationSlabs(o.cols)))
}

// product multiplies converted activations, (rows, cols), with a weight; in a mixture, with the matrices of the
// experts that the rows chose.
type product struct {
	dst, activations driver.Pointer
	rows             int
	weight           *matrix
	by               choices // zero: no mixture
}

func (o product) launch() launch { return products{o}.launch() }

// products is one launch that multiplies the same activations with 1 to cuda.MostJoined matrices of one
// format.
type products []product

func (o products) launch() launch {
	by := o[0].by
	if by == (choices{}) {
		return o.then(epilogue{}, stream{})
	}
	matrices, arguments := o.matrices()
	l := o[0].weight.format.ExpertProduct(by.most, matrices...)
	return launchOf(l.Kernel, shapeOf(l), append(arguments, address(by.counts), address(by.groups), whole(by.used))...)
}

// matrices returns the sizes of the matrices, and the arguments that every kernel of products has.
func (o products) matrices() (matrices []cuda.Factor, arguments []driver.Argument) {
	for _, p := range o {
		m := p.weight.factor()
		matrices = append(matrices, m)
		arguments = append(arguments, address(p.dst), whole(m.Rows), address(p.weight.memory),
			whole(m.Ranges))
	}
	for range cuda.MostJoined - len(o) {
		arguments = append(arguments, address(0), whole(0), address(0), whole(0))
	}
	w := o[0].weight
	return matrices, append(arguments, address(o[0].activations), whole(o[0].rows), whole(w.format.Slabs(w.cols)))
}

// then returns the launch of the products with an epilogue. If s has a norm, they read the norm of s.
func (o products) then(e epilogue, s stream) launch {
	matrices, arguments := o.matrices()
	l := o[0].weight.format.ProductThen(e.kind, o[0].rows, matrices...)
	if s.norm != 0 {
		l = o[0].weight.format.NormedProduct(e.kind, s.cols, matrices...)
	}
	if o[0].rows <= cuda.MostWithEpilogue {
		arguments = append(arguments, whole(e.kind), address(e.to), whole(e.slabs), address(s.rows), address(s.squares), address(s.norm),
			whole(s.cols), real(s.eps))
	}
	launch := launchOf(l.Kernel, shapeOf(l), arguments...)
	launch.turns = s.norm != 0
	return launch
}

func shapeOf(l cuda.Launch) driver.Shape {
	return driver.Shape{Grid: [3]int{l.GridX, l.GridY}, Block: [3]int{l.Threads}, SharedBytes: l.SharedBytes}
}

// move copies bytes within device memory.
type move struct {
	to, from driver.Pointer
	bytes    int
}

func (o move) launch() launch {
	return launchOf("", driver.Shape{}, address(o.to), address(o.from), driver.Long(uint64(o.bytes)))
}
