package state

import "specula/engine/event"

// Sample is one round in the history that the graphs draw.
type Sample struct {
	Gamma, Drafted, Tested, Accepted int
	Probe                            bool // γ was chosen to measure what it costs, not for being the best
	Tokens                           int  // committed
	MS, DraftMS, VerifyMS            float64
	Bytes                            int64
	Marks                            []string // settings that changed just before
	Reply                            int      // ReplyInfo.Number of its reply
}

// Window sums the newest rounds, so that figures are calm enough to read.
type Window struct {
	Rounds, Drafted, Tested, Accepted, Tokens int
	MS, DraftMS, VerifyMS                     float64
	Bytes                                     int64
	Speculative                               int // rounds with a draft
}

// Recent sums the newest rounds, at most n and only of the reply being written or written last.
func (s *State) Recent(n int) Window {
	var w Window
	for i := len(s.History) - 1; i >= 0 && w.Rounds < n && s.History[i].Reply == s.Reply.Number; i-- {
		w.add(&s.History[i])
	}
	return w
}

// RecentAt is the window of the n rounds that ends with History[i], across replies; graphs draw it as a moving average.
func (s *State) RecentAt(i, n int) Window {
	var w Window
	for k := i; k >= 0 && k > i-n; k-- {
		w.add(&s.History[k])
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

// Acceptance is the share of tested draft tokens that were kept; false when none was tested.
func (w *Window) Acceptance() (float64, bool) {
	return float64(w.Accepted) / float64(max(w.Tested, 1)), w.Tested > 0
}

// TokensPerSecond is what the engine wrote in its own time, pauses of the pacer not counted; false when nothing was timed.
func (w *Window) TokensPerSecond() (float64, bool) {
	if w.MS <= 0 {
		return 0, false
	}
	return float64(w.Tokens) * 1000 / w.MS, true
}

// TokensPerPass is committed tokens per pass of the target; false before the first round.
func (w *Window) TokensPerPass() (float64, bool) {
	return float64(w.Tokens) / float64(max(w.Rounds, 1)), w.Rounds > 0
}

// count adds a round to the history and to the running totals of the reply.
func (s *State) count(e *event.Round, marks []string) {
	tokens := committed(e)
	if len(s.History) >= 2*HistoryLimit {
		s.History = append(s.History[:0], s.History[len(s.History)-HistoryLimit:]...)
	}
	s.History = append(s.History, Sample{
		Gamma: e.Gamma, Drafted: len(e.Draft), Probe: e.Probe, Tested: e.Tested, Accepted: e.Accepted, Tokens: tokens,
		MS: e.MS(), DraftMS: e.DraftMS, VerifyMS: e.VerifyMS, Bytes: e.BytesMoved, Marks: marks, Reply: s.Reply.Number,
	})
	s.Sequence++

	t := &s.Reply.Totals
	t.Tokens += tokens
	t.Rounds++
	if len(e.Draft) == 0 {
		t.PlainRounds++
	}
	t.Drafted += len(e.Draft)
	t.Tested += e.Tested
	t.Accepted += e.Accepted
	t.DraftMS += e.DraftMS
	t.VerifyMS += e.VerifyMS
	t.SampleMS += e.SampleMS
	t.OtherMS += e.OtherMS
	t.BytesMoved += e.BytesMoved
	countPositions(t, e)
	s.Reply.ContextUsed = e.TargetLen
	if e.Speedup > 0 {
		s.Reply.Speedup, s.Reply.Estimated = e.Speedup, e.SpeedupEstimated
	}
}

// countPositions counts by draft position what was tested and what was kept. A position behind the first rejection was never
// tested, so its share is conditional on having been reached.
func countPositions(t *event.Totals, e *event.Round) {
	for i := 0; i < min(e.Tested, positionLimit); i++ {
		if i == len(t.PositionTested) {
			t.PositionTested = append(t.PositionTested, 0)
			t.PositionKept = append(t.PositionKept, 0)
		}
		t.PositionTested[i]++
		if i < e.Accepted {
			t.PositionKept[i]++
		}
	}
}
