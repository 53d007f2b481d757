// Package sample turns a row of logits into the distribution that a token is drawn from, and draws
// from it.
//
// Read it in this order. Params are the filters of a request. Sampler.FromLogits applies them to a
// row and returns a Dist. Draw picks a token from a Dist by a uniform number, and Residual gives
// the distribution to draw from after a rejection. Uniforms supply the random numbers (NewPhilox).
// A Shaper edits the logits before all this: penalties, bans, a grammar.
//
// The order of filters is temperature, top-k, top-p, min-p. With Params.TemperatureLast it is
// top-k, top-p, min-p, temperature. Each filter works on the tokens that the one before left.
//
// One invariant: the Dist that is recorded for a draft token is exactly the Dist it was drawn from.
// Speculation is lossless only under this condition.
package sample

// Params are the filters of one request. Temperature 0 means greedy; the other filters then have no
// effect.
type Params struct {
	Temperature float64 // ≥ 0
	TopK        int     // 0: off
	TopP        float64 // in (0,1]; 1: off
	MinP        float64 // in [0,1); 0: off
	// TemperatureLast applies the temperature after the other filters. So these see the softmax at
	// temperature 1.
	TemperatureLast bool
}

// filters reports whether top-k, top-p or min-p is on.
func (p *Params) filters() bool { return p.TopK > 0 || p.TopP < 1 || p.MinP > 0 }

// Dist holds a probability for every id of the vocabulary. A one-hot Dist of token t has P nil and
// Hot t. Probabilities sum to 1 within rounding; an id that a filter removed has exactly 0.
type Dist struct {
	P   []float64 // by id; nil for one-hot
	Hot int32     // valid when P is nil
}

// OneHot is the distribution of a deterministic choice.
func OneHot(id int32) Dist { return Dist{Hot: id} }

// Elsewhere stands for a distribution that stays on a device. Its values are not known here. It only says
// that the token was drawn from a distribution, and not chosen greedily.
func Elsewhere() Dist { return Dist{P: []float64{}} }

// IsElsewhere reports whether a distribution stays on a device.
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

// Uniforms yields numbers uniform in [0,1). Each use of randomness has a stream of its own, so that
// a draw for one purpose never shifts the draws for another. Round and position are the address of
// a draw within its stream, so that a device can compute the same number.
type Uniforms interface {
	Uniform(stream Stream, round, position int) float64
}

// Counted are Uniforms that NewPhilox has made from two numbers, seed and reply. With these two numbers a device
// can compute the same uniforms.
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
	ResidualDraw               // the token that replaces a rejected one
	BonusDraw                  // the bonus token of a fully accepted draft, or a plain round's token
	// TargetDraw is for every token under the rule exact, which draws all tokens from the target. Its
	// positions count from the start of the reply.
	TargetDraw
)
