package engine

// speed measures how much faster speculative rounds write than plain ones, from rounds of this session alone.
// Both averages forget slowly, so that the figure follows a context that grows and a machine that is shared.
type speed struct {
	plainMS    float64 // per token, moving average over plain rounds
	plainN     int
	specMS     float64 // moving averages over speculative rounds: milliseconds and tokens a round
	specTokens float64
	specN      int
	sincePlain int // speculative rounds since the last plain one
}

// baselineEvery is the number of speculative rounds that one plain round must serve as a baseline for. It costs about
// (1 − 1/speed-up)/64 of the time.
const baselineEvery = 64

// baselineDue says that a plain round is wanted: there was none for long, or none at all but something to compare.
func (s *speed) baselineDue() bool {
	return s.sincePlain >= baselineEvery || s.plainN == 0 && s.specN > 0
}

// speedMemory is the weight of a new round in the moving averages, once there are enough to average.
const speedMemory = 0.05

// observe takes one finished round of so many milliseconds that committed tokens.
func (s *speed) observe(drafted bool, ms float64, tokens int) {
	if tokens == 0 {
		return
	}
	if !drafted {
		s.sincePlain = 0
		s.plainN++
		s.plainMS += weight(s.plainN) * (ms/float64(tokens) - s.plainMS)
		return
	}
	s.sincePlain++
	s.specN++
	w := weight(s.specN)
	s.specMS += w * (ms - s.specMS)
	s.specTokens += w * (float64(tokens) - s.specTokens)
}

// forgetDrafts forgets the speculative rounds, which somebody else drafted. Plain rounds cost what they did.
func (s *speed) forgetDrafts() { s.specMS, s.specTokens, s.specN = 0, 0, 0 }

// weight makes the first rounds a plain mean and the later ones a moving average.
func weight(n int) float64 { return max(speedMemory, 1/float64(n)) }

// ratio is plain over speculative milliseconds per token; 0 until both have been measured.
func (s *speed) ratio() float64 {
	if s.plainN == 0 || s.specN == 0 || s.specMS <= 0 {
		return 0
	}
	return s.plainMS / (s.specMS / s.specTokens)
}
