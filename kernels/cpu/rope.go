package cpu

// RoPE rotates the first 2·len(cos) numbers of one head in place: pair i by the angle with cosine
// cos[i] and sine sin[i]. Pair i is (i, i+len(cos)) with neox, otherwise (2i, 2i+1).
func RoPE(head, cos, sin []float32, neox bool) {
	n := len(cos)
	head, sin = head[:2*n], sin[:n]
	if neox {
		rotate(head[:n], head[n:], cos, sin)
		return
	}
	rotatePairs(head, cos, sin)
}
