package cpu

import (
	"fmt"
	"math"
)

// Router says how a mixture chooses the experts of a row. See ref.Router.
type Router struct {
	Experts int
	Used    int // experts of a row, at most MostUsed
	Sigmoid bool
	Normed  bool
	Scale   float32
}

// MostUsed is the largest number of experts that a row may use.
const MostUsed = 64

// Routing holds which experts the rows of a pass chose, and their shares. A choice is a row with
// one of its experts.
//
// Slots are sorted by expert, and by row within an expert. So an expert's matrix is read once for all
// its rows, whose activations lie side by side. The slot of a choice depends on the other rows of the
// pass; what is computed for the choice does not.
type Routing struct {
	Router
	m      int
	chosen []int32   // (m, Used), by rank: the best expert first
	shares []float32 // (m, Used)

	slots  []int32 // (m, Used): the slot of each choice
	rows   []int32 // the row of each slot
	expert []int32 // the expert of each slot
	groups []group // by ascending expert
	counts []int32 // (Experts): choices of each expert
}

// group is an expert with its slots first … first+count−1.
type group struct{ expert, first, count int32 }

// NewRouting makes room for this many rows.
func NewRouting(r Router, maxRows int) *Routing {
	if r.Used < 1 || r.Used > min(MostUsed, r.Experts) {
		panic(fmt.Sprintf("cpu: %d of %d experts", r.Used, r.Experts))
	}
	n := maxRows * r.Used
	return &Routing{
		Router: r, chosen: make([]int32, n), shares: make([]float32, n), slots: make([]int32, n),
		rows: make([]int32, n), expert: make([]int32, n),
		groups: make([]group, 0, min(r.Experts, n)), counts: make([]int32, r.Experts),
	}
}

// Slots returns the number of choices.
func (r *Routing) Slots() int { return r.m * r.Used }

// Choices returns the experts and shares of a row, the best expert first.
func (r *Routing) Choices(row int) (experts []int32, shares []float32) {
	return r.chosen[row*r.Used:][:r.Used], r.shares[row*r.Used:][:r.Used]
}

// Begin sets m, the number of rows that will be routed.
func (r *Routing) Begin(m int) { r.m = m }

// mostGroups returns an upper bound of the number of groups, known before the experts are chosen.
func (r *Routing) mostGroups() int { return min(r.Experts, r.Slots()) }

// Choose chooses the experts of a row. No bit of the result depends on the other rows. bias may be nil.
func (r *Routing) Choose(row int, scores, bias []float32) {
	chosen, shares := r.Choices(row)
	peak, finite := math.Inf(-1), true
	for _, s := range scores {
		peak = max(peak, float64(s))
		finite = finite && s == s
	}
	if finite = finite && !math.IsInf(peak, 1); !finite {
		peak = 0
	}
	total := 1.0 // stays 1 if only ratios of shares matter
	if !r.Sigmoid && (bias != nil || !r.Normed) {
		total = 0
		for _, s := range scores {
			total += exp64(float64(s) - peak)
		}
	}
	if bias == nil {
		rankExperts(chosen, len(scores), func(e int) float64 { return float64(scores[e]) })
	} else {
		rankExperts(chosen, len(scores),
			func(e int) float64 { return r.share(scores[e], peak, total) + float64(bias[e]) })
	}
	var all [MostUsed]float64
	sum := 0.0
	for i, e := range chosen {
		all[i] = r.share(scores[e], peak, total)
		sum += all[i]
	}
	if !r.Normed {
		sum = 1
	}
	for i := range shares {
		shares[i] = float32(all[i] / (sum + 1e-20) * float64(r.Scale))
		if !finite {
			shares[i] = float32(math.NaN()) // so that scores that are not finite stay visible
		}
	}
}

// share returns the share of an expert before the shares of the row are normed. total is the sum of
// exp(score − peak).
func (r *Routing) share(score float32, peak, total float64) float64 {
	if r.Sigmoid {
		return 1 / (1 + exp64(min(-float64(score), 700)))
	}
	return exp64(float64(score)-peak) / total
}

// rankExperts fills chosen with the experts that rank gives the highest values, the best first. Of
// experts with equal values, the one with the lowest number comes first.
func rankExperts(chosen []int32, experts int, rank func(expert int) float64) {
	var best [MostUsed]float64
	n := 0
	for e := range experts {
		value := rank(e)
		if n == len(chosen) && !(value > best[n-1]) {
			continue
		}
		at := min(n, len(chosen)-1)
		for ; at > 0 && value > best[at-1]; at-- {
			best[at], chosen[at] = best[at-1], chosen[at-1]
		}
		best[at], chosen[at] = value, int32(e)
		n = min(n+1, len(chosen))
	}
}

// Do groups the choices. It is a task of one item, to run when all rows have chosen.
func (r *Routing) Do(from, to int) {
	if from == to {
		return
	}
	clear(r.counts)
	for _, e := range r.chosen[:r.Slots()] {
		r.counts[e]++
	}
	r.groups = r.groups[:0]
	var first int32
	for e, n := range r.counts {
		if n > 0 {
			r.groups = append(r.groups, group{int32(e), first, n})
		}
		r.counts[e] = first // from here on: the next free slot
		first += n
	}
	for choice, e := range r.chosen[:r.Slots()] {
		slot := r.counts[e]
		r.counts[e]++
		r.slots[choice], r.rows[slot], r.expert[slot] = slot, int32(choice/r.Used), e
	}
}

// ExpertOf returns the expert of a slot.
func (r *Routing) ExpertOf(slot int) int { return int(r.expert[slot]) }

// RowOf returns the row of a slot.
func (r *Routing) RowOf(slot int) int { return int(r.rows[slot]) }

// SlotOf returns the slot of a row's choice of this rank.
func (r *Routing) SlotOf(row, rank int) int { return int(r.slots[row*r.Used+rank]) }

// Touched returns the number of experts that at least one row chose.
func (r *Routing) Touched() int { return len(r.groups) }

// Mix computes ref.Mix for some columns of a row, starting at column from: it writes to dst the sum of the
// outputs of the row's experts times their shares. x (slots, cols) holds the outputs and is overwritten.
func (r *Routing) Mix(dst, x []float32, row, from, cols int) {
	_, shares := r.Choices(row)
	for rank, slot := range r.slots[row*r.Used:][:r.Used] {
		part := x[int(slot)*cols+from:][:len(dst)]
		TimesFactor(part, shares[rank])
		if rank == 0 {
			copy(dst, part)
		} else {
			Add(dst, part)
		}
	}
}
