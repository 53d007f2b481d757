package ref

import "math"

// KeyOf orders tokens as the GPU does. A larger score gives a larger key. Among equal scores, a smaller
// id gives a larger key. NaN is above everything, and −0 equals 0.
func KeyOf(score float32, id int) uint64 {
	u := math.Float32bits(score)
	switch {
	case score != score:
		u = math.MaxUint32
	case score == 0:
		u = 1 << 31
	case u>>31 == 1:
		u = ^u
	default:
		u |= 1 << 31
	}
	return uint64(u)<<32 | uint64(^uint32(id))
}

// Peaks returns the largest key in each slice of a row.
func Peaks(scores []float32) []uint64 {
	peaks := make([]uint64, Slices(len(scores)))
	for id, score := range scores {
		peaks[id/SliceTokens] = max(peaks[id/SliceTokens], KeyOf(score, id))
	}
	return peaks
}

// Filters define a distribution. Temperature is above 0. FilterTemperature is the temperature of the
// softmax that TopP and MinP look at: Temperature, or 1 if the temperature is applied last. TopK 0, TopP
// 1 and MinP 0 mean off. The struct has the layout that the GPU kernels read.
type Filters struct {
	Temperature, FilterTemperature float32
	TopP, MinP                     float32
	TopK                           int32
}

// SoftmaxRow returns the weight exp((score − best) / Temperature) of every token whose key is at
// least cut and whose weight at FilterTemperature is at least MinP. All other tokens have the
// weight 0. In a row that Argmax refuses all weights are 0.
func SoftmaxRow(scores []float32, cut uint64, f Filters) WeightRow {
	r := WeightRow{make([]float32, len(scores)), make([]uint64, Slices(len(scores)))}
	best, ok := Argmax(scores)
	if !ok {
		return r
	}
	peak := scores[best]
	for id, score := range scores {
		if KeyOf(score, id) < cut {
			continue
		}
		w := Exp((score - peak) / f.FilterTemperature)
		if w < f.MinP {
			continue
		}
		if f.Temperature != f.FilterTemperature {
			w = Exp((score - peak) / f.Temperature)
		}
		r.Weights[id] = w
	}
	for id := range r.Weights {
		r.Sums[id/SliceTokens] += r.Mass(id)
	}
	return r
}
