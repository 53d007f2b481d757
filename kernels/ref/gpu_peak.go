package ref

// MatrixPeak multiplies a 16×16 tile a by a 16×8 tile b, both row-major, and returns one number for
// each lane of a warp. Lane l adds the four elements of the product in the rows l/4 and l/4+8 and
// the columns 2·(l%4) and 2·(l%4)+1, each rounds·chains times. The result is exact for integers
// that float32 can hold.
func MatrixPeak(a, b []float32, rounds, chains int) [32]float32 {
	var out [32]float32
	for lane := range out {
		for j := range 4 {
			row, col := lane/4+j/2*8, 2*(lane%4)+j%2
			for k := range 16 {
				out[lane] += float32(rounds*chains) * a[16*row+k] * b[8*k+col]
			}
		}
	}
	return out
}
