package compute

// Feeder is what a Backend may offer besides: tokens that are chosen on the device and read again there. So a draft, and the pass that
// verifies it, are queued as a whole, and the host waits once a round instead of once a token.
type Feeder interface {
	// Tokens makes room for n tokens on the device.
	Tokens(n int) (Tokens, error)
	// EmbedTokens is Embed of m tokens of t, from the one at on. Unlike Embed it goes on with the work begun.
	EmbedTokens(dst Buffer, table Matrix, t Tokens, at, m int) error
	// Choose queues that the token at becomes the best one of row 0 of x, as Logits.Argmax would choose it. Scores that are not
	// finite leave none: what is read in its place is garbage, and Tokens.Get and Judge.AcceptBest tell of it.
	Choose(x Buffer, t Tokens, at int) error
}

// Tokens are ids on the device.
type Tokens interface {
	// Put queues that a token becomes id.
	Put(at int, id int32) error
	// Mark hands what was queued to the device. What it takes from here to the verdict is Verdict.PassMS.
	Mark() error
	// Get waits for the device and copies tokens from the one at on; −1 stands for one that could not be chosen.
	Get(at int, dst []int32) error
	Close() error
}

// Verdict is what became of a draft of tokens on the device, at temperature 0.
type Verdict struct {
	Accepted int     // the first so many draft tokens are the target's own choice
	Follows  int32   // the target's choice behind them; −1 if its scores are not finite
	PassMS   float64 // the device's time for the pass and the verdict
}

// Judge is what Logits may offer besides, of a pass over tokens that Choose chose.
type Judge interface {
	// AcceptBest compares the tokens of t behind the first, as many as drafts has room for, with the best of each row, and copies them
	// to drafts, −1 for one that could not be chosen: 4·(len(drafts)+1) bytes in one copy, and one wait.
	AcceptBest(t Tokens, drafts []int32) (Verdict, error)
}
