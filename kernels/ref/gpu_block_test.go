package ref

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// blockError bounds how far the probability of a text may be off under the device's rule block. A test by 53
// bits is off by 2^-53 at most, and so is a draw; a weight by 2^-61. With the two draft tokens of this test that
// is less than 2^-50, and the sums of the test itself are in float64.
const blockError = 0x1p-50

// tree has the rows of a small language: by position and token before.
type tree struct {
	vocab int
	p, q  [][]WeightRow
}

func newTree(seed uint64, vocab, draftVocab, gamma int, distance float64) tree {
	random := rand.New(rand.NewPCG(seed, uint64(vocab)))
	t := tree{vocab: vocab}
	for range gamma + 1 {
		var p, q []WeightRow
		for range vocab {
			scores, other := make([]float32, vocab), make([]float32, draftVocab)
			for id := range scores {
				scores[id] = float32(1.5 * random.NormFloat64())
			}
			for id := range other {
				other[id] = float32(distance * random.NormFloat64())
				if id < vocab {
					other[id] += scores[id]
				}
			}
			by := Filters{Temperature: 1, FilterTemperature: 1, TopP: 1}
			p, q = append(p, SoftmaxRow(scores, 0, by)), append(q, SoftmaxRow(other, 0, by))
		}
		t.p, t.q = append(t.p, p), append(t.q, q)
	}
	return t
}

func chance(row WeightRow, id int) float64 { return float64(row.Mass(id)) / float64(row.Total()) }

// variable is a uniform that a verdict asks for.
type variable struct{ stream, position int }

// texts adds to out the probability of each text that a verdict writes, times weight. The uniforms in known
// are fixed. The last test is varied first: whether an earlier one matters depends on it.
func texts(verdict func(uniform func(stream, position int) uint64) string, known map[variable]uint64, weight float64, out map[string]float64) {
	var next *variable
	run := func(u uint64) string {
		return verdict(func(stream, position int) uint64 {
			v := variable{stream, position}
			if given, ok := known[v]; ok {
				return given
			}
			if next == nil || v == *next {
				return u
			}
			return 1 << (uniformBits - 1)
		})
	}
	asked := verdict(func(stream, position int) uint64 {
		v := variable{stream, position}
		given, ok := known[v]
		if !ok && (next == nil || next.stream != AcceptTest || stream == AcceptTest && position > next.position) {
			next = &v
		}
		return given
	})
	if next == nil {
		out[asked] += weight
		return
	}
	of := *next
	const end = 1 << uniformBits
	for from := uint64(0); from < end; {
		low, high := from, uint64(end) // the text is the same for all uniforms from here up to some place
		for want := run(from); high-low > 1; {
			if middle := low + (high-low)/2; run(middle) == want {
				low = middle
			} else {
				high = middle
			}
		}
		known[of] = from
		texts(verdict, known, weight*float64(high-from)/end, out)
		delete(known, of)
		from = high
	}
}

// worst returns how far the probability of a text is off, in the text for which it is most.
func (t tree) worst(gamma int, certain bool, missing int) float64 {
	out := map[string]float64{}
	var draft func(ids []int32, weight float64)
	draft = func(ids []int32, weight float64) {
		if len(ids) < gamma {
			for id := range t.q[0][0].Weights {
				q := chance(t.q[len(ids)][before(ids)], id)
				if certain {
					q = 0
					if id == 1 {
						q = 1
					}
				}
				if q > 0 {
					draft(append(ids[:len(ids):len(ids)], int32(id)), weight*q)
				}
			}
			return
		}
		round := Round{Drafts: int32(gamma)}
		if certain {
			round.Certain = math.MaxUint32
		}
		ids = append([]int32{}, ids...)
		if missing < gamma {
			ids[missing] = -1
		}
		var p, q []WeightRow
		for i := range gamma + 1 {
			last := before(ids[:i])
			p = append(p, t.p[i][last])
			q = append(q, t.q[i][last])
		}
		texts(func(uniform func(stream, position int) uint64) string {
			r := judgeBlock(p, q, ids, round, uniform)
			return fmt.Sprint(append(ids[:r.Accepted:r.Accepted], int32(r.Commit)))
		}, map[variable]uint64{}, weight, out)
	}
	draft(nil, 1)
	off := 0.0
	var check func(text []int32, p, got float64)
	check = func(text []int32, p, got float64) { // got is the chance of all shorter texts that become this one
		if len(text) > 0 {
			got += out[fmt.Sprint(text)]
		}
		if len(text) == gamma+1 {
			off = max(off, math.Abs(got-p))
			return
		}
		for id := range t.vocab {
			next := chance(t.p[len(text)][before(text)], id)
			check(append(text[:len(text):len(text)], int32(id)), p*next, got*next)
		}
	}
	check(nil, 1, 0)
	return off
}

func before(ids []int32) int32 {
	if len(ids) == 0 || ids[len(ids)-1] < 0 {
		return 0
	}
	return ids[len(ids)-1]
}

// Every text has the target's probability, however the draft was made and where it ends.
func TestEveryTextOfABlockHasTheTargetsProbability(t *testing.T) {
	const gamma = 2
	for _, c := range []struct {
		name              string
		vocab, draftVocab int
		distance          float64
		certain           bool
		missing           int // index of a draft token that could not be drawn
	}{
		{"near", 3, 3, 0.3, false, gamma}, {"far", 3, 3, 3, false, gamma}, {"equal", 3, 3, 0, false, gamma},
		{"fewer tokens in the draft", 4, 3, 1, false, gamma},
		{"certain", 3, 3, 1, true, gamma}, {"no first token", 3, 3, 1, false, 0}, {"no second token", 3, 3, 1, false, 1},
	} {
		for seed := range uint64(3) {
			if off := newTree(seed, c.vocab, c.draftVocab, gamma, c.distance).worst(gamma, c.certain, c.missing); off > blockError {
				t.Errorf("%s, seed %d: a text is off by %g", c.name, seed, off)
			}
		}
	}
}
