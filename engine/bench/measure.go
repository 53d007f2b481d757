package bench

import (
	"slices"

	"specula/engine/event"
)

// reply holds the measurements of one reply.
type reply struct {
	ids    []int32
	totals event.Totals
	rounds []round
	passes []event.Round
	ended  bool
	failed string
}

// round has the measurements of a round that predict needs.
type round struct {
	drafted int
	draftMS float64
	// verifyMS includes the time of choosing tokens: only then does the host wait for a pass that it has
	// queued on a device.
	verifyMS float64
}

func (r *reply) add(e event.Event) {
	switch e := e.(type) {
	case event.Round:
		r.rounds = append(r.rounds, round{len(e.Draft), e.DraftMS, e.VerifyMS + e.SampleMS})
		r.passes = append(r.passes, e)
	case event.Failed:
		r.failed = e.Error
	case event.ReplyEnded:
		r.ids, r.totals, r.ended = slices.Clone(e.IDs), e.Totals, true
	}
}

// msPerToken returns the time per token, 0 if nothing was written.
func (r *reply) msPerToken() float64 { return over(r.totals.DecodeMS(), float64(r.totals.Tokens)) }

// Mode is the comparison at one temperature.
type Mode struct {
	Temperature float64 `json:"temperature"`
	Plain       Side    `json:"plain"`
	Speculative Side    `json:"speculative"`
	// Speedup is plain over speculative milliseconds per token; nil if a side wrote nothing.
	Speedup *Interval `json:"speedup"`
	// Predicted is the speed-up by the formula of speculative decoding; nil if rounds that predict needs are
	// missing.
	Predicted *Prediction `json:"predicted"`
}

// Side sums up the replies to all prompts in one way of decoding: plain or speculative.
type Side struct {
	Tokens     int     `json:"tokens"`
	Rounds     int     `json:"rounds"` // passes of the target
	DecodeMS   float64 `json:"decodeMS"`
	Drafted    int     `json:"drafted"`
	Tested     int     `json:"tested"`
	Accepted   int     `json:"accepted"`
	Positions  []Share `json:"positions"` // one for each position in the draft
	BytesMoved int64   `json:"bytesMoved"`
}

// Share counts tested draft tokens, and how many of them were accepted.
type Share struct {
	Tested int `json:"tested"`
	Kept   int `json:"kept"`
}

// MSPerToken returns the time per token, 0 if nothing was written.
func (s Side) MSPerToken() float64 { return over(s.DecodeMS, float64(s.Tokens)) }

// TokensPerPass returns tokens per pass of the target, 0 if there was none.
func (s Side) TokensPerPass() float64 { return over(float64(s.Tokens), float64(s.Rounds)) }

// Acceptance returns accepted over tested draft tokens, 0 if none was tested.
func (s Side) Acceptance() float64 { return over(float64(s.Accepted), float64(s.Tested)) }

func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (s *Side) add(r *reply) {
	t := r.totals
	s.Tokens += t.Tokens
	s.Rounds += t.Rounds
	s.DecodeMS += t.DecodeMS()
	s.Drafted += t.Drafted
	s.Tested += t.Tested
	s.Accepted += t.Accepted
	s.BytesMoved += t.BytesMoved
	for i := range min(len(t.PositionTested), len(t.PositionKept)) {
		if i == len(s.Positions) {
			s.Positions = append(s.Positions, Share{})
		}
		s.Positions[i].Tested += t.PositionTested[i]
		s.Positions[i].Kept += t.PositionKept[i]
	}
}

// compare sums up the replies at one temperature.
func compare(temperature float64, pairs []pair) Mode {
	m := Mode{Temperature: temperature}
	for i := range pairs {
		m.Plain.add(&pairs[i].plain)
		m.Speculative.add(&pairs[i].speculative)
	}
	m.Speedup = speedup(pairs, seedOfIntervals)
	m.Predicted = predict(pairs, m.Speculative.Acceptance())
	return m
}
