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
	Params   sample.Params
	Uniforms sample.Uniforms
	Round    int
	// IsStop says which tokens end the reply; nil for none.
	IsStop func(id int32) bool
}

// Unknown stands for a probability or uniform that was not needed and therefore never read.
const Unknown = -1

// Judged is one token and the numbers that decided about it.
type Judged struct {
	ID      int32
	Verdict event.Verdict
	// P and Q are what target and draft gave to this token after all filters, U is the uniform it was tested with: a drafted
	// token is accepted iff U·Q < P. Each may be Unknown.
	P, Q, U float64
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
	rule     rule
	sampler  sample.Sampler
	scores   []float32 // (vocab) one row of the target
	p        []float64 // (vocab) its distribution
	residual []float64 // (vocab)
	best     []int32   // (rows)
}

// NewVerifier returns a verifier of the standard acceptance rule.
func NewVerifier() *Verifier { return &Verifier{rule: exact()} }

// Remember lets the verifier keep the distributions it computes, for rows that come again and again.
func (v *Verifier) Remember(m *sample.Memo) { v.sampler.Memo = m }

// A judge knows the target's opinion along one path. Positions are asked in order, and none behind the one that decides.
type judge interface {
	// test says whether draft token i is kept and notes the numbers that said so.
	test(i int, t *Judged) (bool, error)
	// replace draws the token that stands in for draft token i, which test has just refused.
	replace(i int) (Judged, error)
	// follow draws from row i, for which nothing was drafted.
	follow(i int) (Judged, error)
}

// Verify judges a draft by the target's rows, len(draft.Tokens)+1 of them. The tokens of Outcome.Committed then have
// exactly the distribution of tokens drawn from the target one by one. An empty draft is a plain round.
//
// Rows are read up to the first rejection and no further. Scores there that are not finite give an error that wraps
// compute.ErrNotFinite; the outcome then still holds what was accepted before, and no commit.
func (v *Verifier) Verify(target Rows, draft Draft, terms Terms) (Outcome, error) {
	n := len(draft.Tokens)
	if len(draft.Q) != n || target.Rows() <= n {
		return Outcome{}, fmt.Errorf("verifying a draft of %d tokens: %d draft distributions and %d target rows, need %d and %d",
			n, len(draft.Q), target.Rows(), n, n+1)
	}
	var out Outcome
	out.Path, out.PathWhy = Eligible(terms.Params)
	out.Draft = make([]Judged, n)
	for i, id := range draft.Tokens {
		out.Draft[i] = Judged{ID: id, Verdict: event.Discarded, P: Unknown, Q: Unknown, U: Unknown}
	}
	judge, err := v.judge(target, draft, terms, out.Path)
	if err != nil {
		return out, fmt.Errorf("verifying a draft of %d tokens: %w", n, err)
	}
	if err := decide(judge, &out, terms.IsStop); err != nil {
		return out, fmt.Errorf("verifying row %d of %d: %w", out.Accepted, n+1, err)
	}
	return out, nil
}

func (v *Verifier) judge(target Rows, draft Draft, terms Terms, path Path) (judge, error) {
	v.fit(target.Vocab())
	if path == Greedy {
		return v.newGreedy(target)
	}
	return &stochastic{v: v, target: target, draft: draft, terms: terms}, nil
}

// fit makes the scratch rows those of a vocabulary.
func (v *Verifier) fit(vocab int) {
	if len(v.scores) != vocab {
		v.scores = make([]float32, vocab)
		v.p = make([]float64, vocab)
		v.residual = make([]float64, vocab)
	}
}

// decide is the round: keep draft tokens while they pass, and close with one token of the target's own.
func decide(judge judge, out *Outcome, isStop func(int32) bool) error {
	stops := func(id int32) bool { return isStop != nil && isStop(id) }
	for i := range out.Draft {
		t := &out.Draft[i]
		kept, err := judge.test(i, t)
		if err != nil {
			return err
		}
		out.Tested++
		if !kept {
			t.Verdict = event.Rejected
			return closeWith(out, event.Resampled, stops, func() (Judged, error) { return judge.replace(i) })
		}
		t.Verdict = event.Accepted
		out.Accepted++
		if stops(t.ID) {
			out.Stop = true
			return nil
		}
	}
	verdict := event.Bonus
	if len(out.Draft) == 0 {
		verdict = event.Plain
	}
	return closeWith(out, verdict, stops, func() (Judged, error) { return judge.follow(len(out.Draft)) })
}

func closeWith(out *Outcome, verdict event.Verdict, stops func(int32) bool, draw func() (Judged, error)) error {
	commit, err := draw()
	if err != nil {
		return err
	}
	commit.Verdict = verdict
	out.Commit = commit
	out.Stop = stops(commit.ID)
	return nil
}
