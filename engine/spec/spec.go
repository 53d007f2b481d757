// Package spec holds the two halves of speculation: proposers, which guess the next tokens cheaply, and the verifier,
// which keeps exactly as many guesses as leave the target's distribution untouched. It has no device code.
package spec

import (
	"context"
	"errors"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Draft is a guess: tokens, and for each the distribution it was actually drawn from. It is valid until the next Propose.
type Draft struct {
	Tokens []int32
	Q      []sample.Dist // (len(Tokens)); Elsewhere for a draft that stayed on a device
	// Temperature is the one that Tokens were drawn at; 0 for tokens that were not drawn by chance.
	Temperature float64
	// Logits of the draft model behind each token, (len(Tokens)) rows of vocab, for inspection; nil for proposers without a model, and
	// unless Ask.Inspect or Ask.Look.
	Logits [][]float32
	// LookBytes crossed from a device for Ask.Look alone.
	LookBytes int64
	// Confidence is how probable the proposer itself held each token: q, or with temperature 0 the plain softmax's
	// probability; nil for proposers that have no opinion, and when nobody asked (Ask.Continue, Ask.Inspect).
	Confidence []float64
	// Pending is the number of committed tokens that the first pass of the draft model had to read: 1 or 2 from round to
	// round, more after rounds without a draft. It explains an unusually long first step.
	Pending int
	// Read is how many committed tokens were read before that pass, by Ask.Reading.
	Read int
	// Stop says in words why drafting ended before the asked length; empty when it did not.
	Stop string
	// By names the proposer that drafted and ByWhy why it was this one, from a proposer that has others to choose from.
	By, ByWhy string
}

// ErrNoDraft means that the proposer failed in a way that concerns this round only, such as draft scores that are not
// finite: write the round without a draft and ask again in the next.
var ErrNoDraft = errors.New("no draft in this round")

// stopEnds is the Draft.Stop of a draft that ends in a stop token.
const stopEnds = "the draft ends the reply"

// Ask is what a proposer is asked for in one round.
type Ask struct {
	Gamma  int // at most so many tokens
	Params sample.Params
	// Shapers know the context. A proposer that has scores of its own shapes them, and leaves the Shapers as it found them.
	Shapers  sample.Shapers
	Uniforms sample.Uniforms
	Round    int
	// Continue, when not nil, is asked after token i (from 0) was drawn with Confidence q whether one more is worth its price.
	// It returns "" to go on, or the reason to stop. A proposer that pays nothing for a token does not ask.
	Continue func(i int, q float64) string
	// Sharpen is a factor on the temperature of the draft's distributions; 0 stands for 1.
	Sharpen float64
	// IsStop, when not nil, says which tokens end a reply: nothing is drafted behind one.
	IsStop func(id int32) bool
	// Trust is the chance that all tokens of a draft hold below which proposers that count, such as Suffix, stop.
	Trust float64
	// Reading, when not nil, is given the reading of many tokens that the proposer missed, and runs it before the first draft token is drawn:
	// so whoever asks can tell its time from that of drafting, and show its progress, which may be nil.
	Reading func(read func(progress func(done, total int)) error) error
	// Inspect asks for Draft.Logits and Draft.Confidence.
	Inspect bool
	// Look asks for the first row of Draft.Logits, wherever the draft is drawn.
	Look bool
	// Ahead, when not nil, may be given a draft that lies on a device, n tokens behind the first of t, before anybody has seen it. It
	// queues the target's pass over them, waits for both at once, and returns the draft's tokens, −1 for one that there is not, and
	// if they were drawn the probability of each.
	Ahead func(t compute.Tokens, n int) (ids []int32, q []float64, err error)
}

// Free is a Proposer that pays nothing for a token, because it only looks up: how much of a draft is worth verifying can then be
// decided when it is known.
type Free interface {
	Proposer
	Free()
}

// Reader is a Proposer that reads the context with a model, and may put that off until it is asked for a draft: one that is not asked
// costs nothing.
type Reader interface {
	Proposer
	// Follow is Begin without reading: whatever is lacking is read by the next Propose.
	Follow(tokens []int32) (reused int, err error)
	// Unread is how many tokens are lacking, the last one apart, which is always read last.
	Unread() int
}

// Proposer guesses what the target will say. Calls come from one goroutine in the order
// Begin, { Propose, Committed }…, and again Begin for the next reply; Reset and Close at any point between.
type Proposer interface {
	// Name as in the setting "proposer": "draft", "ngram", "suffix", …
	Name() string
	// Begin opens a reply whose context is tokens (prompt with history, template applied). What an earlier reply left that
	// is a prefix of tokens is kept; reused says how many tokens that was. Prefill progress goes to progress, which may be nil.
	Begin(ctx context.Context, tokens []int32, progress func(done, total int)) (reused int, err error)
	// Propose guesses up to ask.Gamma tokens behind everything committed. Fewer, even none, is no error. An error that wraps
	// ErrNoDraft costs this round its draft and nothing else.
	Propose(ctx context.Context, ask Ask) (Draft, error)
	// Committed tells which tokens were added behind the context, whether proposed or not, and rolls back what was not.
	// It must be called after every Propose, also with no tokens when a round was given up.
	Committed(tokens []int32) error
	// Len is the number of tokens in the proposer's own cache, 0 if it has none.
	Len() int
	// Reset forgets everything.
	Reset() error
	Close() error
}
