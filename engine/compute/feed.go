package compute

// Feeder is an optional interface of a Backend that chooses or draws tokens on the device and feeds
// them to the next pass there. So a draft and the pass that verifies it are queued together, and the
// host waits once per round instead of once per token.
type Feeder interface {
	// Tokens allocates room for n tokens on the device.
	Tokens(n int) (Tokens, error)
	// EmbedTokens is Embed for m tokens of t, starting at index at. Embed first sends the queued
	// work to the device; EmbedTokens only joins the queue.
	EmbedTokens(dst Buffer, table Matrix, t Tokens, at, m int) error
	// Choose queues this: the best token of row 0 of x, as with Logits.Argmax, becomes the token of t
	// with the index at. If the scores are not finite, no token is chosen, and a pass that reads the
	// token computes garbage; Tokens.Get and Judge report it.
	Choose(x Buffer, t Tokens, at int) error
	// Draw queues this: the token of t with the index at, which is 1 or more, is drawn from row 0 of x.
	// The draw uses the settings last given to Tokens.Sample, and the uniform of stream 0
	// (sample.DraftDraw) at position at − 1. The device keeps the distribution for Judge.AcceptDrawn. If the
	// scores are not finite, no token is drawn.
	Draw(x Buffer, t Tokens, at int) error
}

// Tokens are token ids on the device.
type Tokens interface {
	// Put queues this: the tokens from index at on become ids.
	Put(at int, ids ...int32) error
	// Sample queues this: from here on tokens are drawn and judged under s.
	Sample(s Sampling) error
	// Edit queues this: the next AcceptBest or AcceptDrawn with these tokens judges edited rows, or the next
	// Pick picks from an edited row. Row of Logits still gives the rows unedited.
	Edit(e *Edits) error
	// Rank queues this: the next AcceptBest or AcceptDrawn with these tokens also finds the n best tokens of
	// each row that its verdict uses; see Verdict.Ranked. n is 1 to MostRanked.
	Rank(n int) error
	// Mark hands the queued work to the device. Verdict.PassMS is the time from here to the
	// verdict.
	Mark() error
	// Get waits for the device and copies the tokens from index at on. −1 means that no token could
	// be chosen.
	Get(at int, dst []int32) error
	// Kept waits for the device and copies the scores that Sampling.Keep asked for, one row after the other, or
	// the first of these rows. It returns how many bytes it copied.
	Kept(dst []float32) (bytes int64, err error)
	Close() error
}

// Filters turn a row of scores into a distribution. Package sample defines their meaning and order.
type Filters struct {
	Temperature     float64 // above 0
	TopK            int     // 0: off
	TopP            float64 // 1: off
	MinP            float64 // 0: off
	TemperatureLast bool    // temperature comes after the other filters, else before them
}

// MostDrafts is the largest number of draft tokens that AcceptDrawn can judge and Edits can speak of.
const MostDrafts = 32

// Judgement is how a device finds out which draft tokens stay, and which token follows them. Package spec
// has the rules.
type Judgement int

// The judgements. p is the target's probability of a token in its row, q the draft's. Uniforms have the
// stream numbers of package sample.
const (
	// EachToken accepts a token iff u·q < p, with the uniform u of stream 1 at its position. After the first
	// rejection the next token is drawn from the residual max(0, p−q), by stream 2; if all are accepted,
	// from the last row, by stream 3.
	EachToken Judgement = iota
	// OwnDraws lets the target draw a token in each row. The uniform is that of stream 4, round 0 and position
	// Sampling.Written + i for row i. The drawn token is the lowest id for which the probabilities of all ids up
	// to it add up to more than the uniform. Draft tokens are accepted up to the first that differs from the
	// token drawn in its row. That drawn token follows; if none differs, the one drawn in the last row. The
	// draft's q are not needed.
	OwnDraws
	// WholeBlock is the rule of engine/spec/block.go. The block may end after token i if the uniform of stream
	// 1 at position i is below h. The next token is drawn from max(0, w·p−q) by stream 2, or from the last row
	// by stream 3.
	WholeBlock
)

// Sampling says how the tokens of a round are drawn and judged: the filters, and the numbers from
// which the uniforms are computed, as in sample.NewPhilox.
type Sampling struct {
	Target, Draft Filters
	Judgement     Judgement
	Seed          uint64
	Reply, Round  uint32
	// Written is the number of tokens that the reply had before the round. OwnDraws needs it.
	Written int
	// Drafts is the number of draft tokens, MostDrafts at most.
	Drafts int
	// Certain: the draft tokens came from Put and were not drawn on the device. q = 1 for each, as far as
	// the device knows.
	Certain bool
	// Vocab is the number of ids that may be drafted; a draft's scores beyond it are ignored.
	Vocab int
	// Keep asks Draw to keep the scores of the first Keep draft tokens for display.
	Keep int
}

// Verdict says what became of a draft on the device.
type Verdict struct {
	Accepted int     // draft tokens accepted; at temperature 0 those equal to the target's choice
	Follows  int32   // the target's token after the accepted ones; −1 if its scores are not finite
	PassMS   float64 // device time from Tokens.Mark to the verdict, in milliseconds; 0 without a mark
	// Ranked has an entry for each of the rows 0 … Accepted; nil unless Tokens.Rank asked for it.
	Ranked []Ranked
}

// Drawn is the verdict about a draft under sampling.
type Drawn struct {
	Verdict
	P     float64 // the target's probability of Follows
	Draft []Chance
}

// Chance is a draft token with its probability under the target (P) and under the draft (Q). Both are
// rounded to 13 significant bits for display; the device judges before it rounds. An ID of −1 or a Q of
// 0 means that no token could be drawn: the draft ended before it, and all later entries are garbage.
type Chance struct {
	ID   int32
	P, Q float64
	// Bound, of WholeBlock alone, is the h of the token: the chance that the block may end after it. It is −1
	// if the tokens before it have the weight 0, and where the draft has ended.
	Bound float64
}

// Judge is an optional interface of Logits: it verifies a draft on the device.
type Judge interface {
	// Guide queues this: row i of the first half of the rows becomes guided by row i of the second half.
	// From here on, the Logits have the first half only. With a score w of the first half and v of the
	// second, the guided score is v + scale·(w − v), and each step rounds to float32. If w or v is −Inf,
	// w stays. Call it before any other method.
	Guide(scale float32) error
	// AcceptBest compares tokens 1, 2, … of t, the draft, with the best token of each row, and
	// copies the draft to drafts. The draft has len(drafts) tokens. A token that could not be
	// chosen is −1 in drafts. AcceptBest moves 4·(len(drafts)+1) bytes in one copy, with one wait. After
	// Tokens.Rank, at most 16 + 8·n bytes for each row come in the same copy, n being the argument of Rank.
	AcceptBest(t Tokens, drafts []int32) (Verdict, error)
	// AcceptDrawn judges tokens 1, 2, … of t, the draft. The draft has Sampling.Drafts tokens (see
	// Tokens.Sample), one fewer than there are rows. Sampling.Judgement says how.
	// AcceptDrawn moves 8·rows bytes in one copy, with one wait; by WholeBlock 4 bytes more for each token.
	// Tokens.Rank adds to it as to AcceptBest.
	AcceptDrawn(t Tokens) (Drawn, error)
}
