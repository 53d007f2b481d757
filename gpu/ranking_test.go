package gpu

import (
	"fmt"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/config"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// A round with log-probabilities, edited or not, waits once and copies once. Beside its verdict it copies, for each
// row, two words of 8 bytes and one for each best token, and it reserves no memory. Its ranking comes after the
// verdict and after the scores are restored, and the next verdict has none.
func TestRankedRoundsAreOneWait(t *testing.T) {
	d, b, m, cache := recorded(t)
	held := mustTokens(t, m)
	d.down = 1 // every byte, so a verdict accepts one token
	const rows, k = 4, 20
	edits := fmt.Sprintf("up %d", 4*editsWords)
	down := func(verdict int) string { return fmt.Sprintf("down %d", verdict+rows*(16+8*k)) }
	for _, c := range []struct {
		sampled, edited bool
		want            []string
	}{
		{false, false, []string{"peak_rows", "argmax_rows", "accept_greedy", "rank_rows", down(16), "wait"}},
		{false, true, []string{edits, "graph", "peak_rows", "argmax_rows", "accept_greedy", "restore_rows", "peak_rows", "rank_rows", down(16), "wait"}},
		{true, false, []string{"graph", down(32), "wait"}},
		{true, true, []string{edits, "graph", down(32), "wait"}},
	} {
		memory := 0
		for round := range 4 {
			var by *compute.Sampling
			if c.sampled {
				filters := compute.Filters{Temperature: 1, TopP: 1}
				by = &compute.Sampling{Target: filters, Draft: filters, Drafts: rows - 1, Vocab: smallest.Vocab}
			}
			err := m.Chain(t.Context(), cache, []int32{5, 6}, rows-1, held, by)
			must(t, first(err, cache.Truncate(0)))
			logits, err := m.ForwardTokens(t.Context(), held, rows, cache)
			must(t, first(err, b.device.Do(func() error { return nil }))) // the pass before is queued
			d.log = nil
			if c.edited {
				must(t, held.Edit(compute.NewEdits()))
			}
			must(t, held.Rank(k))
			if verdict := judged(t, logits, held, c.sampled); len(verdict.Ranked) != 2 || len(verdict.Ranked[1].Top) != k {
				t.Errorf("the rows of a verdict that accepts one token are ranked as %v", verdict.Ranked)
			}
			if round >= 2 && !slices.Equal(d.log, c.want) {
				t.Errorf("round %d queued %q, want %q", round, d.log, c.want)
			}
			if _, syncs := logits.Moved(); syncs != 1 {
				t.Errorf("a round waited %d times", syncs)
			}
			if round > 0 && d.live["memory"] != memory {
				t.Errorf("round %d reserved memory", round)
			}
			memory = d.live["memory"]
			if again := judged(t, logits, held, c.sampled); again.Ranked != nil {
				t.Error("a verdict is ranked that nobody asked for")
			}
			must(t, cache.Truncate(0))
		}
	}
	must(t, first(held.Close(), cache.Close(), b.Close()))
}

// judged lets the device judge three draft tokens.
func judged(t *testing.T, logits compute.Logits, held compute.Tokens, sampled bool) compute.Verdict {
	t.Helper()
	if sampled {
		v, err := logits.(compute.Judge).AcceptDrawn(held)
		must(t, err)
		return v.Verdict
	}
	v, err := logits.(compute.Judge).AcceptBest(held, make([]int32, 3))
	must(t, err)
	return v
}

// A ranking reads the word of its verdict that decides, and the draft from its first token on. Its results and the
// memory that its blocks share overlap nothing.
func TestWhatARankingReads(t *testing.T) {
	_, b, held, scores := edited(t)
	l, of := scores.(*logits), held.(*tokens)
	for _, c := range []struct{ bytes, deciding, at int }{{16, 12, 16}, {12, 8, 16}, {32, 0, 32}} {
		of.ranked = 3
		r := l.takeRanking(of, c.bytes, c.deciding)
		const words = 2 + 3
		if r.at != c.at || r.end != c.at+8*words*l.rows || r.of.results != of.verdict()+driver.Pointer(c.at) ||
			r.of.verdict != of.verdict()+driver.Pointer(c.deciding) || r.of.drafts != of.chosen(1) {
			t.Errorf("after a verdict of %d bytes: %+v", c.bytes, r)
		}
	}
	of.ranked = compute.MostRanked
	last := l.takeRanking(of, 8*of.n, 0)
	if size := b.allocated[of.memory]; int64(last.end)+8*int64(of.n) > size {
		t.Errorf("the largest verdict ends at byte %d of %d", last.end+8*of.n, size)
	}
	if end, size := l.ranking-l.peaks+driver.Pointer(rankingBytes(l.x.rows, l.x.cols)), b.allocated[l.peaks]; int64(end) > size || l.ranking <= l.rest {
		t.Errorf("what blocks share ends at byte %d of %d", end, size)
	}
}

// The setting, the seam and the kernel agree on how many tokens of a row can be ranked.
func TestHowManyTokensAreRanked(t *testing.T) {
	c := config.Default()
	if err := c.Set("logprobs", fmt.Sprint(compute.MostRanked)); err != nil || c.Set("logprobs", fmt.Sprint(compute.MostRanked+1)) == nil {
		t.Errorf("the most log-probabilities are not %d: %v", compute.MostRanked, err)
	}
	if compute.MostRanked != cuda.MostRanked {
		t.Errorf("a kernel ranks %d tokens, and %d can be asked for", cuda.MostRanked, compute.MostRanked)
	}
}
