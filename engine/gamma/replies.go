package gamma

// replies remembers how long replies are. What a proposer reads before it drafts must be earned
// back in the rest of the reply.
type replies struct {
	length  rate // mean length in tokens
	written int  // tokens of the current reply so far
}

// usualReply is the assumed length of a reply, in tokens, until one was seen to its end.
const usualReply = 128

func (r *replies) begin() {
	if r.written > 0 {
		r.length.observe(float64(r.written))
	}
	r.written = 0
}

// left returns the expected number of tokens still to come in a reply that may have most more. The
// length is assumed to be memoryless: however long the reply is already, the expected rest is the
// mean length of a whole reply.
func (r *replies) left(most int) float64 {
	if r.length.weight == 0 {
		return min(float64(most), usualReply)
	}
	return min(float64(most), r.length.mean)
}
