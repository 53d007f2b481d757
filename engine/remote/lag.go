package remote

// lag knows what llama-server's sequences have missed of the conversation. A draft of γ tokens needs γ+1 sequences,
// and each has a cache of its own. One of them writes the stream; the others have what an earlier draft sent to them.
type lag struct {
	held    [][]int32 // by row of a draft: the prompt that its sequence has read
	tokenMS float64   // milliseconds for reading a token of a prompt; 0: not known
}

const (
	// fewRead is the number of tokens below which their time says little about that of a token.
	fewRead = 8
	// usualLag is the lag of a sequence while round follows round. It is part of the price of a round.
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

// mostReadMS bounds the milliseconds for a token that are believed: the server may tell anything.
const mostReadMS = 1e4

// Streams reports whether the server writes a reply that is being read.
func (t *Target) Streams() bool { return t.stream != nil && t.stream.answer != nil && !t.stream.ended }

// MissedMS returns, for each token of a draft of up to most tokens, how many milliseconds the server takes to read
// what the sequence of that token has missed beyond usualLag; 0 while the time of a token is not known. It is nil
// for servers whose sequences share a cache.
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
