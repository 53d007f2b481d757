package cpu

// Add adds y to x.
func Add(x, y []float32) { add(x, y) }
