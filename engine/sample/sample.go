// Package sample turns a row of scores into the distribution that a token is drawn from, and draws from it.
//
// The order of filters is temperature, top-k, top-p, min-p, or with Params.TemperatureLast top-k, top-p, min-p, temperature; each
// works on what the one before left. In front of them Shapers may change the scores.
// A Dist that came out of FromLogits is exactly what a draw uses: speculation stays lossless only
// if the probability that is recorded is the probability that was drawn with.
package sample

// Params are the filters of one request. Temperature 0 means greedy: the other filters are then without effect.
type Params struct {
	Temperature float64 // ≥ 0
	TopK        int     // 0: off
	TopP        float64 // in (0,1]; 1: off
	MinP        float64 // in [0,1); 0: off
	// TemperatureLast applies the temperature behind the other filters, which then see the plain softmax.
	TemperatureLast bool
}

// filters reports whether any of them is on.
func (p *Params) filters() bool { return p.TopK > 0 || p.TopP < 1 || p.MinP > 0 }

// Dist is a probability for every id of the vocabulary. A one-hot Dist of token t has P nil and Hot t.
// Probabilities sum to 1 within rounding; filtered ids have exactly 0.
type Dist struct {
	P   []float64 // (vocab); nil for one-hot
	Hot int32     // meaningful when P is nil
}

// OneHot is the distribution of a deterministic choice.
func OneHot(id int32) Dist { return Dist{Hot: id} }

// Elsewhere stands for a distribution that lies on a device. All that is known of it here is that it is one to draw from.
func Elsewhere() Dist { return Dist{P: []float64{}} }

// IsElsewhere reports whether a distribution lies on a device.
func (d Dist) IsElsewhere() bool { return d.P != nil && len(d.P) == 0 }

// Prob returns the probability of id, 0 for one outside the vocabulary.
func (d Dist) Prob(id int32) float64 {
	if d.P == nil {
		if id == d.Hot {
			return 1
		}
		return 0
	}
	if id < 0 || int(id) >= len(d.P) {
		return 0
	}
	return d.P[id]
}

// Uniforms yields numbers uniform in [0,1). Stream separates the uses, so that a draw for one purpose never shifts
// another's; round and position address the draw, so that a device can reproduce it.
type Uniforms interface {
	Uniform(stream Stream, round, position int) float64
}

// Counted are Uniforms that somebody else can reproduce, such as a device, from two numbers: those given to NewPhilox.
type Counted interface {
	Uniforms
	Counter() (seed uint64, reply uint32)
}

// Stream names what a uniform is used for.
type Stream uint32

// The uses of randomness.
const (
	DraftDraw    Stream = iota // draft token i is drawn from q
	AcceptTest                 // draft token i is tested
	ResidualDraw               // the token in place of a rejected one
	BonusDraw                  // the token behind a fully accepted draft, or of a plain round
	TargetDraw                 // any token, by the rule that lets the target draw them all; position counts from the reply's beginning
)
