package state

import (
	"specula/engine/event"
	"specula/ui/sanitize"
)

// Mark is a change of a setting, by the setting's short name.
type Mark struct{ Setting, Value string }

// Sample is one round in the history that the graphs draw.
type Sample struct {
	Gamma, Drafted, Tested, Accepted int
	Probe                            bool // γ was chosen in order to measure
	Overruled                        bool // γ is not that of the rule, as at the end of a reply
	Tokens                           int  // committed tokens
	MS, DraftMS, VerifyMS            float64
	ReadMS                           float64 // part of MS in which the proposer read what it had missed
	Bytes                            int64
	Marks                            []Mark // settings that changed just before, markLimit at most
	Reply                            int    // ReplyInfo.Number of its reply
	Proposer                         string

	basis basis
}

// Window is a sum over several rounds, because numbers of single rounds would jump.
type Window struct {
	Rounds, Drafted, Tested, Accepted, Tokens int
	MS, DraftMS, VerifyMS                     float64
	Bytes                                     int64
	Speculative                               int // rounds with a draft
}

// Recent sums the newest rounds of the current or last reply, at most n.
func (s *State) Recent(n int) Window {
	var w Window
	for i := len(s.History) - 1; i >= 0 && w.Rounds < n && s.History[i].Reply == s.Reply.Number; i-- {
		w.add(&s.History[i])
	}
	return w
}

func (w *Window) add(h *Sample) {
	w.Rounds++
	w.Drafted += h.Drafted
	w.Tested += h.Tested
	w.Accepted += h.Accepted
	w.Tokens += h.Tokens
	w.MS += h.MS
	w.DraftMS += h.DraftMS
	w.VerifyMS += h.VerifyMS
	w.Bytes += h.Bytes
	if h.Drafted > 0 {
		w.Speculative++
	}
}

// Acceptance returns the accepted part of the tested draft tokens; the bool is false if none was tested.
func (w *Window) Acceptance() (float64, bool) {
	return float64(w.Accepted) / float64(max(w.Tested, 1)), w.Tested > 0
}

// TokensPerPass returns the committed tokens per pass of the target; the bool is false without a round.
func (w *Window) TokensPerPass() (float64, bool) {
	return float64(w.Tokens) / float64(max(w.Rounds, 1)), w.Rounds > 0
}

// Rate is a weighted sum of the tokens and times of rounds. Each round has rateShare of the weight of the
// round after it, as in the engine's speed-up, so that rate and speed-up are about the same rounds.
type Rate struct {
	Tokens, MS, DraftMS float64
	Rounds              int // number of rounds in the sum
}

const rateShare = 0.95

// Rate returns the rate of the newest rounds of this chat. With asked, it counts the rounds that asked for a
// draft, those of the newest one's proposer; otherwise the rounds that asked for none. The proposer's reading
// is left out, as in the speed-up.
func (s *State) Rate(asked bool) (r Rate) {
	weight, last := 1.0, ""
	for i := len(s.History) - 1; i >= 0 && weight > 0.01; i-- {
		if h := &s.History[i]; (h.Gamma > 0) == asked && (!asked || r.Rounds == 0 || h.Proposer == last) {
			last = h.Proposer
			r.Tokens += weight * float64(h.Tokens)
			r.MS += weight * (h.MS - h.ReadMS)
			r.DraftMS += weight * h.DraftMS
			r.Rounds++
			weight *= rateShare
		}
	}
	return r
}

// PerSecond returns tokens a second; 0 if nothing was timed.
func (r Rate) PerSecond() float64 {
	if !(r.MS > 0) {
		return 0
	}
	return r.Tokens * 1000 / r.MS
}

// count adds a round to the history and to the running totals of the reply.
func (s *State) count(e *event.Round, marks []Mark) {
	tokens := e.CommittedCount()
	if len(s.History) >= 2*HistoryLimit {
		s.History = append(s.History[:0], s.History[len(s.History)-HistoryLimit:]...)
	}
	s.History = append(s.History, Sample{
		Gamma: e.Gamma, Drafted: len(e.Draft), Probe: e.Probe, Overruled: e.GammaOverruled, Tested: e.Tested, Accepted: e.Accepted, Tokens: tokens,
		MS: e.MS(), ReadMS: e.ReadMS, DraftMS: e.DraftMS, VerifyMS: e.VerifyMS, Bytes: e.BytesMoved, Marks: marks, Reply: s.Reply.Number, Proposer: sanitize.Line(e.Proposer),
		basis: s.basisNow(),
	})
	s.Sequence++

	s.Reply.Totals.Add(e, len(e.Draft) == 0)
	s.weigh(e)
	s.Reply.ContextUsed = e.TargetLen
	if e.Speedup > 0 {
		s.Reply.Speedup, s.Reply.Estimated = e.Speedup, e.SpeedupEstimated
	}
}
