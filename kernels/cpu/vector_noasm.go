//go:build (!amd64 && !arm64) || noasm

package cpu

func add(x, y []float32)                                          { addGeneric(x, y) }
func times(x []float32, factor float32)                           { timesGeneric(x, factor) }
func mix(x, y []float32, a, b float32)                            { mixGeneric(x, y, a, b) }
func scale(dst, x, w []float32, factor float32)                   { scaleGeneric(dst, x, w, factor) }
func squares(x []float32) float32                                 { return squaresGeneric(x) }
func largest(x []float32) float32                                 { return largestGeneric(x) }
func rotate(low, high, cos, sin []float32)                        { rotateGeneric(low, high, cos, sin) }
func rotatePairs(x, cos, sin []float32)                           { rotatePairsGeneric(x, cos, sin) }
func swiGLU(gate, up []float32)                                   { swiGLUGeneric(gate, up) }
func gelu(x []float32)                                            { geluGeneric(x) }
func expSum(x []float32, shift float32) float32                   { sums := expSumGeneric(x, shift); return fold(&sums) }
func narrow(dst []uint16, x []float32)                            { narrowGeneric(dst, x) }
func widenHalf(dst []float32, x []uint16)                         { widenHalfGeneric(dst, x) }
func normGroups(dst, x, w []float32, groups int, eps float64) int { return 0 }
