//go:build (amd64 || arm64) && !noasm

package cpu

import (
	"math/rand/v2"
	"testing"
)

func TestDeltaKernelsEqualPortable(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 300 {
			keyDim, n := 1+r.IntN(40), 1+r.IntN(80)
			if r.IntN(3) > 0 {
				n = 8 * (1 + r.IntN(34))
			}
			s, key, change, query := rowOf(r, keyDim*n), rowOf(r, keyDim), rowOf(r, n), rowOf(r, keyDim)
			nextKey, decays := rowOf(r, keyDim), rowOf(r, 2)
			got, want := make([]float32, n), make([]float32, n)
			deltaRecall(got, s, key, decays[0])
			deltaRecallGeneric(want, s, key, decays[0])
			equalBits(t, "deltaRecall", got, want)
			for variant := range 5 {
				var gotState, wantState, gotOut, wantOut []float32
				if variant != 1 {
					gotState, wantState = make([]float32, len(s)), make([]float32, len(s))
				}
				if variant%3 != 2 {
					gotOut, wantOut = rowOf(r, n), make([]float32, n)
				}
				if variant > 2 {
					got, want = rowOf(r, n), rowOf(r, n)
					deltaStepRecall(gotState, gotOut, got, s, key, change, query, nextKey, decays[0], decays[1])
					deltaStepRecallGeneric(wantState, wantOut, want, s, key, change, query, nextKey, decays[0], decays[1])
					equalBits(t, "deltaStepRecall, recalled", got, want)
				} else {
					deltaStep(gotState, gotOut, s, key, change, query, decays[0])
					deltaStepGeneric(wantState, wantOut, s, key, change, query, decays[0])
				}
				equalBits(t, "state", gotState, wantState)
				equalBits(t, "answers", gotOut, wantOut)
			}
		}
	})
}

func TestConvolveEqualsPortable(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for range 300 {
			n, column, tokens := 1+r.IntN(150), r.IntN(20), r.IntN(MostKernel+1)
			width := column + n + r.IntN(9)
			var inputs [][]float32
			for range tokens {
				inputs = append(inputs, rowOf(r, width))
			}
			w, got := rowOf(r, max(1, tokens*width)), rowOf(r, n)
			want := append([]float32(nil), got...)
			convolve(got, inputs, w, column, width)
			convolveGeneric(want, inputs, w, column, width)
			equalBits(t, "convolve", got, want)
		}
	})
}
