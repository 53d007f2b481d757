package gamma

// replies remembers how long replies are, because what is read in order to draft has to be earned in what is left of one.
type replies struct {
	length  rate // tokens
	written int  // of the reply under way
}

// usualReply is the length that a reply is taken to have as long as none was seen to its end.
const usualReply = 128

func (r *replies) begin() {
	if r.written > 0 {
		r.length.observe(float64(r.written))
	}
	r.written = 0
}

// left returns how many more tokens are expected of a reply that may have most more. A reply is taken to forget how long it is already, so
// that the rest is as long as a whole one.
func (r *replies) left(most int) float64 {
	if r.length.weight == 0 {
		return min(float64(most), usualReply)
	}
	return min(float64(most), r.length.mean)
}
