package spec

import (
	"fmt"

	"specula/engine/event"
	"specula/engine/sample"
)

// Rows are the target's raw scores of one pass, as in compute.Logits. Row i predicts the token at the
// position of draft token i. One more row, the last, predicts the token after the whole draft.
type Rows interface {
	Rows() int
	Vocab() int
	Argmax(dst []int32) error
	Row(i int, dst []float32) error
}

// Edited are the Rows of a pass that the device has judged after it did what the shapers do. Argmax, or Decision
// of Decided, says what the device chose; Row gives the scores without the shapers.
type Edited interface {
	Rows
	Edited() bool // whether the device did so in this pass
}

// Drawer is the Rows of a target that drew a token at each position itself, after the draft tokens before
// it. A draft token is accepted iff the target drew the same token there. So the target draws the text,
// whatever the draft is. Its scores are only for display.
type Drawer interface {
	Rows
	Draws() []int32 // the token that the target drew for each row
}

// Terms are the settings and the state by which a round is judged.
type Terms struct {
	Params sample.Params
	// Shapers change each row of the target, in this order and depending on the tokens before the row. All
	// committed tokens have been pushed to them. Leave out shapers that have no effect any more
	// (sample.Shapers.Active), because they may force a more expensive path.
	Shapers sample.Shapers
	// Mixed: each row is computed from several rows of the model, as under guidance.
	Mixed bool
	// Device: the target's device can mix rows, do what Editable shapers do, judge by some rules, and find the
	// likeliest tokens.
	Device bool
	// Logprobs is how many log-probabilities will be asked for; see LogProbs.
	Logprobs int
	Uniforms sample.Uniforms
	Round    int
	// Written is the number of tokens that the reply had before this round.
	Written int
	// Left is the number of tokens that the reply may still have; 0: not known.
	Left int
	// Inspected: the rows will be shown, so a server must send them even if it draws the tokens itself.
	Inspected bool
	Rule      Rule
	Typical   Typical // settings of the rule typical-lossy
	// IsStop reports which tokens end the reply; nil if none do.
	IsStop func(id int32) bool
}

func (t *Terms) stops(id int32) bool { return t.IsStop != nil && t.IsStop(id) }

// Unknown stands for a number that was not needed, and so was not read.
const Unknown = -1

// Judged is one token with its verdict and the numbers of its test. Each number may be Unknown.
type Judged struct {
	ID      int32
	Verdict event.Verdict
	// P and Q are the probabilities of this token by target and draft, after all filters.
	P, Q float64
	// U is the uniform that the token was tested with. Bound is what U was compared with, if that is not
	// P/Q (rule block), or what P was compared with (rule typical-lossy).
	U, Bound float64
}

func unjudged(id int32) Judged {
	return Judged{ID: id, P: Unknown, Q: Unknown, U: Unknown, Bound: Unknown}
}

// Outcome is the result of a round.
type Outcome struct {
	Path     Path
	Draft    []Judged // every draft token, in order
	Accepted int      // how many of the first draft tokens were accepted
	Tested   int      // Accepted, plus 1 if a token was rejected
	// Commit is the token drawn from the target: resampled, bonus or plain. Its Verdict is empty if
	// there is no such token, because an accepted stop token or an error ended the round.
	Commit Judged
	// Stop: the last committed token ends the reply.
	Stop bool
}

// Committed returns the ids that this round adds to the reply, in order.
func (o *Outcome) Committed() []int32 {
	ids := make([]int32, 0, o.Accepted+1)
	for _, t := range o.Draft[:o.Accepted] {
		ids = append(ids, t.ID)
	}
	if o.Commit.Verdict != "" {
		ids = append(ids, o.Commit.ID)
	}
	return ids
}

// Verifier finds out which draft tokens stay. It has memory for rows of one vocabulary. Only one
// goroutine may use it at a time.
type Verifier struct {
	sampler sample.Sampler
	scores  []float32 // memory for one row of the target's scores
	p       []float64 // memory for the distribution made from scores
	other   []float64 // memory of Overlaps: a second distribution
	best    []int32   // memory of argmaxes: a token for each row

	argmaxes argmaxes
	plain    plain
	shaped   shaped

	evidence evidence
	same     equality // the rule at temperature 0, in place of every other
	token    tokenwise
	block    blockwise
	exact    exactMatch
	typical  typical
	others   comparison
}

// NewVerifier returns a verifier.
func NewVerifier() *Verifier { return &Verifier{token: newTokenwise(), block: newBlockwise()} }

// Verify judges a draft by the first len(draft.Tokens)+1 rows of the target. Unless the rule is lossy, the
// tokens of Outcome.Committed have exactly the distribution of tokens drawn from the target one by one.
// With an empty draft it is a plain round.
//
// Verify reads rows only as far as the rule needs them. If such a row is not finite, the error wraps
// compute.ErrNotFinite; the outcome then holds the tokens that were accepted before, and no Commit.
func (v *Verifier) Verify(target Rows, draft Draft, terms Terms) (Outcome, error) {
	n := len(draft.Tokens)
	if len(draft.Q) != n || target.Rows() <= n {
		return Outcome{}, fmt.Errorf("verifying a draft of %d tokens: %d draft distributions and %d target rows, need %d and %d",
			n, len(draft.Q), target.Rows(), n, n+1)
	}
	var out Outcome
	out.Path = Eligible(&terms)
	if done, ok := target.(Edited); len(terms.Shapers) > 0 && !(ok && done.Edited()) {
		out.Path = Fallback // the device has not judged this draft
	}
	out.Draft = make([]Judged, n)
	for i, id := range draft.Tokens {
		out.Draft[i] = unjudged(id)
		out.Draft[i].Verdict = event.Discarded
	}
	if made, ok := target.(Decided); ok && out.Path == Stochastic {
		f := foreseen{decision: made.Decision(), rule: terms.Rule.traits().device}
		if f.decision.Follows < 0 && len(terms.Shapers) > 0 { // they may leave no token, or only the end of the reply
			out.Path = Fallback
			v.fit(target.Vocab())
			v.sampler.Use(target)
			p, err := v.predict(Fallback, target, draft.Tokens, terms)
			if err != nil {
				return out, err
			}
			defer p.close()
			f.host = &onHost{p, v.acceptance(terms.Rule, terms.Params)}
		}
		return out, f.repeat(&evidence{draft: draft, terms: terms, judged: out.Draft}, &out)
	}
	if made, ok := target.(Drawer); ok {
		out.Path = Drawn
		v.argmaxes = argmaxes{v: v, target: target, best: made.Draws()}
		return out, decide(&v.argmaxes, &v.same, &evidence{draft: draft, terms: terms, judged: out.Draft}, &out)
	}
	v.fit(target.Vocab())
	v.sampler.Use(target)
	p, err := v.predict(out.Path, target, draft.Tokens, terms)
	if err != nil {
		return out, fmt.Errorf("verifying a draft of %d tokens: %w", n, err)
	}
	defer p.close()
	v.evidence = evidence{draft: draft, terms: terms, judged: out.Draft}
	if err := decide(p, v.acceptance(terms.Rule, terms.Params), &v.evidence, &out); err != nil {
		return out, fmt.Errorf("verifying row %d of %d: %w", out.Accepted, n+1, err)
	}
	return out, nil
}

// fit makes the scratch rows as long as the vocabulary.
func (v *Verifier) fit(vocab int) {
	if len(v.scores) != vocab {
		v.scores = make([]float32, vocab)
		v.p = make([]float64, vocab)
	}
}

// decide runs a round: it weighs draft tokens as far as needed and accepts what the rule accepts. Then it
// adds one token of the target, unless the last accepted token is a stop token.
func decide(p predictions, rule acceptance, e *evidence, out *Outcome) error {
	// No token after a stop token can become part of the reply, so the draft ends there.
	n := len(e.judged)
	for i := range e.judged {
		if e.terms.stops(e.judged[i].ID) {
			n = i + 1
			break
		}
	}
	weighed, errRow := weigh(p, rule, e, n)
	kept := rule.settle(e, weighed)
	out.Accepted, out.Tested = kept, kept
	for i := range kept {
		out.Draft[i].Verdict = event.Accepted
	}
	if errRow != nil && kept == weighed {
		return errRow // the row that could not be read is the row that is needed next
	}
	if kept < n {
		out.Tested++
		out.Draft[kept].Verdict = event.Rejected
		out.closeWith(rule.replace(e, kept), event.Resampled, &e.terms)
		return nil
	}
	if n > 0 && e.terms.stops(out.Draft[n-1].ID) {
		out.Stop = true
		return nil
	}
	last, err := p.at(n)
	if err != nil {
		return err
	}
	verdict := event.Bonus
	if n == 0 {
		verdict = event.Plain
	}
	out.closeWith(rule.follow(e, n, last), verdict, &e.terms)
	return nil
}

// weigh shows the rule the first n draft tokens, until the rule needs no more or a row cannot be read.
// It returns how many tokens the rule has seen.
func weigh(p predictions, rule acceptance, e *evidence, n int) (int, error) {
	rule.begin()
	for i := range n {
		row, err := p.at(i)
		if err != nil {
			return i, err
		}
		if !rule.weigh(e, i, row) {
			return i + 1, nil
		}
	}
	return n, nil
}

func (o *Outcome) closeWith(commit Judged, verdict event.Verdict, terms *Terms) {
	commit.Verdict = verdict
	o.Commit = commit
	o.Stop = terms.stops(commit.ID)
}
