package cpu

import (
	"math"
	"unsafe"
)

// queries point to the rows of as many queries as are computed at once.
type queries [queriesAtOnce]*float32

// row is the n numbers behind a pointer.
func (q *queries) row(j, n int) []float32 { return unsafe.Slice(q[j], n) }

// from leaves the first queries out. It is a loop because what copy moves counts as escaping to the heap.
func (q *queries) from(first int) (rest queries) {
	for j := first; j < len(q); j++ {
		rest[j-first] = q[j]
	}
	return rest
}

// scoreKeysGeneric writes factor·Σ q[d]·key[d] of blocks·16 keys for n queries, summed over ascending d; the scores of a query lie
// KeysPerSplit behind those of the one before. The keys lie in blocks of 16, and in a block the numbers of equal d side by side.
func scoreKeysGeneric[N float32 | uint16](dst []float32, q *queries, keys []N, n, headDim, blocks int, factor float32) {
	for j := range n {
		row := q.row(j, headDim)
		for b := range blocks {
			var sums [lanes]float32
			block := keys[b*lanes*headDim:]
			for d, x := range row {
				for i, k := range block[d*lanes:][:lanes] {
					sums[i] += float32(number(k) * x)
				}
			}
			for i, s := range sums {
				dst[j*KeysPerSplit+b*lanes+i] = s * factor
			}
		}
	}
}

// softenRows turns the scores of n queries, of which each sees the first seen[j], into weights exp(score − largest), and gives the
// largest and the sum of the weights of each. Those that fill up the last block of 16 get a weight of zero.
func softenRows(scores *splitScores, seen *[queriesAtOnce]int, n int, largests, sums *[queriesAtOnce]float32) {
	for j := range n {
		row := scores[j*KeysPerSplit:][:roundUp(seen[j], lanes)]
		for i := seen[j]; i < len(row); i++ {
			row[i] = float32(math.Inf(-1))
		}
		largests[j] = largest(row)
		sums[j] = expSum(row, largests[j])
	}
}

// sumValuesGeneric adds Σ weights[i]·values[i·headDim + d] to dst[d] for n queries and every d from first on, one key after the other.
func sumValuesGeneric[N float32 | uint16](dst *queries, values []N, weights []float32, n, keys, headDim, first int) {
	if first == headDim {
		return
	}
	for j := range n {
		sums := dst.row(j, headDim)[first:]
		for i, weight := range weights[j*KeysPerSplit:][:keys] {
			for d, v := range values[i*headDim+first:][:len(sums)] {
				sums[d] += float32(number(v) * weight)
			}
		}
	}
}

// number is what a cache of float32 or of half precision holds.
func number[N float32 | uint16](v N) float32 {
	if f, ok := any(v).(float32); ok {
		return f
	}
	return half(uint16(v))
}
