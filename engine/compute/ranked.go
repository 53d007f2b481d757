package compute

// MostRanked is the largest number of best tokens that Tokens.Rank can ask for.
const MostRanked = 20

// Ranked has what the log-probabilities of a row need. The row is one of those that a verdict has used, and has
// the scores of before Tokens.Edit. The log-probability of a token is score − Top[0].Score − ln Sum.
type Ranked struct {
	// Own is the token that the verdict gives to the place of the row: draft token i in row i if it was accepted,
	// else the token that follows. Without such a token, Own has no meaning.
	Own Scored
	// Top are the best tokens, the best first; among equal scores, the lower id first.
	Top []Scored
	// Sum is Σ exp(score − Top[0].Score) over the row. It is 0 for a row with NaN or +Inf, or without a finite
	// score; then Own and Top have no meaning.
	Sum float64
}

// Scored is a token with its score.
type Scored struct {
	ID    int32
	Score float32
}
