package gpu

import (
	"encoding/binary"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// Ranked rounds. For log-probabilities, one more launch follows the verdict. It finds the best tokens of the rows that
// the verdict has used, and the verdict's copy to the host includes them. In an edited round this launch comes after
// the scores are restored. Then another launch before it finds the best restored score of each slice. This launch also
// serves masked rounds, which judge a copy of the scores.

// Rank lets the next verdict tell the n best tokens of each row.
func (t *tokens) Rank(n int) error {
	require(1 <= n && n <= compute.MostRanked, "Rank of too many tokens, or of none")
	t.ranked = n
	return t.owner.usable()
}

// rankingBytes is the memory that the blocks of a ranking share.
func rankingBytes(rows, vocab int) int64 {
	return int64(min(rows, compute.MostDrafts+1)) * int64(cuda.RankBytes+8*slicesOf(vocab))
}

// ranking is what a verdict tells beyond its own words.
type ranking struct {
	k       int // best tokens of a row; 0: it tells nothing
	of      rank
	at, end int      // the words of the ranking are the bytes at … end−1 of what the host copies
	words   []uint64 // the words, after they arrived
}

// takeRanking returns the ranking of the next verdict of t; the verdict after it has none. The verdict's own words are
// the first bytes of what the host copies. The word at the byte deciding has the number of accepted tokens and the
// token that follows.
func (l *logits) takeRanking(t *tokens, bytes, deciding int) *ranking {
	k := t.ranked
	t.ranked = 0
	if k == 0 {
		return &ranking{end: bytes}
	}
	require(l.rows <= t.n && l.rows <= compute.MostDrafts+1, "a ranking of too many rows")
	at := ceilDivide(bytes, 8) * 8
	of := rank{l.x.memory, l.peaks, t.verdict() + driver.Pointer(deciding), t.chosen(1), l.ranking, l.owner.arrived,
		t.verdict() + driver.Pointer(at), l.rows, l.x.cols, k}
	return &ranking{k: k, of: of, at: at, end: at + 8*l.rows*cuda.RankedWords(k)}
}

// operations returns the operations of the ranking. They come after those of the verdict, which has judged the rows at
// scores, and after restores, which undo its edits.
func (r *ranking) operations(scores driver.Pointer, restores []operation) (list []operation) {
	if r.k == 0 {
		return nil
	}
	if masked := scores != r.of.scores; masked || len(restores) > 0 { // the best scores of slices are others now
		list = append(list, findPeaks{r.of.scores, r.of.peaks, r.of.rows, r.of.vocab})
	}
	return append(list, r.of)
}

// arrive keeps the words of the ranking that are in what the host has copied.
func (r *ranking) arrive(memory []byte) {
	for at := r.at; r.k > 0 && at < r.end; at += 8 {
		r.words = append(r.words, binary.LittleEndian.Uint64(memory[at:]))
	}
}

// told returns the ranking of the rows up to that of the first token that was not accepted.
func (r *ranking) told(accepted int) (list []compute.Ranked) {
	if r.k == 0 {
		return nil
	}
	for i := range min(accepted+1, r.of.rows) {
		n := cuda.RankedWords(r.k)
		own, top, sum := cuda.Ranking(r.words[i*n:][:n], r.of.vocab)
		row := compute.Ranked{Own: compute.Scored(own), Sum: sum}
		for _, s := range top {
			row.Top = append(row.Top, compute.Scored(s))
		}
		list = append(list, row)
	}
	return list
}

// rank finds the k best tokens of the rows that a verdict has used, and the scores of the tokens that it gave them.
type rank struct {
	scores, peaks driver.Pointer // as in findPeaks
	verdict       driver.Pointer // the word with the number of accepted tokens and the token that follows
	drafts        driver.Pointer // (rows−1) int32
	shared        driver.Pointer // rankingBytes
	arrived       driver.Pointer // a counter of finished blocks for each row, 0 between launches
	results       driver.Pointer // (rows, cuda.RankedWords(k)) words of 8 bytes, which cuda.Ranking decodes
	rows, vocab   int
	k             int
}

func (o rank) launch() launch {
	best := o.shared + driver.Pointer(8*o.rows*slicesOf(o.vocab))
	return launchOf("rank_rows", warpEach(slicesOf(o.vocab), o.rows), address(o.scores), address(o.peaks), address(o.verdict),
		address(o.drafts), address(o.shared), address(best), address(o.arrived), address(o.results), whole(o.k), whole(o.vocab))
}
