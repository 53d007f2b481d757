// Package spec holds the two halves of speculation: proposers, which guess the next tokens cheaply, and the verifier,
// which keeps exactly as many guesses as leave the target's distribution untouched. It has no device code.
package spec

import (
	"context"

	"specula/engine/sample"
)

// Draft is a guess: tokens, and for each the distribution it was actually drawn from.
type Draft struct {
	Tokens []int32
	Q      []sample.Dist // (len(Tokens)); valid until the next Propose
	// Logits of the draft model behind each token, (len(Tokens)) rows of vocab, for inspection; nil for proposers without a model.
	// Valid until the next Propose.
	Logits [][]float32
	// Stop says in words why drafting ended before the asked length; empty when it did not.
	Stop string
}

// Ask is what a proposer is asked for in one round.
type Ask struct {
	Gamma    int // at most so many tokens
	Params   sample.Params
	Uniforms sample.Uniforms
	Round    int
	// Continue, when not nil, is asked after token i (from 0) was drawn with probability q whether one more is worth its price.
	// It returns "" to go on, or the reason to stop.
	Continue func(i int, q float64) string
}

// Proposer guesses what the target will say. Calls come from one goroutine in the order
// Begin, { Propose, Committed }…, and again Begin for the next reply; Reset and Close at any point between.
type Proposer interface {
	// Name as in the setting "proposer": "draft", "ngram".
	Name() string
	// Begin opens a reply whose context is tokens (prompt with history, template applied). What an earlier reply left that
	// is a prefix of tokens is kept; reused says how many tokens that was. Prefill progress goes to progress, which may be nil.
	Begin(ctx context.Context, tokens []int32, progress func(done, total int)) (reused int, err error)
	// Propose guesses up to ask.Gamma tokens behind everything committed. Fewer, even none, is no error.
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
