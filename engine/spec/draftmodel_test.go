package spec

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/sample"
)

// history is a model whose scores depend on each token in its cache. So a single stale token shows.
type history struct {
	vocab, capacity int
	passes          [][]int32 // ids of each pass
	// fault, when not nil, is called before each token is read, with the length that the cache
	// would then have.
	fault  func(length int) error
	poison bool // all scores are NaN
}

// tape is a cache that holds tokens instead of their keys and values.
type tape struct {
	compute.Cache
	ids      []int32
	capacity int
}

func (c *tape) Len() int { return len(c.ids) }
func (c *tape) Cap() int { return c.capacity }
func (c *tape) Truncate(n int) error {
	if n > len(c.ids) {
		return fmt.Errorf("truncating %d tokens to %d", len(c.ids), n)
	}
	c.ids = c.ids[:n]
	return nil
}
func (c *tape) Close() error { return nil }

func (m *history) NewCache() (compute.Cache, error) { return &tape{capacity: m.capacity}, nil }

func (m *history) Prefill(_ context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	c := cache.(*tape)
	m.passes = append(m.passes, slices.Clone(ids))
	if len(c.ids)+len(ids) > c.capacity {
		return nil, fmt.Errorf("%d tokens after %d in a cache of %d", len(ids), len(c.ids), c.capacity)
	}
	for _, id := range ids {
		if m.fault != nil {
			if err := m.fault(len(c.ids) + 1); err != nil {
				return nil, err
			}
		}
		c.ids = append(c.ids, id)
	}
	row := scoresOf(c.ids, m.vocab)
	if m.poison {
		row[0] = float32(math.NaN())
	}
	return &oneRow{row: row}, nil
}

func scoresOf(ids []int32, vocab int) []float32 {
	h := fnv.New64a()
	for _, id := range ids {
		fmt.Fprint(h, id, " ")
	}
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	row := make([]float32, vocab)
	for i := range row {
		row[i] = float32(2 * rng.NormFloat64())
	}
	return row
}

type oneRow struct {
	row []float32
}

func (l *oneRow) Rows() int  { return 1 }
func (l *oneRow) Vocab() int { return len(l.row) }
func (l *oneRow) Argmax(dst []int32) (err error) {
	dst[0], err = sample.Argmax(l.row)
	return err
}
func (l *oneRow) Row(_ int, dst []float32) error { copy(dst, l.row); return nil }
func (l *oneRow) Moved() (int64, int)            { return 0, 0 }

// unlimited is larger than any vocabulary, so that the draft model can read all tokens.
const unlimited = 1 << 30

func newDraft(t testing.TB, m Model, vocab int) *DraftModel {
	d, err := NewDraftModel(m, vocab, unlimited)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper() // only here: it walks the stack, which is slow
		t.Fatal(err)
	}
}

func ask(gamma, round int) Ask {
	return Ask{Gamma: gamma, Params: warm, Uniforms: sample.NewPhilox(3, 1), Round: round}
}

// readFirst asks for a draft, and lets the proposer read first what it has missed.
func readFirst(t testing.TB, p Proposer, a Ask) (Draft, error) {
	draft, err := p.Propose(t.Context(), a)
	if draft.Unread == 0 || err != nil {
		return draft, err
	}
	if err := p.Read(t.Context(), nil); err != nil {
		return Draft{}, err
	}
	return p.Propose(t.Context(), a)
}

// fresh proposes with a draft model that has read only this context.
func fresh(t testing.TB, tokens []int32, a Ask) Draft {
	d := newDraft(t, &history{vocab: 50, capacity: 1000}, 50)
	_, err := d.Begin(tokens)
	must(t, err)
	draft, err := readFirst(t, d, a)
	must(t, err)
	return draft
}

// Whatever was accepted, abandoned, cancelled or begun anew: the draft model drafts like one that
// has just read the committed tokens.
func TestDraftModelProposesLikeAFreshOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	m := &history{vocab: 50, capacity: 1000}
	d := newDraft(t, m, 50)
	var committed []int32
	begin := func() {
		keep := rng.IntN(len(committed) + 1)
		committed = append(committed[:keep:keep], random(rng, 1+rng.IntN(20))...)
		_, err := d.Begin(committed)
		must(t, err)
	}
	begin()
	for round := range 500 {
		if rng.IntN(25) == 0 {
			begin()
		}
		a := ask(rng.IntN(6), round)
		if countdown := rng.IntN(8); rng.IntN(5) == 0 {
			m.fault = func(int) error {
				if countdown--; countdown < 0 {
					return context.Canceled
				}
				return nil
			}
		}
		draft, err := readFirst(t, d, a)
		m.fault = nil
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			must(t, d.Committed(nil))
		} else {
			want := fresh(t, committed, a)
			if !slices.Equal(draft.Tokens, want.Tokens) {
				t.Fatalf("round %d: proposed %v, want %v", round, draft.Tokens, want.Tokens)
			}
			kept := rng.IntN(len(draft.Tokens) + 1)
			news := append(slices.Clone(draft.Tokens[:kept]), random(rng, rng.IntN(2))...)
			committed = append(committed, news...)
			must(t, d.Committed(news))
		}
		cached := d.cache.(*tape).ids
		if d.Len() > len(committed)-1 || !slices.Equal(cached, committed[:len(cached)]) {
			t.Fatalf("round %d: cache %v of committed %v", round, cached, committed)
		}
	}
}

func random(rng *rand.Rand, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(rng.IntN(50))
	}
	return ids
}

func TestDraftModelReadsOnlyWhatIsNew(t *testing.T) {
	m := &history{vocab: 50, capacity: 100}
	d := newDraft(t, m, 50)
	_, err := d.Begin([]int32{1, 2, 3, 4})
	must(t, err)
	draft, err := d.Propose(t.Context(), ask(3, 0))
	must(t, err)
	x := draft.Tokens
	must(t, d.Committed([]int32{x[0], x[1], x[2], 9})) // all accepted, and a bonus
	draft, err = d.Propose(t.Context(), ask(1, 1))
	must(t, err)
	if draft.Pending != 2 {
		t.Errorf("pending %d, want the last draft token and the bonus", draft.Pending)
	}
	want := [][]int32{{1, 2, 3, 4}, {x[0]}, {x[1]}, {x[2], 9}}
	if !slices.EqualFunc(m.passes, want, slices.Equal) {
		t.Errorf("passes %v, want %v", m.passes, want)
	}
	must(t, d.Committed([]int32{7, 8}))
	reused, err := d.Begin([]int32{1, 2, 3, 4, x[0], 30})
	must(t, err)
	if reused != 5 || d.Len() != 5 {
		t.Errorf("reused %d tokens, cache %d; want 5 and 5", reused, d.Len())
	}
	must(t, d.Reset())
	if reused, err = d.Begin([]int32{1, 2, 3}); reused != 0 || err != nil {
		t.Errorf("after a reset %d tokens were reused, %v", reused, err)
	}
}

func TestDraftModelStaysInsideItsCache(t *testing.T) {
	m := &history{vocab: 50, capacity: 8}
	d := newDraft(t, m, 50)
	_, err := d.Begin([]int32{1, 2, 3, 4, 5, 6})
	must(t, err)
	draft, err := d.Propose(t.Context(), ask(5, 0))
	must(t, err)
	if len(draft.Tokens) != 3 || draft.Stop != "draft context full: 8 tokens" {
		t.Errorf("%d tokens, stop %q; want 3, the last of them read from the full cache", len(draft.Tokens), draft.Stop)
	}
	must(t, d.Committed(append(draft.Tokens, 7)))
	draft, err = d.Propose(t.Context(), ask(5, 1))
	if err != nil || len(draft.Tokens) != 0 || draft.Stop == "" {
		t.Errorf("after a full cache: %v, stop %q, %v", draft.Tokens, draft.Stop, err)
	}
	if _, err := d.Begin(make([]int32, 20)); err != nil {
		t.Errorf("a context longer than the draft's is no error: %v", err)
	}
}

func TestADraftModelProposesOnlyTokensOfTheTarget(t *testing.T) {
	for _, own := range []int{20, 80} {
		d := newDraft(t, &history{vocab: own, capacity: 1000}, 50)
		_, err := d.Begin([]int32{1})
		must(t, err)
		for round := range 300 {
			a := ask(2, round)
			if round%2 == 0 {
				a.Params = sample.Params{}
			}
			draft, err := d.Propose(t.Context(), a)
			must(t, err)
			for i, id := range draft.Tokens {
				if int(id) >= min(own, 50) {
					t.Fatalf("own vocabulary %d: proposed %d to a target of 50", own, id)
				}
				if q := draft.Q[i]; q.P != nil {
					sum := 0.0
					for _, p := range q.P {
						sum += p
					}
					if len(q.P) != 50 || math.Abs(sum-1) > 1e-12 {
						t.Fatalf("own vocabulary %d: q over %d ids sums to %g", own, len(q.P), sum)
					}
				}
			}
			must(t, d.Committed([]int32{int32(round % 20)}))
		}
	}
}

func TestDraftScoresThatAreNotFiniteGiveNoDraft(t *testing.T) {
	for _, params := range []sample.Params{{}, warm} {
		m := &history{vocab: 50, capacity: 100}
		d := newDraft(t, m, 50)
		_, err := d.Begin([]int32{1, 2, 3})
		must(t, err)
		a := ask(3, 0)
		a.Params = params
		_, err = d.Propose(t.Context(), a)
		must(t, errors.Join(err, d.Committed(nil)))
		m.poison = true
		draft, err := d.Propose(t.Context(), a)
		if !errors.Is(err, ErrNoDraft) || !errors.Is(err, compute.ErrNotFinite) || len(draft.Tokens) != 0 {
			t.Errorf("poisoned scores: %v, error %v", draft.Tokens, err)
		}
		if d.Len() != 2 {
			t.Errorf("the cache keeps %d tokens, want the 2 read before", d.Len())
		}
		m.poison = false
		must(t, d.Committed([]int32{4}))
		draft, err = d.Propose(t.Context(), a)
		must(t, err)
		if want := fresh(t, []int32{1, 2, 3, 4}, a); !slices.Equal(draft.Tokens, want.Tokens) {
			t.Errorf("after the damage: %v, want %v", draft.Tokens, want.Tokens)
		}
	}
}

func TestDraftEndsEarly(t *testing.T) {
	begin := func() *DraftModel {
		d := newDraft(t, &history{vocab: 50, capacity: 100}, 50)
		_, err := d.Begin([]int32{1, 2, 3})
		must(t, err)
		return d
	}
	whole, err := begin().Propose(t.Context(), ask(4, 0))
	must(t, err)

	a := ask(4, 0)
	var asked []float64
	a.Continue = func(i int, q float64) string {
		if asked = append(asked, q); i == 1 {
			return "too dear"
		}
		return ""
	}
	draft, err := begin().Propose(t.Context(), a)
	must(t, err)
	if !slices.Equal(draft.Tokens, whole.Tokens[:2]) || draft.Stop != "too dear" {
		t.Errorf("%v, stop %q", draft.Tokens, draft.Stop)
	}
	if !slices.Equal(asked, draft.Confidence) || asked[0] != draft.Q[0].Prob(draft.Tokens[0]) {
		t.Errorf("asked with %v, confidence %v", asked, draft.Confidence)
	}

	a = ask(4, 0)
	a.IsStop = func(id int32) bool { return id == whole.Tokens[0] }
	draft, err = begin().Propose(t.Context(), a)
	must(t, err)
	if len(draft.Tokens) != 1 || draft.Stop == "" {
		t.Errorf("after a stop token: %v, stop %q", draft.Tokens, draft.Stop)
	}
}

func TestAGreedyDraftIsTheBestToken(t *testing.T) {
	d := newDraft(t, &history{vocab: 50, capacity: 100}, 50)
	_, err := d.Begin([]int32{1, 2, 3})
	must(t, err)
	a := ask(1, 0)
	a.Params = sample.Params{}
	draft, err := d.Propose(t.Context(), a)
	must(t, err)
	best, _ := sample.Argmax(scoresOf([]int32{1, 2, 3}, 50))
	if draft.Tokens[0] != best || draft.Q[0].P != nil || draft.Q[0].Hot != best || draft.Confidence != nil || draft.Logits != nil {
		t.Errorf("%+v, want token %d, one-hot, and nothing read beyond it", draft, best)
	}
	must(t, d.Committed(nil))
	a.Inspect = true
	draft, err = d.Propose(t.Context(), a)
	must(t, err)
	if draft.Tokens[0] != best || len(draft.Logits) != 1 || len(draft.Logits[0]) != 50 || draft.Confidence[0] <= 1.0/50 || draft.Confidence[0] >= 1 {
		t.Errorf("inspected: %+v", draft)
	}
}

// The target's vocabulary may have more padding tokens than the draft's. A padding token that the
// draft model cannot read costs the later drafts, not the reply.
func TestDraftModelDoesNotReadTokensItDoesNotKnow(t *testing.T) {
	m := &history{vocab: 50, capacity: 1000}
	d, err := NewDraftModel(m, 60, 50)
	must(t, err)
	_, err = d.Begin([]int32{1, 2, 3})
	must(t, err)
	must(t, d.Committed([]int32{55}))
	for _, begin := range []func(){func() {}, func() {
		_, err := d.Begin([]int32{1, 55, 2, 3})
		must(t, err)
	}} {
		begin()
		draft, err := d.Propose(t.Context(), ask(3, 1))
		must(t, err)
		if len(draft.Tokens) != 0 || !strings.Contains(draft.Stop, "55") {
			t.Errorf("drafted %v, stop %q; want no draft and a reason that names token 55", draft.Tokens, draft.Stop)
		}
		must(t, d.Committed(nil))
	}
	for _, pass := range m.passes {
		if slices.Contains(pass, 55) {
			t.Errorf("read %v", pass)
		}
	}
}
