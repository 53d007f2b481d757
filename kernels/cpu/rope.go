package cpu

// RoPE rotates the first 2·len(cos) numbers of one head in place, pair i by the angle with cosine cos[i] and sine sin[i].
// Pair i is (i, i+len(cos)) with neox, otherwise (2i, 2i+1).
func RoPE(head, cos, sin []float32, neox bool) {
	n := len(cos)
	sin = sin[:n]
	if neox {
		low, high := head[:n], head[n:2*n]
		for i, c := range cos {
			low[i], high[i] = rotate(low[i], high[i], c, sin[i])
		}
		return
	}
	head = head[:2*n]
	for i, c := range cos {
		head[2*i], head[2*i+1] = rotate(head[2*i], head[2*i+1], c, sin[i])
	}
}

func rotate(a, b, cos, sin float32) (float32, float32) {
	return float32(a*cos) - float32(b*sin), float32(a*sin) + float32(b*cos)
}
