package remote

// lag knows how much of the conversation llama-server's sequences have missed. A draft of γ tokens
// needs γ+1 sequences, and each has a cache of its own. One of them writes the stream; each of the
// others has read only the prompts that earlier drafts sent to it.
type lag struct {
	held    [][]int32 // for each row of a draft: the prompt that the row's sequence has read
	tokenMS float64   // milliseconds for reading a token of a prompt; 0: not known
}

const (
	// If the server has read fewer than fewRead tokens, their time says little about the time of one
	// token.
	fewRead = 8
	// usualLag is how many tokens a sequence misses while rounds with drafts follow each other. The
	// measured time of a round includes reading these tokens.
	usualLag = 16
)

// sent notes that the server has read the prompts, each in a sequence of its own, but all at the same time.
func (l *lag) sent(prompts [][]int32, places []place) {
	read, ms := 0, 0.0
	for i, p := range places {
		if read, ms = read+p.read, max(ms, p.readMS); i == len(l.held) {
			l.held = append(l.held, nil)
		}
		l.held[i] = prompts[i]
	}
	if read >= fewRead && ms > 0 && ms < float64(read)*mostReadMS {
		l.tokenMS = ms / float64(read)
	}
}

// mostReadMS is the largest time per token, in milliseconds, that is believed: the server may send any
// number.
const mostReadMS = 1e4

// Streams reports whether a stream is open from which more tokens come.
func (t *Target) Streams() bool { return t.stream != nil && t.stream.answer != nil && !t.stream.ended }

// MissedMS returns a list with an entry for each token of a draft of up to most tokens. The entry is
// how many milliseconds the server takes to read what the sequence of that token has missed beyond
// usualLag. It is 0 while the time of a token is not known. MissedMS returns nil for servers whose
// sequences share a cache.
func (t *Target) MissedMS(most int) []float64 {
	if t.server.kind != Llama {
		return nil
	}
	list := make([]float64, most)
	for i := range list {
		common := 0
		if row := i + 1; row < len(t.lag.held) {
			held := t.lag.held[row]
			for common < min(len(held), len(t.held)) && held[common] == t.held[common] {
				common++
			}
		}
		list[i] = float64(max(0, len(t.held)-common-usualLag)) * t.lag.tokenMS
	}
	return list
}
