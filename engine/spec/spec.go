// Package spec holds the two halves of speculation. Proposers draft the next tokens cheaply. The verifier
// accepts draft tokens so that the text keeps the target's distribution. The package has no device code.
package spec

import (
	"context"
	"errors"
	"slices"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Draft holds draft tokens and, for each token, the distribution q that it was drawn from. A Draft is
// valid until the next Propose.
type Draft struct {
	Tokens []int32
	// Q has one distribution for each of Tokens: sample.Elsewhere for a token that was sampled on a device,
	// unless Ask.Inspect is set.
	Q []sample.Dist
	// Temperature is the temperature at which Tokens were drawn; 0 for tokens that were not sampled, and
	// for the tokens of Retold.
	Temperature float64
	// Logits has one row of the draft model's scores for each token, by the target's ids and after the
	// shapers, if Ask.Inspect is set. With Ask.Look alone, it has the first row of a sampled draft. It is
	// nil for proposers without a model, and for Retold.
	Logits [][]float32
	// LookBytes is how many bytes of a draft that a device sampled were copied to the host only because of
	// Ask.Inspect or Ask.Look.
	LookBytes int64
	// Confidence is the proposer's own probability of each token. For a model it is q, or at temperature 0
	// the probability by the softmax at temperature 1; for a lookup, an estimate. A draft model gives it only
	// if Ask.Continue or Ask.Inspect is set, or if the draft was sampled on a device. Otherwise, and for
	// proposers without probabilities, it is nil.
	Confidence []float64
	// Pending is how many committed tokens the proposer's model had to read for this draft. For a draft
	// model, that is 1 or 2 in consecutive rounds, and more after rounds without a draft. Heads read all
	// tokens of the last round. A large Pending explains an unusually long first step.
	Pending int
	// Unread, if not 0, is how many committed tokens the proposer must read before it drafts; there is
	// no draft yet. Call Read, then Propose again. This way the caller can time the reading apart from
	// the drafting, and show its progress.
	Unread int
	// Device is set if the draft was left on a device. Until Seen fills in the draft, Tokens is empty.
	Device *OnDevice
	// Drawn are the tokens on a device that has drawn the draft, if the host knows the draft already. The
	// device still has the distributions q.
	Drawn compute.Tokens
	// Stop says why the draft is shorter than asked for, or that it ends with a stop token; else it is "".
	Stop string
	// By names the proposer that made the draft, and ByWhy says why it was chosen. Only a proposer that
	// chooses among others sets them.
	By, ByWhy string
}

// CertainDraft makes a draft of tokens that were not drawn at random: each q is one-hot.
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

// stopEnds is Draft.Stop of a draft that ends with a stop token.
const stopEnds = "the draft ends the reply"

// Ask is one round's question to a proposer.
type Ask struct {
	Gamma  int // largest number of tokens to draft
	Params sample.Params
	// Shapers have read the context. A proposer with logits of its own applies them, and restores their
	// state afterwards.
	Shapers  sample.Shapers
	Uniforms sample.Uniforms
	Round    int
	// Rule and Written are those of Terms. A draft that is sampled on a device needs them: they become part of
	// the settings by which the device draws and judges.
	Rule    Rule
	Written int
	// Continue decides after token i (from 0), drawn with Confidence q, whether one more draft token
	// is worth its cost. It returns "" to go on, or the reason to stop; nil: always go on. Lookups do
	// not call it, because their tokens cost nothing, nor do drafts that a device makes without the
	// host, nor greedy drafts whose tokens a device picks.
	Continue func(i int, q float64) string
	// Sharpen is the draft's temperature divided by the target's; 0 stands for 1.
	Sharpen float64
	// IsStop, if not nil, reports which tokens end a reply. A draft ends with the first of them.
	IsStop func(id int32) bool
	// Trust is for proposers that count occurrences, such as Suffix. They end a draft before the
	// probability that all its tokens are right falls below Trust.
	Trust float64
	// Inspect asks for Draft.Logits and Draft.Confidence.
	Inspect bool
	// Look asks for the first row of Draft.Logits, even if the draft is drawn on a device.
	Look bool
	// OnDevice: the target can verify a draft that is still on its device, so Draft.Device may be set.
	OnDevice bool
}

// Proposer drafts the tokens that the target may write next. One goroutine calls it, in this order:
// Begin, { Propose, Committed }…, then Begin for the next reply. Read comes before Propose. Reset and
// Close may come between any two calls.
type Proposer interface {
	// Name as in the setting "proposer": "draft", "ngram", "suffix", …
	Name() string
	// Begin opens a reply whose context is tokens: the rendered prompt with its history. The proposer
	// keeps what it has read as far as it is a prefix of tokens, and returns the length of that prefix.
	// Begin runs no model.
	Begin(tokens []int32) (reused int, err error)
	// Unread is the number of committed tokens that a model has to read before the next draft. It does
	// not count the last token, which is read with every draft. It is 0 if the number is not known
	// before the draft.
	Unread() int
	// Read reads the unread tokens and calls progress, which may be nil. After an error, the tokens
	// that were read stay read.
	Read(ctx context.Context, progress func(done, total int)) error
	// Propose drafts up to ask.Gamma tokens after the committed ones. It may return fewer or none. After
	// an error that wraps ErrNoDraft, only this round has no draft.
	Propose(ctx context.Context, ask Ask) (Draft, error)
	// Committed adds tokens to the context, whether they were drafted or not, and rolls back draft
	// tokens that are not among them. Call it after every Propose, with no tokens if the round was
	// given up.
	Committed(tokens []int32) error
	// Len is the number of tokens in the proposer's own cache, 0 if it has none.
	Len() int
	// Reset forgets everything.
	Reset() error
	Close() error
}

// OnDevice is a draft that the host has not seen: N tokens in Tokens, from index 1 on.
type OnDevice struct {
	Tokens compute.Tokens
	N      int
	seen   func(draft *Draft, ids []int32, q []float64) error
}

// Seen fills in the draft once the host knows its tokens. ids has N tokens, −1 for a missing one. If
// the tokens were sampled, q has the probability of each, else it is nil. Errors mean the same as
// those of Propose.
func (o *OnDevice) Seen(draft *Draft, ids []int32, q []float64) error { return o.seen(draft, ids, q) }

// noModel has the Proposer methods that are empty for a lookup.
type noModel struct{}

func (noModel) Unread() int                                { return 0 }
func (noModel) Read(context.Context, func(int, int)) error { return nil }
func (noModel) Len() int                                   { return 0 }
func (noModel) Close() error                               { return nil }
