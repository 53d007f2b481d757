package compute

// Picker is an optional interface of Logits with one row. A draft whose edits depend on the tokens before, such as
// one under a form, is made with it: the host learns each token, but no row.
type Picker interface {
	// Pick makes the best token of the row, as with Argmax, the token of t with the index at. If draw is set,
	// the token is drawn instead, as by Feeder.Draw. The row is edited as Tokens.Edit said last. Pick waits,
	// moves 4 bytes to the host, or 8 for a drawn token, and returns the token. Q is the probability of a
	// drawn token. If the edited row has no best token, the ID is −1.
	Pick(t Tokens, at int, draw bool) (Chance, error)
}
