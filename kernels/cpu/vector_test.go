//go:build (amd64 || arm64) && !noasm

package cpu

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// atEveryLevel runs f on every level of this processor.
func atEveryLevel(t *testing.T, f func(t *testing.T)) {
	for _, l := range Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer SetLevel(l)()
			f(t)
		})
	}
}

func TestVectorEqualsPortable(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			n := 1 + r.IntN(70)
			x, y, cos, sin := rowOf(r, n), rowOf(r, n), rowOf(r, n), rowOf(r, n)
			factor := rowOf(r, 1)[0]
			if r.IntN(8) == 0 {
				clear(x) // a sum that does not start at zero would show now
			}
			clone := func(v []float32) []float32 { return append([]float32(nil), v...) }

			got, want := clone(x), clone(x)
			add(got, y)
			addGeneric(want, y)
			equalBits(t, "add", got, want)

			scale(got, x, y, factor)
			scaleGeneric(want, x, y, factor)
			equalBits(t, "scale", got, want)

			times(got, factor)
			timesGeneric(want, factor)
			equalBits(t, "times", got, want)

			mix(got, y, factor, 0.3)
			mixGeneric(want, y, factor, 0.3)
			equalBits(t, "mix", got, want)

			equalBits(t, "squares", []float32{squares(x)}, []float32{squaresGeneric(x)})
			equalBits(t, "largest", []float32{largest(x) + 0}, []float32{largestGeneric(x) + 0})

			got, want = clone(x), clone(x)
			high, wantHigh := clone(y), clone(y)
			rotate(got, high, cos, sin)
			rotateGeneric(want, wantHigh, cos, sin)
			equalBits(t, "rotate", append(got, high...), append(want, wantHigh...))

			pairs := rowOf(r, 2*n)
			got, want = clone(pairs), clone(pairs)
			rotatePairs(got, cos, sin)
			rotatePairsGeneric(want, cos, sin)
			equalBits(t, "rotatePairs", got, want)

			got, want = clone(x), clone(x)
			swiGLU(got, y)
			swiGLUGeneric(want, y)
			equalBits(t, "swiGLU", got, want)

			got, want = clone(x), clone(x)
			gelu(got)
			geluGeneric(want)
			equalBits(t, "gelu", got, want)

			got, want = clone(x), clone(x)
			sum := expSum(got, factor)
			sums := expSumGeneric(want, factor)
			equalBits(t, "expSum", append(got, sum), append(want, fold(&sums)))

			testHalf(t, x)
		}
	})
}

// Every level has its own exponential. All are compared with the portable one over its whole range.
func TestExponentialsEqualPortable(t *testing.T) {
	const step = 1.0 / 512
	var x []float32
	for v := float32(-90); v < 91; v += step {
		x = append(x, v, math.Nextafter32(v, 100))
	}
	for _, limit := range []float32{-87.33654, 88.72283, 0} {
		for v, i := math.Nextafter32(limit, -200), 0; i < 3; v, i = math.Nextafter32(v, 200), i+1 {
			x = append(x, v)
		}
	}
	atEveryLevel(t, func(t *testing.T) {
		got, want := append([]float32(nil), x...), append([]float32(nil), x...)
		expSum(got, 0)
		expSumGeneric(want, 0)
		equalBits(t, "exp", got, want)

		ones := make([]float32, len(x))
		for i := range ones {
			ones[i] = 1
		}
		got, want = append([]float32(nil), x...), append([]float32(nil), x...)
		swiGLU(got, ones)
		swiGLUGeneric(want, ones)
		equalBits(t, "swiGLU", got, want)
	})
}

// Functions that a level implements for several heads, queries or tiles at once are compared with
// the portable level.
func TestWholeRowsEqualPortable(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		here := level
		both := func(do func(i int)) {
			do(0)
			defer SetLevel(Portable)()
			do(1)
			level = here
		}
		r := rand.New(rand.NewPCG(9, 9))
		for range 3000 {
			testNormGroups(t, r, both)
			testSoften(t, r, both)
			testQuantizeRow(t, r, both)
		}
	})
}

func testNormGroups(t *testing.T, r *rand.Rand, both func(func(i int))) {
	t.Helper()
	n := []int{16, 64, 128, 40}[r.IntN(4)]
	x, w := rowOf(r, n*(1+r.IntN(6))), rowOf(r, n)
	if r.IntN(2) == 0 { // in wild rows nearly every sum is infinite
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
	}
	var dst [2][]float32
	both(func(i int) {
		dst[i] = append([]float32(nil), x...)
		RMSNorm(dst[i], dst[i], w, 1e-6)
	})
	equalBits(t, "RMSNorm", dst[0], dst[1])
}

func testSoften(t *testing.T, r *rand.Rand, both func(func(i int))) {
	t.Helper()
	var scores [2][queriesAtOnce * KeysPerSplit]float32
	var largests, sums [2][queriesAtOnce]float32
	var seen [queriesAtOnce]int
	n := 1 + r.IntN(queriesAtOnce)
	for j := range n {
		seen[j] = 1 + r.IntN(KeysPerSplit)
		if r.IntN(2) == 0 {
			copy(scores[0][j*KeysPerSplit:], rowOf(r, KeysPerSplit))
			continue
		}
		for i := range KeysPerSplit {
			scores[0][j*KeysPerSplit+i] = float32(r.NormFloat64())
		}
	}
	scores[1] = scores[0]
	both(func(i int) { soften(scores[i][:], &seen, n, &largests[i], &sums[i]) })
	equalBits(t, "the sums of weights", sums[0][:n], sums[1][:n])
	for j := range n {
		equalBits(t, "the largest score", []float32{largests[0][j] + 0}, []float32{largests[1][j] + 0})
		equalBits(t, "weights", scores[0][j*KeysPerSplit:][:KeysPerSplit],
			scores[1][j*KeysPerSplit:][:KeysPerSplit])
	}
}

func testQuantizeRow(t *testing.T, r *rand.Rand, both func(func(i int))) {
	t.Helper()
	tiles, stride := 1+r.IntN(12), recordBytes*(1+r.IntN(3))
	x := make([]float32, tiles*Block)
	for tile := range tiles {
		row := x[tile*Block:][:Block]
		scale := math.Exp2(float64(r.IntN(260) - 140))
		for i := range row {
			row[i] = float32(r.NormFloat64() * scale)
		}
		switch r.IntN(8) {
		case 0:
			copy(row, rowOf(r, Block))
		case 1:
			clear(row)
		case 2:
			row[r.IntN(Block)] = smallestMagnitude
		}
	}
	var records [2][]byte
	both(func(i int) {
		records[i] = make([]byte, (tiles-1)*stride+recordBytes)
		quantizeRow(records[i], x, stride)
	})
	for tile := range tiles {
		got, want := records[0][tile*stride:][:recordBytes], records[1][tile*stride:][:recordBytes]
		bothNaN := getFloat(got[scaleAt:]) != getFloat(got[scaleAt:]) &&
			getFloat(want[scaleAt:]) != getFloat(want[scaleAt:])
		if !bytes.Equal(got, want) && !bothNaN || !bytes.Equal(got[:Block], want[:Block]) {
			t.Fatalf("tile %d of %d is quantised to %x, want %x", tile, tiles, got, want)
		}
	}
	if rest := records[0][recordBytes:min(stride, len(records[0]))]; !bytes.Equal(rest,
		make([]byte, len(rest))) {
		t.Fatalf("the bytes between two records are not left alone: %x", rest)
	}
}

func testHalf(t *testing.T, x []float32) {
	t.Helper()
	got, want := make([]uint16, len(x)), make([]uint16, len(x))
	narrow(got, x)
	narrowGeneric(want, x)
	gotWide, wantWide := make([]float32, len(x)), make([]float32, len(x))
	for i := range x {
		gotWide[i], wantWide[i] = half(got[i]), half(want[i])
	}
	equalBits(t, "narrow", gotWide, wantWide)
	widenHalf(gotWide, got)
	equalBits(t, "widenHalf", gotWide, wantWide)
}

func TestAttentionProductsEqualPortable(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 300 {
			headDim, blocks, n := 1+r.IntN(140), 1+r.IntN(9), powerOfTwoBelow(1<<r.IntN(4))
			keys := rowOf(r, headDim*blocks*lanes)
			if r.IntN(8) == 0 {
				clear(keys)
			}
			halfKeys := make([]uint16, len(keys))
			narrowGeneric(halfKeys, keys)
			var q, got, want queries
			for j := range n {
				q[j] = &rowOf(r, headDim)[0]
			}
			gotScores, wantScores := make([]float32, n*KeysPerSplit), make([]float32, n*KeysPerSplit)
			scoreKeys(gotScores, &q, keys, n, headDim, blocks, 0.3)
			scoreKeysGeneric(wantScores, &q, keys, n, headDim, blocks, 0.3)
			equalBits(t, "scoreKeys", gotScores, wantScores)
			scoreKeysHalf(gotScores, &q, halfKeys, n, headDim, blocks, 0.3)
			scoreKeysGeneric(wantScores, &q, halfKeys, n, headDim, blocks, 0.3)
			equalBits(t, "scoreKeysHalf", gotScores, wantScores)

			weights, seen := rowOf(r, n*KeysPerSplit), 1+r.IntN(blocks*lanes)
			for j := range n {
				before := rowOf(r, headDim)
				got[j], want[j] = &before[0], &append([]float32(nil), before...)[0]
			}
			sumValues(&got, keys, weights, n, seen, headDim)
			sumValuesGeneric(&want, keys, weights, n, seen, headDim, 0)
			sumValuesHalf(&got, halfKeys, weights, n, seen, headDim)
			sumValuesGeneric(&want, halfKeys, weights, n, seen, headDim, 0)
			for j := range n {
				equalBits(t, "sumValues", got.row(j, headDim), want.row(j, headDim))
			}
		}
	})
}

// Blocks of random bytes have all kinds of scales.
func TestQuantizedAttentionProductsEqualPortable(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for range 300 {
			headDim, blocks, n := Block*(1+r.IntN(5)), 1+r.IntN(9), 1<<r.IntN(3)
			packed := make([]byte, quantizedAt(headDim*blocks*lanes))
			for i := range packed {
				packed[i] = byte(r.Uint32())
			}
			if r.IntN(8) == 0 {
				clear(packed)
			}
			var q, got, want queries
			for j := range n {
				q[j] = &rowOf(r, headDim)[0]
			}
			gotScores, wantScores := make([]float32, n*KeysPerSplit), make([]float32, n*KeysPerSplit)
			scoreKeysQuantized(gotScores, &q, packed, n, headDim, blocks, 0.3)
			scoreKeysQuantizedGeneric(wantScores, &q, packed, n, headDim, blocks, 0.3)
			equalBits(t, "scoreKeysQuantized", gotScores, wantScores)

			weights, seen := rowOf(r, n*KeysPerSplit), 1+r.IntN(blocks*lanes)
			for j := range n {
				before := rowOf(r, headDim)
				got[j], want[j] = &before[0], &append([]float32(nil), before...)[0]
			}
			sumValuesQuantized(&got, packed, weights, n, seen, headDim)
			sumValuesQuantizedGeneric(&want, packed, weights, n, seen, headDim)
			for j := range n {
				equalBits(t, "sumValuesQuantized", got.row(j, headDim), want.row(j, headDim))
			}
		}
	})
}

// Attention over a Q8_0 cache has the same bits as attention over a float32 cache that holds the
// unpacked numbers.
func TestQuantizedAttentionEqualsFloat(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		const tokens, heads, sharing, headDim, rows = 300, 2, 3, 64, 5
		normal := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			return x
		}
		size := heads * headDim
		shape := KVShape{Tokens: tokens, Heads: heads, KeyDim: headDim, ValueDim: headDim}
		quantized, wide := NewKV(shape, KVQ8_0), NewKV(shape, KVF32)
		for token := range tokens {
			key, value := normal(size), normal(size)
			quantized.Store(token, 0, key, value)
			quantized.Load(token, key, value)
			wide.Store(token, 0, key, value)
		}
		of := Attention{Q: normal(rows * sharing * size), M: rows, Position: tokens - rows,
			Heads: heads * sharing, Scale: 0.125}
		var results [2][]float32
		for i, kv := range []*KV{quantized, wide} {
			task := of
			task.KV, task.Dst = kv, make([]float32, len(of.Q))
			task.Do(0, task.Items())
			results[i] = task.Dst
		}
		equalBits(t, "attention", results[0], results[1])
	})
}
