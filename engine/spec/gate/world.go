// Package gate is the statistical test of losslessness. It lets a verifier, a proposer with a verifier, or
// a whole engine write many short replies in a small artificial language. The exact distribution of this
// language is known. The gate tests whether the replies have this distribution. It is for tests only.
//
// The language is a Markov chain that changes with the position: the next token depends on the position
// and on the token before. This is enough to find mistakes about history: judging a token by the row of
// its neighbour, for example, changes the joint distribution of adjacent tokens.
package gate

import (
	"math"
	"math/rand/v2"
	"slices"

	"specula/engine/compute"
	"specula/engine/oracle"
	"specula/engine/sample"
)

// Root is the token before each reply.
const Root int32 = 0

// Pairing says how the draft's distribution relates to the target's.
type Pairing string

// The pairings.
const (
	Near       Pairing = "near"       // q ≈ p
	Equal      Pairing = "equal"      // q = p
	Opposed    Pairing = "opposed"    // what p likes best, q likes least
	Unlike     Pairing = "unlike"     // q is independent of p
	Certain    Pairing = "certain"    // p is nearly one-hot
	Partial    Pairing = "partial"    // every second token that the draft knows has p = 0
	Disjoint   Pairing = "disjoint"   // no token has both p > 0 and q > 0
	Impossible Pairing = "impossible" // q is one-hot on a token with p = 0
)

// Pairings lists them all.
var Pairings = [...]Pairing{Near, Equal, Opposed, Unlike, Certain, Partial, Disjoint, Impossible}

// World is an artificial language with the scores of a target and of a draft.
type World struct {
	Vocab  int
	Depth  int // positions that have scores
	Params sample.Params
	target [][]float32 // raw scores: a row of Vocab scores for each position and each token before it
	draft  [][]float32 // raw scores of the draft, arranged like target
	exact  [][]float64 // for each position and token before it: the target's distribution under Params, from package oracle
}

// NewWorld makes a language with the given numbers of tokens and positions. The same seed gives the
// same world.
func NewWorld(vocab, depth int, params sample.Params, pairing Pairing, seed uint64) *World {
	rng := rand.New(rand.NewPCG(seed, uint64(vocab)))
	w := &World{Vocab: vocab, Depth: depth, Params: params}
	for range depth * vocab {
		target, draft := make([]float32, vocab), make([]float32, vocab)
		for id := range target {
			target[id] = float32(2.5 * rng.NormFloat64())
			draft[id] = target[id] + float32(rng.NormFloat64())
		}
		pair(pairing, target, draft, rng)
		w.target = append(w.target, target)
		w.draft = append(w.draft, draft)
		w.exact = append(w.exact, oracle.Distribution(target, params))
	}
	return w
}

// Round rounds all scores as a device does, for example to half precision, and recomputes the exact
// distribution from them.
func (w *World) Round(round func(float32) float32) {
	for i, target := range w.target {
		for id := range target {
			target[id], w.draft[i][id] = round(target[id]), round(w.draft[i][id])
		}
		w.exact[i] = oracle.Distribution(target, w.Params)
	}
}

// Damage makes the draft's scores after each odd token NaN, like those of a model whose activations
// overflow there. So whether a draft ends early depends on the tokens drawn. After Root, which is
// even, scores are finite.
func (w *World) Damage() {
	for i, scores := range w.draft {
		if before := i % w.Vocab; before%2 == 0 {
			continue
		}
		for id := range scores {
			scores[id] = float32(math.NaN())
		}
	}
}

// Mask forbids tokens in the language, as the form of a reply does. The scores stay as they are, since whoever
// draws from them has to mask them. Call it after Round.
func (w *World) Mask(allowed func(position int, before, id int32) bool) {
	for i, target := range w.target {
		masked := slices.Clone(target)
		for id := range masked {
			if !allowed(i/w.Vocab, int32(i%w.Vocab), int32(id)) {
				masked[id] = float32(math.Inf(-1))
			}
		}
		w.exact[i] = oracle.Distribution(masked, w.Params)
	}
}

func pair(pairing Pairing, target, draft []float32, rng *rand.Rand) {
	none := float32(math.Inf(-1))
	for id := range target {
		odd := id%2 == 1
		switch pairing {
		case Equal:
			draft[id] = target[id]
		case Opposed:
			draft[id] = -target[id]
		case Unlike:
			draft[id] = float32(2.5 * rng.NormFloat64())
		case Certain:
			target[id] *= 8
		case Partial:
			if odd {
				target[id] = none
			}
		case Disjoint:
			if odd {
				target[id] = none
			} else {
				draft[id] = none
			}
		case Impossible:
			if id == len(target)-1 {
				target[id] = none
			} else {
				draft[id] = none
			}
		}
	}
}

func (w *World) row(position int, before int32) int { return position*w.Vocab + int(before) }

// TargetScores returns the target's raw scores for the token at a position, given the token before.
func (w *World) TargetScores(position int, before int32) []float32 {
	return w.target[w.row(position, before)]
}

// DraftScores returns the draft's raw scores for the token at a position, given the token before.
func (w *World) DraftScores(position int, before int32) []float32 {
	return w.draft[w.row(position, before)]
}

// P returns the exact distribution of the token at a position, given the token before.
func (w *World) P(position int, before int32) []float64 { return w.exact[w.row(position, before)] }

// Rows returns the target's scores after each of tokens, as a forward pass over these tokens gives
// them. tokens[0] is the token before position first.
func (w *World) Rows(first int, tokens []int32) Rows { return Rows{w, first, tokens} }

// Rows is one pass of the target; it has the methods of compute.Logits that a verifier reads.
type Rows struct {
	world  *World
	first  int
	tokens []int32
}

func (r Rows) Rows() int  { return len(r.tokens) }
func (r Rows) Vocab() int { return r.world.Vocab }

func (r Rows) Row(i int, dst []float32) error {
	copy(dst, r.world.TargetScores(r.first+i, r.tokens[i]))
	return nil
}

func (r Rows) Argmax(dst []int32) error {
	for i, before := range r.tokens {
		best, err := sample.Argmax(r.world.TargetScores(r.first+i, before))
		if err != nil {
			return err
		}
		dst[i] = best
	}
	return nil
}

func (r Rows) Moved() (int64, int) { return 0, 0 }

var _ compute.Logits = Rows{}
