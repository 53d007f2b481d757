package checks

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
	"specula/engine/sample"
	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// The log-probabilities of a ranking are those that the host computes from the whole row in float64: the same tokens
// in the same order, and logarithms within the bound of sample.RankedLogProbs.
func TestRankingsAreTheHosts(t *testing.T) {
	const bound = 2e-6
	most := 0.0 // the largest difference
	for _, vocab := range []int{1, 5, 1025, 40_000, 151_936, 262_144} {
		rows := oddRows(8, vocab)
		for seed, spread := range []float32{0, 1, 4, 12} {
			row := simtest.Normal(uint64(seed), vocab)
			for i := range row {
				row[i] *= spread
			}
			rows = append(rows, row...)
		}
		for i := range len(rows) / vocab {
			row := rowOf(rows, i, vocab)
			own, finite := ref.Argmax(row)
			if r := rand.New(rand.NewPCG(1, uint64(i))); finite {
				if other := r.IntN(vocab); row[other] > none {
					own = other
				}
			}
			got := ref.RankRow(row, own, 20)
			ranked := decoded(got, vocab)
			want, top, err := new(sample.Sampler).LogProbs(row, int32(max(0, own)), 20)
			if (err == nil) != (ranked.Sum > 0) {
				t.Fatalf("V=%d, row %d: the sum %v, and on the host %v", vocab, i, ranked.Sum, err)
			}
			if err != nil {
				continue
			}
			logarithm, list := sample.RankedLogProbs(&ranked)
			if len(list) != len(top) || !(math.Abs(logarithm-want) <= bound) {
				t.Fatalf("V=%d, row %d: %v and %d tokens, want %v and %d", vocab, i, logarithm, len(list), want, len(top))
			}
			most = max(most, math.Abs(logarithm-want))
			for j := range top {
				if list[j].ID != top[j].ID || !(math.Abs(list[j].P-top[j].P) <= bound) {
					t.Fatalf("V=%d, row %d, place %d: %+v, want %+v", vocab, i, j, list[j], top[j])
				}
			}
		}
	}
	t.Logf("the logarithms differ by at most %.2g", most)
}

// decoded is a ranking as a backend decodes it from the kernel's words.
func decoded(r ref.Ranking, vocab int) compute.Ranked {
	own, top, sum := cuda.Ranking(append([]uint64{r.Sum, r.Own}, r.Top...), vocab)
	ranked := compute.Ranked{Own: compute.Scored(own), Sum: sum}
	for _, s := range top {
		ranked.Top = append(ranked.Top, compute.Scored(s))
	}
	return ranked
}
