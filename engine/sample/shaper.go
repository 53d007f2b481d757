package sample

// Shaper changes the scores of a row in the light of the tokens before it: a penalty, a bias, a ban, a grammar. It is what
// makes a row depend on earlier tokens of its own round, so that rounds with one are verified position by position.
//
// It knows the context as a stack. Before a row is shaped, every token in front of it has been pushed; what turns out not to be
// committed is popped again. Draft and target rows of one round are shaped by the same Shaper, one after the other.
type Shaper interface {
	// Name says in a word or two what it is, as the screen shows it: "penalties", "JSON schema".
	Name() string
	// Shape edits the scores (vocab) of the token behind everything pushed. A score of −Inf forbids a token.
	Shape(logits []float32) error
	// Push adds a token behind the context. A token that Shape forbids may be pushed, too: then nothing is asked until it is popped.
	Push(id int32)
	// Pop takes the last n tokens back; at least so many were pushed since Reset.
	Pop(n int)
	// Reset forgets everything and begins with a prompt. A Shaper decides for itself whether the prompt matters to it.
	Reset(prompt []int32) error
}
