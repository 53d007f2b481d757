package ref

import "math"

// Recurrent describes a delta net or, if Delta is false, a Mamba-2 layer, as the GPU computes them: in
// float32, to the bit. The fields are arguments of DeltaNet and Mamba2; Mamba2's groups are KeyHeads here.
// Bias may be nil; Skip is for Mamba-2 alone.
type Recurrent struct {
	Delta                             bool
	KeyHeads, Heads, KeyDim, ValueDim int
	Kernel                            int
	Grouped                           bool
	Eps                               float32
	Convolution, Bias                 []float32
	Rate, Shift, Skip                 []float32
}

// columnLanes is the number of lanes that share a column of a state. Of each 32 numbers of the column, a
// lane has 4 neighbouring ones.
const columnLanes = 8

// Rows computes the first n tokens of a sequence; see DeltaNet and Mamba2, and kernels/cuda/src/recurrence.h.
// For Mamba-2, alpha holds the steps, and beta is nil.
func (r Recurrent) Rows(dst, x, alpha, beta []float32, n int) {
	keys, values := r.KeyHeads*r.KeyDim, r.Heads*r.ValueDim
	width := 2*keys + values
	mixed := convolveRows(x, r.Convolution, r.Bias, n, width, r.Kernel)
	for i, v := range mixed {
		mixed[i] = v / (1 + Exp(-v))
	}
	query, key, value := 0, keys, 2*keys
	if !r.Delta {
		query, key, value = values+keys, values, 0
	}
	for h := range r.Heads {
		keyHead := h % r.KeyHeads
		if r.Grouped {
			keyHead = h * r.KeyHeads / r.Heads
		}
		state := make([]float32, r.ValueDim*r.KeyDim)
		for t := range n {
			row := mixed[t*width:][:width]
			q, k := row[query+keyHead*r.KeyDim:][:r.KeyDim], row[key+keyHead*r.KeyDim:][:r.KeyDim]
			q, k, product := r.units(q, k)
			v := row[value+h*r.ValueDim:][:r.ValueDim]
			step := Softplus(alpha[t*r.Heads+h] + r.Shift[h])
			decay := Exp(r.Rate[h] * step)
			for j, v := range v {
				s := state[j*r.KeyDim:][:r.KeyDim]
				read := float32(decay * columnSum(s, q))
				change := float32(step * v)
				if r.Delta {
					strength := 1 / (1 + Exp(-beta[t*r.Heads+h]))
					change = strength * (v - float32(decay*columnSum(s, k)))
				}
				out := FMA(product, change, read)
				if !r.Delta {
					out = FMA(r.Skip[h], v, out)
				}
				for i := range s {
					s[i] = FMA(k[i], change, decay*s[i])
				}
				dst[(t*r.Heads+h)*r.ValueDim+j] = out
			}
		}
	}
}

// units returns query and key, and their product. In a delta net it scales the key to length 1 and the
// query to 1/√KeyDim first.
func (r Recurrent) units(q, k []float32) (unitQ, unitK []float32, product float32) {
	product = warpProduct(q, k)
	if !r.Delta {
		return q, k, product
	}
	root := func(x float32) float32 { return 1 / float32(math.Sqrt(float64(x))) }
	byQ, byK := root(float32((warpProduct(q, q)+r.Eps)*float32(r.KeyDim))), root(warpProduct(k, k)+r.Eps)
	unitQ, unitK = make([]float32, len(q)), make([]float32, len(k))
	for i := range q {
		unitQ[i], unitK[i] = q[i]*byQ, k[i]*byK
	}
	return unitQ, unitK, float32(product*byQ) * byK
}

// warpProduct is the inner product of a and b as a warp adds it. Lane l has the numbers l, l+32, ….
func warpProduct(a, b []float32) float32 {
	var lanes [Warp]float32
	for i := range a {
		lanes[i%Warp] = FMA(a[i], b[i], lanes[i%Warp])
	}
	return WarpSum(lanes)
}

// columnSum is the inner product of s, a column of the state, and by. The lanes of the column share the
// numbers as columnLanes says.
func columnSum(s, by []float32) float32 {
	var lanes [columnLanes]float32
	for i := range s {
		l := i / 4 % columnLanes
		lanes[l] = FMA(s[i], by[i], lanes[l])
	}
	for half := columnLanes / 2; half > 0; half /= 2 {
		for i := range half {
			lanes[i] += lanes[i+half]
		}
	}
	return lanes[0]
}

// Softplus is ln(1+eˣ) with the bits of the GPU.
func Softplus(x float32) float32 {
	u := Exp(-float32(math.Abs(float64(x))))
	z := u / (2 + u)
	square := float32(z * z)
	p := float32(1.0 / 17)
	for n := 15; n > 0; n -= 2 {
		p = FMA(p, square, 1/float32(n))
	}
	return FMA(2*z, p, max(x, 0))
}

// ShortConvolutionRows is ShortConvolution with the bits of the GPU, and a bias, which may be nil.
func ShortConvolutionRows(dst, x, conv, bias []float32, n, dim, kernel int) {
	gated := make([]float32, n*dim)
	for i := range gated {
		row := x[i/dim*3*dim:]
		gated[i] = row[i%dim] * row[2*dim+i%dim]
	}
	for i, v := range convolveRows(gated, conv, bias, n, dim, kernel) {
		dst[i] = v * x[i/dim*3*dim+dim+i%dim]
	}
}

// convolveRows is convolve in float32, with fused steps.
func convolveRows(x, conv, bias []float32, n, width, kernel int) []float32 {
	mixed := make([]float32, n*width)
	for t := range n {
		for c := range width {
			sum := float32(0)
			if bias != nil {
				sum = bias[c]
			}
			for j := max(0, kernel-1-t); j < kernel; j++ {
				sum = FMA(x[(t-kernel+1+j)*width+c], conv[j*width+c], sum)
			}
			mixed[t*width+c] = sum
		}
	}
	return mixed
}
