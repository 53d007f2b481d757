// Package spec holds the two halves of speculation: proposers, which draft the next tokens cheaply, and the verifier, which
// accepts draft tokens so that the text keeps the target's distribution. It has no device code.
package spec

import (
	"context"
	"errors"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Draft holds draft tokens and, for each, the distribution q that it was drawn from. It is valid until the next Propose.
type Draft struct {
	Tokens []int32
	Q      []sample.Dist // (len(Tokens)); Elsewhere for a draft that stayed on a device
	// Temperature is the temperature at which Tokens were drawn; 0 for tokens that were not sampled.
	Temperature float64
	// Logits are the draft model's logits for each token, (len(Tokens)) rows of vocab, for inspection. They are nil for proposers
	// without a model, and unless Ask.Inspect or Ask.Look is set.
	Logits [][]float32
	// LookBytes is the number of bytes that crossed from a device only because of Ask.Look.
	LookBytes int64
	// Confidence is the proposer's own probability of each token: q, or at temperature 0 the probability of the plain softmax. It
	// is nil for proposers without probabilities, and unless Ask.Continue or Ask.Inspect is set.
	Confidence []float64
	// Pending is the number of committed tokens that the first pass of the draft model had to read: 1 or 2 from round to
	// round, more after rounds without a draft. It explains an unusually long first step.
	Pending int
	// Read is the number of committed tokens that were read before that pass, by Ask.Reading.
	Read int
	// Stop says in words why the draft is shorter than asked for; empty if it is not.
	Stop string
	// By names the proposer that drafted, and ByWhy says why it was this one. Only a proposer that chooses among others sets them.
	By, ByWhy string
}

// ErrNoDraft means that the proposer failed in this round only, for example because its logits are not finite. The round goes on
// without a draft, and the next round asks again.
var ErrNoDraft = errors.New("no draft in this round")

// stopEnds is the Draft.Stop of a draft that ends in a stop token.
const stopEnds = "the draft ends the reply"

// Ask is one round's question to a proposer.
type Ask struct {
	Gamma  int // at most so many tokens
	Params sample.Params
	// Shapers have read the context. A proposer with logits of its own shapes them, and leaves the Shapers in the state in which it
	// found them.
	Shapers  sample.Shapers
	Uniforms sample.Uniforms
	Round    int
	// Continue, when not nil, says whether one more draft token is worth its price after token i (from 0) was drawn with Confidence
	// q. It returns "" to go on, or the reason to stop. A proposer whose tokens cost nothing does not call it.
	Continue func(i int, q float64) string
	// Sharpen is a factor on the temperature of the draft's distributions; 0 stands for 1.
	Sharpen float64
	// IsStop, when not nil, reports which tokens end a reply. A draft ends with such a token.
	IsStop func(id int32) bool
	// Trust is for proposers that count, such as Suffix: they end a draft before the probability that all its tokens are right falls
	// below Trust.
	Trust float64
	// Reading, when not nil, runs the function that reads many missed tokens before the first draft token. So the caller can time
	// it apart from drafting and show its progress. The progress function may be nil.
	Reading func(read func(progress func(done, total int)) error) error
	// Inspect asks for Draft.Logits and Draft.Confidence.
	Inspect bool
	// Look asks for the first row of Draft.Logits, also when the draft is drawn on a device.
	Look bool
	// Ahead, when not nil, takes a draft that is still on a device: the n tokens after the first of t. It queues the target's pass
	// over them and waits for both together. It returns the draft's tokens, −1 for a missing one, and if they were sampled the
	// probability of each.
	Ahead func(t compute.Tokens, n int) (ids []int32, q []float64, err error)
}

// Free is a Proposer whose tokens cost nothing, because it only looks them up. So how much of a draft is worth verifying can be
// decided after the draft is known.
type Free interface {
	Proposer
	Free()
}

// Reader is a Proposer that reads the context with a model, and can delay this until it is asked for a draft. As long as it is not
// asked, it costs nothing.
type Reader interface {
	Proposer
	// Follow is Begin without reading. The next Propose reads what is missing.
	Follow(tokens []int32) (reused int, err error)
	// Unread is the number of missing tokens. The last token does not count: it is read with every draft.
	Unread() int
}

// Proposer drafts the tokens that the target may write next. Calls come from one goroutine in the order
// Begin, { Propose, Committed }…, and again Begin for the next reply; Reset and Close at any point between.
type Proposer interface {
	// Name as in the setting "proposer": "draft", "ngram", "suffix", …
	Name() string
	// Begin opens a reply whose context is tokens: the prompt with its history, template applied. It keeps what it has from earlier
	// replies as far as that is a prefix of tokens; reused is its length. Prefill calls progress, which may be nil.
	Begin(ctx context.Context, tokens []int32, progress func(done, total int)) (reused int, err error)
	// Propose drafts up to ask.Gamma tokens after the committed ones. Fewer tokens, or none, are no error. After an error that wraps
	// ErrNoDraft, only this round has no draft.
	Propose(ctx context.Context, ask Ask) (Draft, error)
	// Committed adds tokens to the context, whether they were drafted or not, and rolls back draft tokens that are not among them.
	// It must be called after every Propose, with no tokens if the round was given up.
	Committed(tokens []int32) error
	// Len is the number of tokens in the proposer's own cache, 0 if it has none.
	Len() int
	// Reset forgets everything.
	Reset() error
	Close() error
}
