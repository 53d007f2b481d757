package spec

import (
	"fmt"

	"specula/engine/event"
	"specula/engine/sample"
)

// Rows are the target's raw scores of one pass, as compute.Logits has them: row i is the prediction at the place of draft
// token i, and the row behind the last one predicts what follows the whole draft.
type Rows interface {
	Rows() int
	Vocab() int
	Argmax(dst []int32) error
	Row(i int, dst []float32) error
}

// Terms are what a round is judged by.
type Terms struct {
	Params sample.Params
	// Shapers change the target's rows in the light of the tokens before each, in this order; every committed token has been
	// pushed. See sample.Shapers.Active: one whose effect is over would only cost a better path.
	Shapers sample.Shapers
	// Mixed says in words why the target's rows are not those of a single pass, such as guidance; empty if they are.
	Mixed string
	// Logprobs is how many log-probabilities will be asked for, see LogProbs.
	Logprobs int
	Uniforms sample.Uniforms
	Round    int
	// Written counts the tokens that the reply has before this round.
	Written int
	Rule    Rule
	Typical Typical // of the rule typical-lossy
	// IsStop says which tokens end the reply; nil for none.
	IsStop func(id int32) bool
}

func (t *Terms) stops(id int32) bool { return t.IsStop != nil && t.IsStop(id) }

// Unknown stands for a number that was not needed and therefore never read.
const Unknown = -1

// Judged is one token and the numbers that decided about it. Each may be Unknown.
type Judged struct {
	ID      int32
	Verdict event.Verdict
	// P and Q are what target and draft gave to this token after all filters.
	P, Q float64
	// U is the uniform it was tested with, and Bound what the test compared with if that is not P/Q; see the rules.
	U, Bound float64
}

func unjudged(id int32) Judged {
	return Judged{ID: id, P: Unknown, Q: Unknown, U: Unknown, Bound: Unknown}
}

// Outcome is what came of a round.
type Outcome struct {
	Path     Path
	PathWhy  string
	Draft    []Judged // every draft token, in order
	Accepted int      // the first so many draft tokens were kept
	Tested   int      // Accepted, plus one if a token was rejected
	// Commit is the token drawn from the target: resampled, bonus or plain. Its Verdict is empty if an accepted stop token or
	// an error left none.
	Commit Judged
	// Stop means that the last committed token ends the reply.
	Stop bool
}

// Committed returns the ids this round adds to the reply, in order.
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

// Verifier decides which draft tokens stay. It keeps the scratch rows of one vocabulary and serves one goroutine.
type Verifier struct {
	sampler sample.Sampler
	scores  []float32 // (vocab) one row of the target
	p       []float64 // (vocab) its distribution
	other   []float64 // (vocab) a distribution to compare with
	best    []int32   // (rows)

	argmaxes argmaxes
	plain    plain
	shaped   shaped

	evidence evidence
	same     equality // of every rule at temperature 0
	token    tokenwise
	block    blockwise
	exact    exactMatch
	typical  typical
	others   comparison
}

// NewVerifier returns a verifier.
func NewVerifier() *Verifier { return &Verifier{token: newTokenwise(), block: newBlockwise()} }

// Verify judges a draft by the target's rows, len(draft.Tokens)+1 of them. Unless the rule is lossy, the tokens of
// Outcome.Committed have exactly the distribution of tokens drawn from the target one by one. An empty draft is a plain round.
//
// Rows are read as far as the rule needs them and no further. Scores there that are not finite give an error that wraps
// compute.ErrNotFinite; the outcome then still holds what was accepted before, and no commit.
func (v *Verifier) Verify(target Rows, draft Draft, terms Terms) (Outcome, error) {
	n := len(draft.Tokens)
	if len(draft.Q) != n || target.Rows() <= n {
		return Outcome{}, fmt.Errorf("verifying a draft of %d tokens: %d draft distributions and %d target rows, need %d and %d",
			n, len(draft.Q), target.Rows(), n, n+1)
	}
	var out Outcome
	out.Path, out.PathWhy = Eligible(&terms)
	out.Draft = make([]Judged, n)
	for i, id := range draft.Tokens {
		out.Draft[i] = unjudged(id)
		out.Draft[i].Verdict = event.Discarded
	}
	if made, ok := target.(Decided); ok && out.Path == Stochastic {
		f := foreseen{decision: made.Decision()}
		return out, f.repeat(&evidence{draft: draft, terms: terms, judged: out.Draft}, &out)
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

// fit makes the scratch rows those of a vocabulary.
func (v *Verifier) fit(vocab int) {
	if len(v.scores) != vocab {
		v.scores = make([]float32, vocab)
		v.p = make([]float64, vocab)
	}
}

// decide is the round: weigh draft tokens as far as it matters, keep what the rule keeps, and close with one token of the
// target's own.
func decide(p predictions, rule acceptance, e *evidence, out *Outcome) error {
	// Nothing behind a stop token can become part of the reply, so the draft ends there.
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
		return errRow // the row that could not be read is the one that decides
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

// weigh shows the rule the first n draft tokens until it has seen enough or a row cannot be read, and returns how many it has
// seen.
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
