package state

// The limits of a State. They are far above what a screen can show. With them a program that runs for
// days stays at some tens of megabytes.
const (
	// HistoryLimit is the number of newest rounds that stay when the history is shortened.
	HistoryLimit = 1024

	messageLimit   = 2000   // messages; older ones keep only their text
	detailLimit    = 60_000 // tokens with fate and numbers; older replies keep only their text
	candidateLimit = 4_000  // tokens with the candidates of both models
	noticeLimit    = 50     // messages to the user
	loadingLimit   = 4      // models whose loading is shown
	proposerLimit  = 32     // proposers of the loaded models
	warningLimit   = 8      // warnings about the model's files
	markLimit      = 8      // setting changes shown at one round
	ruleLimit      = 8      // rules of acceptance that are compared by what each would have kept of a round

	earlierLimitBytes = 32 << 20 // text of dropped messages; a file with all of it can still be opened
	turnBytes         = 2 << 10  // size of a turn's role and numbers
)

// trim keeps the State within its limits. It never changes the newest message.
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

// trimCandidates removes the candidates of all but the newest candidateLimit tokens. added is the number of
// tokens since the last call. It removes candidates only once per candidateLimit new tokens, so in between
// up to twice as many tokens have candidates.
func (s *State) trimCandidates(added int) {
	if s.inspect += added; s.inspect < candidateLimit {
		return
	}
	s.inspect = 0
	kept := 0
	for i := len(s.Messages) - 1; i >= 0; i-- {
		m := s.Messages[i]
		tokens, beyond := m.Tokens, kept >= candidateLimit
		if beyond && m.bare {
			return // all messages before it are bare, too
		}
		m.bare = beyond
		m.record.trimCandidates(candidateLimit - kept)
		for k := len(tokens) - 1; k >= 0; k-- {
			if kept++; kept > candidateLimit {
				tokens[k].Target, tokens[k].Draft, tokens[k].LogProbs = nil, nil, nil
			}
		}
	}
}
