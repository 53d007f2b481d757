package compute

// Mixer is an optional interface of a Backend: mixtures of experts. A model with experts is refused on
// other backends.
//
// A layer has a matrix for each expert, all of the same shape; Weight.Experts says that a tensor has
// them one after the other. Route chooses experts for each row. A row together with one of its experts
// is called a choice. Each choice has a slot: one row in buffers of m·Used rows. The backend decides
// which slot a choice gets; this must not change a bit of the result. Operations on single rows, such
// as SwiGLU, also work on slots.
type Mixer interface {
	// Routing makes room for the choices of maxRows rows.
	Routing(maxRows int, r Router) (Routing, error)
	// Route chooses experts for m rows of scores, which have a column for each expert. bias may be nil; its
	// numbers are added to the shares to choose experts, but not to compute the sum in Mix.
	Route(r Routing, scores Buffer, m int, bias Vector) error
	// MatMulExperts writes to each slot of dst the product of the slot's input with the matrix of its expert.
	// dst has w.Rows() columns. If bySlot is true, the input is the same slot of x; else it is the row of x
	// that chose the expert.
	MatMulExperts(dst, x Buffer, r Routing, w Matrix, bySlot bool) error
	// AddExpertBias adds to each slot of x the bias of its expert. b has the biases of all experts, one after
	// the other, each with a number for each column of x.
	AddExpertBias(x Buffer, r Routing, b Vector) error
	// Mix writes to each row of dst the weighted sum of its experts' outputs. The outputs are the
	// row's slots of x; the weight is the expert's share. Mix adds the best expert first, then the
	// next best, and so on. It may overwrite x.
	Mix(dst, x Buffer, r Routing) error
	// Weigh multiplies each row of x by σ of its number in gate, a buffer of one column. σ(z) is 1/(1+exp(−z)).
	Weigh(x Buffer, m int, gate Buffer) error
}

// ExpertScaler is an optional interface of a Mixer, for models in which each expert's output has a
// factor.
type ExpertScaler interface {
	// ScaleExperts multiplies each slot of x by the factor of its expert; factors has Experts numbers.
	ScaleExperts(x Buffer, r Routing, factors Vector) error
}

// Router says how experts are chosen from the scores of a row. Without a bias, those with the highest
// scores are chosen; with a bias, those with the highest sums of share and bias. Among equals, experts
// with lower numbers are chosen first.
type Router struct {
	Experts int
	Used    int     // experts of a row
	Sigmoid bool    // an expert's share is 1/(1+exp(−score)); otherwise its part of the softmax of all scores
	Normed  bool    // the shares of the chosen experts are divided by their sum
	Scale   float32 // each share is multiplied by this
}

// MostUsed is the largest Router.Used.
const MostUsed = 64

// Routing has the choices of the rows of a pass. The next Route overwrites them.
type Routing interface {
	// Choices copies the experts of a row, the best first. Only tests and reports use it.
	Choices(row int, experts []int32) error
	// Touched returns the sum over all calls of Route so far.
	Touched() Touched
}

// Touched counts the experts whose weights were read: for each call of Route, the experts that at
// least one row chose.
type Touched struct{ Experts, Calls int }

// Mean returns how many experts a layer read in a pass, on average over the calls; 0 without calls.
func (t Touched) Mean() float64 { return float64(t.Experts) / float64(max(t.Calls, 1)) }

// Minus returns what was counted since an earlier count.
func (t Touched) Minus(earlier Touched) Touched {
	return Touched{t.Experts - earlier.Experts, t.Calls - earlier.Calls}
}

// Plus adds two counts.
func (t Touched) Plus(o Touched) Touched { return Touched{t.Experts + o.Experts, t.Calls + o.Calls} }
