package state

// What a State holds at most. The figures are far above what a screen or a context can show, and keep a program that runs
// for days at some tens of megabytes.
const (
	// HistoryLimit is how many rounds the graphs can look back at least, once there were so many.
	HistoryLimit = 1024

	messageLimit   = 2000   // messages; older ones are dropped and counted, and only what they said is kept
	detailLimit    = 60_000 // tokens with fate and figures; older replies keep their text alone
	candidateLimit = 4_000  // tokens with the candidates of both models
	noticeLimit    = 50
	loadingLimit   = 4
	proposerLimit  = 32 // ways to draft that are kept
	warningLimit   = 8  // about the files
	markLimit      = 8  // setting changes noted at one round
	positionLimit  = 64 // draft positions that are counted
	ruleLimit      = 8  // rules of acceptance that a round is compared by

	earlierLimitBytes = 32 << 20 // of what dropped messages said; a file with all of it can still be opened
	turnBytes         = 2 << 10  // for a turn's role and figures
)

// trim keeps the State within its limits. The newest message is never touched.
func (s *State) trim() {
	if extra := len(s.Messages) - messageLimit; extra > 0 {
		for _, m := range s.Messages[:extra] {
			s.detail -= len(m.Tokens)
			s.keepTurn(m)
		}
		s.Messages = append([]*Message(nil), s.Messages[extra:]...)
		s.Dropped += extra
	}
	for i := 0; s.detail > detailLimit && i < len(s.Messages)-1; i++ {
		m := s.Messages[i]
		s.detail -= len(m.Tokens)
		if len(m.Tokens) > 0 {
			m.Tokens, m.Rounds, m.record.Events = nil, nil, nil
			m.Revision++
		}
	}
}

// trimCandidates drops the candidates of all but the newest tokens. It looks at tokens only every candidateLimit new ones,
// so up to twice as many may hold candidates for a while.
func (s *State) trimCandidates(added int) {
	if s.inspect += added; s.inspect < candidateLimit {
		return
	}
	s.inspect = 0
	kept := 0
	for i := len(s.Messages) - 1; i >= 0; i-- {
		tokens := s.Messages[i].Tokens
		s.Messages[i].record.trimCandidates(candidateLimit - kept)
		for k := len(tokens) - 1; k >= 0; k-- {
			if kept++; kept > candidateLimit {
				tokens[k].Target, tokens[k].Draft, tokens[k].LogProbs = nil, nil, nil
			}
		}
	}
}
