package compute

// Edits say how a device changes the scores in the rows that it judges or picks from: penalties, biases, bans and masks.
// Row i comes after the first i draft tokens. For penalties the device counts these tokens, so the host
// need not know them. The score of a token changes in this order:
//  1. Its bias is added.
//  2. If the token is counted at least once, the score is divided by Repeat if it is above 0, and else
//     multiplied by Repeat. Then Frequency for each count, and Presence, are subtracted.
//  3. Bans apply.
//  4. A score whose token Allowed leaves out becomes −Inf, whatever it was.
//
// Each step rounds to float32. Biases and penalties keep a finite score finite. See ref.EditRow
// and ref.MaskRow in kernels/ref.
type Edits struct {
	Repeat, Frequency, Presence float32 // Repeat 0: no penalties
	// Tokens has the tokens that are counted before the round, have a bias or are banned, in ascending
	// order of ids, each once.
	Tokens []Edit
	// Leaving[i] is the token that leaves the window of the penalties when draft token i enters the window.
	// From then on the leaving token is counted once less. −1: none leaves.
	Leaving [MostDrafts]int32
	// Allowed has a mask for each row, of MaskWords words each. Bit id%64 of word id/64 is set if the token id
	// may be chosen. nil: all tokens may be chosen in all rows.
	Allowed []uint64
}

// MaskWords is the number of words of a mask for so many tokens.
func MaskWords(vocab int) int { return (vocab + 63) / 64 }

// Edit is what changes the score of one token.
type Edit struct {
	ID     int32
	Count  int32 // how often penalties count the token before the round
	Bias   float32
	Banned int32 // the token is banned in the rows 0 … Banned−1
}

// MostEdits is the largest number of Edits.Tokens.
const MostEdits = 1 << 14

// NewEdits returns Edits that change nothing.
func NewEdits() *Edits {
	e := &Edits{}
	for i := range e.Leaving {
		e.Leaving[i] = -1
	}
	return e
}
