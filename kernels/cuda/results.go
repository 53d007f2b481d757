package cuda

import "math"

// NoToken is the next token of a row whose scores were not finite.
const NoToken = -1

// CutBytes is the memory for a row that bin_rows and cut_rows share (Found in src/nucleus.cu): 1024 amounts,
// 2048 candidates and two counters. All of it is 0 before bin_rows and after cut_rows.
const CutBytes = 8*1024 + 8*2048 + 2*4

// Greedy decodes the words of accept_greedy: the draft's ids, and how many of them are accepted. next is
// the token that follows the accepted ones, or NoToken if the target's row was not finite.
func Greedy(words []uint32) (draft []int32, accepted int, next int32) {
	n := len(words) - 1
	draft = make([]int32, n)
	for i := range draft {
		draft[i] = int32(words[i])
	}
	return draft, int(words[n] >> 24), id24(uint64(words[n]))
}

// Judged is a draft token in the result of reject. P and Q are rounded to 13 significant bits; they are
// for display and statistics only.
type Judged struct {
	ID   int32
	P, Q float32
}

// Rejection decodes the words of reject: the number of accepted draft tokens, and the draft tokens
// (judged). next is the token that follows, with its p, or NoToken if the target's row was not finite. A
// draft token with Q 0 counts as the end of the draft, not as rejected.
func Rejection(words []uint64, drafts int) (accepted int, next int32, p float32, judged []Judged) {
	judged = make([]Judged, drafts)
	for i := range judged {
		w := words[1+i]
		judged[i] = Judged{id24(w), longFloat(w >> 24), longFloat(w >> 44)}
	}
	return int(words[0] >> 24 & 0xff), id24(words[0]), math.Float32frombits(uint32(words[0] >> 32)), judged
}

func id24(word uint64) int32 {
	if id := int32(word & 0xffffff); id != 0xffffff {
		return id
	}
	return NoToken
}

// longFloat converts 20 bits, 8 of exponent and 12 of fraction, to a float32 ≥ 0.
func longFloat(short uint64) float32 { return math.Float32frombits(uint32(short&0xfffff) << 11) }
