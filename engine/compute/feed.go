package compute

// Feeder is what a Backend may offer besides: tokens that are chosen or drawn on the device and read again there. So a draft, and the
// pass that verifies it, are queued as a whole, and the host waits once a round instead of once a token.
type Feeder interface {
	// Tokens makes room for n tokens on the device.
	Tokens(n int) (Tokens, error)
	// EmbedTokens is Embed of m tokens of t, from the one at on. Unlike Embed it goes on with the work begun.
	EmbedTokens(dst Buffer, table Matrix, t Tokens, at, m int) error
	// Choose queues that the token at becomes the best one of row 0 of x, as Logits.Argmax would choose it. Scores that are not
	// finite leave none: what is read in its place is garbage, and Tokens.Get and Judge tell of it.
	Choose(x Buffer, t Tokens, at int) error
	// Draw queues that the token at, from 1 on, becomes one drawn from row 0 of x as Tokens.Sample said, by the uniform of stream 0 at
	// position at−1. What it was drawn from is kept for Judge.AcceptDrawn. Scores that are not finite leave none.
	Draw(x Buffer, t Tokens, at int) error
}

// Tokens are ids on the device.
type Tokens interface {
	// Put queues that the tokens from the one at on become ids.
	Put(at int, ids ...int32) error
	// Sample queues that tokens are drawn and judged by s from here on.
	Sample(s Sampling) error
	// Mark hands what was queued to the device. What it takes from here to the verdict is Verdict.PassMS.
	Mark() error
	// Get waits for the device and copies tokens from the one at on; −1 stands for one that could not be chosen.
	Get(at int, dst []int32) error
	// Kept waits for the device and copies the scores that Sampling.Keep asked for, row behind row. It returns what crossed the seam.
	Kept(dst []float32) (bytes int64, err error)
	Close() error
}

// Filters say what a row of scores becomes a distribution by: see package sample, which has the meaning and the order of them.
type Filters struct {
	Temperature     float64 // above 0
	TopK            int     // 0: off
	TopP            float64 // 1: off
	MinP            float64 // 0: off
	TemperatureLast bool
}

// MostDrafts is how many draft tokens AcceptDrawn can judge.
const MostDrafts = 32

// Sampling is what the tokens of a round are drawn and judged by: filters, and uniforms that are a function of numbers. The
// uniform of a stream and position is that of sample.NewPhilox.
type Sampling struct {
	Target, Draft Filters
	Seed          uint64
	Reply, Round  uint32
	// Drafts is the number of draft tokens, MostDrafts at most.
	Drafts int
	// Certain says that they were put, not drawn: each had the probability 1.
	Certain bool
	// Vocab is the number of ids that may be drafted; scores of a draft beyond it count for nothing.
	Vocab int
	// Keep asks Draw to keep the scores of the first so many draft tokens, for somebody who wants to look at them.
	Keep int
}

// Verdict is what became of a draft of tokens on the device.
type Verdict struct {
	Accepted int     // the first so many draft tokens stay: at temperature 0 those that are the target's own choice
	Follows  int32   // the target's choice behind them; −1 if its scores are not finite
	PassMS   float64 // the device's time from Tokens.Mark to the verdict; 0 without a mark
}

// Drawn is the verdict about a draft by chance.
type Drawn struct {
	Verdict
	P     float64 // the target's probability of Follows
	Draft []Chance
}

// Chance is a draft token and what target and draft gave to it, to 13 bits: enough to look at, and not what decided. An ID of −1, or a Q of 0,
// stands for a token that could not be drawn: the draft ended in front of it. What stands behind is garbage.
type Chance struct {
	ID   int32
	P, Q float64
}

// Judge is what Logits may offer besides.
type Judge interface {
	// AcceptBest compares the tokens of t behind the first, as many as drafts has room for, with the best of each row, and copies them
	// to drafts, −1 for one that could not be chosen: 4·(len(drafts)+1) bytes in one copy, and one wait.
	AcceptBest(t Tokens, drafts []int32) (Verdict, error)
	// AcceptDrawn judges the tokens of t behind the first, as many as Tokens.Sample said, one less than there are rows: with p of the
	// row and q that it was drawn from, each stays iff u·q < p. In place of the first that does not, the token that follows is drawn
	// from what p has above q; behind all, from the row behind them. 8·rows bytes come in one copy, and one wait.
	AcceptDrawn(t Tokens) (Drawn, error)
}
