package cpu

import (
	"math"
	"unsafe"
)

// queries point to one row for each query that is computed together: the query, or its result.
type queries [queriesAtOnce]*float32

// row returns the n numbers of query j.
func (q *queries) row(j, n int) []float32 { return unsafe.Slice(q[j], n) }

// from returns the queries from index first on. It is a loop: if it used copy, the compiler would
// move what the pointers point to from the callers' stacks to the heap.
func (q *queries) from(first int) (rest queries) {
	for j := first; j < len(q); j++ {
		rest[j-first] = q[j]
	}
	return rest
}

// scoreKeysGeneric writes factor·Σ q[d]·key[d] for blocks·16 keys and n queries, summed over
// ascending d. Query j has its scores from dst[j·KeysPerSplit] on. Keys come in blocks of 16; in a
// block the numbers with equal d are next to each other.
func scoreKeysGeneric[N float32 | uint16](dst []float32, q *queries, keys []N, n, headDim, blocks int,
	factor float32) {
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

// softenRows replaces the scores of n queries by weights exp(score − largest), and sets the largest
// score and the sum of the weights of each query. Query j sees the first seen[j] scores. Scores that
// only fill the last block of 16 get the weight 0.
func softenRows(scores []float32, seen *[queriesAtOnce]int, n int, largests, sums *[queriesAtOnce]float32) {
	for j := range n {
		row := scores[j*KeysPerSplit:][:roundUp(seen[j], lanes)]
		for i := seen[j]; i < len(row); i++ {
			row[i] = float32(math.Inf(-1))
		}
		largests[j] = largest(row)
		sums[j] = expSum(row, largests[j])
	}
}

// sumValuesGeneric adds Σ weights[i]·values[i·headDim + d] to dst[d], one key after the other, for
// n queries and every d from first on.
func sumValuesGeneric[N float32 | uint16](dst *queries, values []N, weights []float32, n, keys,
	headDim, first int) {
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

// number converts a number of a float32 or half-precision cache.
func number[N float32 | uint16](v N) float32 {
	if f, ok := any(v).(float32); ok {
		return f
	}
	return half(uint16(v))
}
