package ref

// Lanes is the number of partial sums of Dot: one AVX-512 register, or two AVX2 registers.
const Lanes = 16

// Dot is the inner product of w and x, defined to the bit. Element k belongs to lane k mod 16. Each
// lane adds its products in ascending k, starting from zero, with product and sum rounded once
// (FMA). Then the lanes are added by halves: 0..7 += 8..15, 0..3 += 4..7, 0..1 += 2..3, 0 += 1.
func Dot(w, x []float32) float32 {
	var lane [Lanes]float32
	for k := range w {
		lane[k%Lanes] = FMA(w[k], x[k], lane[k%Lanes])
	}
	for half := Lanes / 2; half > 0; half /= 2 {
		for i := range half {
			lane[i] += lane[i+half]
		}
	}
	return lane[0]
}
