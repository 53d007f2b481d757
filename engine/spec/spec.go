// Package spec holds the two halves of speculation: proposers, which draft the next tokens cheaply, and
// the verifier, which accepts draft tokens so that the text keeps the target's distribution. It has no
// device code.
package spec

import (
	"context"
	"errors"
	"slices"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Draft holds draft tokens and, for each, the distribution q that it was drawn from. It is valid until
// the next Propose.
type Draft struct {
	Tokens []int32
	Q      []sample.Dist // (len(Tokens)); Elsewhere for a draft that stayed on a device
	// Temperature is the temperature at which Tokens were drawn; 0 for tokens that were not sampled.
	Temperature float64
	// Logits are the draft model's logits for each token, (len(Tokens)) rows of vocab, if
	// Ask.Inspect is set; with Ask.Look alone, only the first row. They are nil for proposers
	// without a model.
	Logits [][]float32
	// LookBytes is the number of bytes that crossed from a device only because of Ask.Inspect or
	// Ask.Look.
	LookBytes int64
	// Confidence is the proposer's own probability of each token: q, or at temperature 0 the
	// probability of the plain softmax; for a lookup, its guess how likely the token is to hold. A
	// draft model gives it only if Ask.Continue or Ask.Inspect is set, or if the draft was sampled
	// on a device; otherwise it is nil. It is nil, too, for proposers without probabilities.
	Confidence []float64
	// Pending is the number of committed tokens that the first pass of the draft model had to read: 1
	// or 2 from round to round, more after rounds without a draft. It explains an unusually long first
	// step.
	Pending int
	// Unread is the number of committed tokens that the proposer has missed and must read before it
	// drafts; there is no draft yet. Call Read, then Propose again. So the caller can time this
	// reading apart from drafting and show its progress. It is 0 if the draft is made.
	Unread int
	// Device is not nil while the draft is still on a device. Tokens is empty then, until Seen
	// fills it in.
	Device *OnDevice
	// Stop says in words why the draft is shorter than asked for; empty if it is not.
	Stop string
	// By names the proposer that drafted, and ByWhy says why it was this one. Only a proposer that
	// chooses among others sets them.
	By, ByWhy string
}

// CertainDraft is a draft of tokens that were not drawn at random.
func CertainDraft(ids []int32) Draft {
	d := Draft{Tokens: slices.Clone(ids), Q: make([]sample.Dist, len(ids))}
	for i, id := range ids {
		d.Q[i] = sample.OneHot(id)
	}
	return d
}

// ErrNoDraft means that the proposer failed in this round only, for example because its logits are not
// finite. The round goes on without a draft, and the next round asks again.
var ErrNoDraft = errors.New("no draft in this round")

// stopEnds is the Draft.Stop of a draft that ends in a stop token.
const stopEnds = "the draft ends the reply"

// Ask is one round's question to a proposer.
type Ask struct {
	Gamma  int // at most so many tokens
	Params sample.Params
	// Shapers have read the context. A proposer with logits of its own shapes them, and leaves the
	// Shapers in the state in which it found them.
	Shapers  sample.Shapers
	Uniforms sample.Uniforms
	Round    int
	// Continue, when not nil, says whether one more draft token is worth its price after token i
	// (from 0) was drawn with Confidence q. It returns "" to go on, or the reason to stop. It is
	// not called by a proposer whose tokens cost nothing, nor for a draft that a device makes
	// without the host.
	Continue func(i int, q float64) string
	// Sharpen is a factor on the temperature of the draft's distributions; 0 stands for 1.
	Sharpen float64
	// IsStop, when not nil, reports which tokens end a reply. A draft ends with such a token.
	IsStop func(id int32) bool
	// Trust is for proposers that count, such as Suffix: they end a draft before the probability that
	// all its tokens are right falls below Trust.
	Trust float64
	// Inspect asks for Draft.Logits and Draft.Confidence.
	Inspect bool
	// Look asks for the first row of Draft.Logits, also when the draft is drawn on a device.
	Look bool
	// OnDevice says that the target can verify a draft that is still on its device: Draft.Device is allowed.
	OnDevice bool
}

// Proposer drafts the tokens that the target may write next. Calls come from one goroutine in the order
// Begin, { Propose, Committed }…, and again Begin for the next reply; Read before Propose; Reset and
// Close at any point between.
type Proposer interface {
	// Name as in the setting "proposer": "draft", "ngram", "suffix", …
	Name() string
	// Begin opens a reply whose context is tokens: the prompt with its history, template applied. It
	// keeps what it has from earlier replies as far as that is a prefix of tokens; reused is its
	// length. It runs no model.
	Begin(tokens []int32) (reused int, err error)
	// Unread is the number of committed tokens that a model has to read before the next draft. The last
	// token does not count: it is read with every draft. It is 0 where that is not known before the
	// draft.
	Unread() int
	// Read reads the unread tokens and calls progress, which may be nil. What was read before an
	// error stays read.
	Read(ctx context.Context, progress func(done, total int)) error
	// Propose drafts up to ask.Gamma tokens after the committed ones. Fewer tokens, or none, are no
	// error. After an error that wraps ErrNoDraft, only this round has no draft.
	Propose(ctx context.Context, ask Ask) (Draft, error)
	// Committed adds tokens to the context, whether they were drafted or not, and rolls back draft
	// tokens that are not among them. It must be called after every Propose, with no tokens if the
	// round was given up.
	Committed(tokens []int32) error
	// Len is the number of tokens in the proposer's own cache, 0 if it has none.
	Len() int
	// Reset forgets everything.
	Reset() error
	Close() error
}

// OnDevice is a draft that the host has not seen: the N tokens after the first of Tokens.
type OnDevice struct {
	Tokens compute.Tokens
	N      int
	seen   func(draft *Draft, ids []int32, q []float64) error
}

// Seen fills in the draft once the host knows its tokens. ids has N tokens, −1 for a missing one; q
// has the probability of each if they were sampled, else it is nil. An error of Seen means what one
// of Propose means.
func (o *OnDevice) Seen(draft *Draft, ids []int32, q []float64) error { return o.seen(draft, ids, q) }

// noModel has the methods of a Proposer that only looks tokens up.
type noModel struct{}

func (noModel) Unread() int                                { return 0 }
func (noModel) Read(context.Context, func(int, int)) error { return nil }
func (noModel) Len() int                                   { return 0 }
func (noModel) Close() error                               { return nil }
