package event

// Totals sum up a reply.
type Totals struct {
	Tokens         int     `json:"tokens"` // committed tokens, the stop token included
	Rounds         int     `json:"rounds"`
	PlainRounds    int     `json:"plainRounds"`
	Drafted        int     `json:"drafted"`
	Tested         int     `json:"tested"`
	Accepted       int     `json:"accepted"`
	PositionTested []int   `json:"positionTested"` // by position in the draft: the tokens that were tested there
	PositionKept   []int   `json:"positionKept"`   // by position in the draft: the tokens that were accepted there
	PrefillMS      float64 `json:"prefillMS"`      // how long the target read the prompt, and the negative prompt under guidance
	// ReadMS is how long the proposer read: the prompt, and tokens that it had missed. It is part of
	// the cost of speculation.
	ReadMS     float64 `json:"readMS,omitempty"`
	DraftMS    float64 `json:"draftMS"`
	VerifyMS   float64 `json:"verifyMS"`
	SampleMS   float64 `json:"sampleMS"`
	OtherMS    float64 `json:"otherMS"`
	BytesMoved int64   `json:"bytesMoved"`
	// Speedup is the time that the tokens of the whole reply would have taken in plain rounds, divided by
	// DecodeMS; 0 in a reply without a draft. Each token counts with the PlainMS of its round, or with the first
	// PlainMS that is known. SpeedupEstimated is true if the reply has had no plain round, or if the last
	// Round.Speedup was an estimate.
	Speedup          float64 `json:"speedup,omitempty"`
	SpeedupEstimated bool    `json:"speedupEstimated,omitempty"`
	// Milliseconds per token of plain rounds and of rounds with a draft; nil if the reply has had no such
	// round.
	PlainMSPerToken *float64 `json:"plainMSPerToken,omitempty"`
	SpecMSPerToken  *float64 `json:"specMSPerToken,omitempty"`
}

// DecodeMS is how long the reply took without the target's reading of the prompt. What the proposer reads
// counts, because plain decoding does not need it.
func (t *Totals) DecodeMS() float64 {
	return t.ReadMS + t.DraftMS + t.VerifyMS + t.SampleMS + t.OtherMS
}

// maxPositions is how many draft positions are counted. Settings do not allow longer drafts, but a server
// may make one, and a damaged recording may claim one.
const maxPositions = 64

// Add counts a finished round. plain: the round asked for no draft, or got none. A round whose proposer
// failed is not plain. Add leaves the speed-up and the times per token as they are.
func (t *Totals) Add(r *Round, plain bool) {
	t.Tokens += r.CommittedCount()
	t.Rounds++
	if plain {
		t.PlainRounds++
	}
	if r.Server == nil || r.Server.Drafted != Untold { // otherwise the engine counts the draft at the end of the reply
		t.Drafted += len(r.Draft)
		t.Tested += r.Tested
		t.Accepted += r.Accepted
	}
	t.PositionTested, t.PositionKept = r.CountPositions(t.PositionTested, t.PositionKept)
	t.ReadMS += r.ReadMS
	t.DraftMS += r.DraftMS
	t.VerifyMS += r.VerifyMS
	t.SampleMS += r.SampleMS
	t.OtherMS += r.OtherMS
	t.BytesMoved += r.BytesMoved
}

// CountPositions adds a round to the counts of tested and kept tokens by draft position, and returns
// them. Positions after the first rejection are not tested, so kept/tested is the acceptance of a
// position, given that all tokens before it were kept.
func (r *Round) CountPositions(tested, kept []int) (newTested, newKept []int) {
	if r.Server != nil && r.Server.Merged > 1 {
		return tested, kept // the draft positions of each round are not known
	}
	for i := range min(r.Tested, maxPositions) {
		if i == len(tested) {
			tested, kept = append(tested, 0), append(kept, 0)
		}
		tested[i]++
		if i < r.Accepted {
			kept[i]++
		}
	}
	return tested, kept
}
