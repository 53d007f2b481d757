package cpu

// Activation is a function that a feed-forward network applies to each number.
type Activation int

// The activations that models use.
const (
	SiLU          Activation = iota // x·σ(x), σ(x) = 1/(1+exp(−x))
	GELU                            // x·σ(2u), u = √(2/π)·(x + 0.044715·x³), which is x/2·(1+tanh(u))
	ReLUSquared                     // max(0, x)²
	Sigmoid                         // σ(x)
	ClampedSwiGLU                   // a function of two numbers, gate and up: see GateClamped
)

// Activate replaces each x by the activation of x; f is not ClampedSwiGLU. Sources: Hendrycks and
// Gimpel, Gaussian Error Linear Units, 2016 (the approximation by tanh); So et al., Primer, 2021
// (squared ReLU).
func Activate(x []float32, f Activation) {
	switch f {
	case GELU:
		gelu(x)
	case SiLU:
		silu(x)
	case Sigmoid:
		for i, v := range x {
			x[i] = 1 / (1 + exp(-v))
		}
	case ReLUSquared:
		for i, v := range x {
			v = max(v, 0)
			x[i] = v * v
		}
	}
}

// silu is swiGLU whose second factors (up) are all 1.
func silu(x []float32) {
	var ones [64]float32
	for i := range ones {
		ones[i] = 1
	}
	for len(x) > 0 {
		n := min(len(x), len(ones))
		swiGLU(x[:n], ones[:n])
		x = x[n:]
	}
}

// Times multiplies each x by y.
func Times(x, y []float32) { scale(x, x, y, 1) }

// TimesFactor multiplies each x by factor.
func TimesFactor(x []float32, factor float32) { times(x, factor) }

// geluLinear and geluCubic are the factors of x and x³ in 2u.
const (
	geluLinear = 1.5957691  // 2·√(2/π)
	geluCubic  = 0.07135481 // 0.044715·geluLinear
)

func geluGeneric(x []float32) {
	for i, v := range x {
		twice := float32(geluLinear+float32(geluCubic*float32(v*v))) * v
		x[i] = v / (1 + exp(-twice))
	}
}
