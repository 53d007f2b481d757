package remote

import (
	"fmt"

	"specula/engine/sample"
	"specula/engine/spec"
)

// Sizes of rows, in tokens.
const (
	shownRow = 8    // least length of a row: enough for the inspector's candidates
	firstRow = 64   // tokens asked for first under filters without top-k
	mostRow  = 8192 // largest length of a row; each token of it takes about 90 bytes
	usualRow = 20   // vLLM's limit if --max-logprobs is not given
	growth   = 8    // if a row does not decide, the next request asks for 8 times as many tokens
)

// way says what decides which draft tokens of a round stay: the server's own draws, or its rows.
type way struct {
	drawn bool   // the tokens that the server draws decide; false: its rows do
	row   int    // tokens to ask for in each row
	why   string // why this way was chosen, for the screen
}

// plan chooses the way for the rounds under the settings t. The way must depend on the settings alone: if it
// depended on the draft, some tokens would be favoured. The error names a setting that this server cannot
// handle exactly, or says that the server cannot score drafts at all.
func (s *Server) plan(t *spec.Terms, vocab int) (way, error) {
	if !s.kind.scores() {
		return way{}, s.errScores()
	}
	all := vocab <= s.mostRow
	p := t.Params
	switch {
	case len(t.Shapers) > 0:
		if !all {
			return way{}, fmt.Errorf("%s change the scores of all %d tokens, and the server sends at most %d of a row: turn them off, or use a target on this machine",
				sample.Listed(t.Shapers.Names()), vocab, s.mostRow)
		}
		return way{row: vocab, why: "the server's whole rows, since scores are changed here"}, nil
	case p.Temperature == 0:
		return way{row: s.atMost(vocab, max(shownRow, t.Logprobs+2)), why: "temperature 0: the server's best token after each draft token decides"}, nil
	case p.TopK > 0 && p.TopK < vocab && p.TopK+shownRow <= s.mostRow:
		return way{row: s.atMost(vocab, max(p.TopK+shownRow, t.Logprobs+2)), why: fmt.Sprintf("the server's %d likeliest tokens of each row decide top-k %d", p.TopK, p.TopK)}, nil
	case all && (p.TopP < 1 || p.MinP > 0):
		return way{row: s.atMost(vocab, s.firstRow), why: "the server's likeliest tokens decide, more are asked for where they do not"}, nil
	case all && t.RuleNeedsRows():
		return way{row: vocab, why: "the server's whole rows, which the rule " + string(t.Rule) + " needs without a top-k"}, nil
	}
	why := "the server draws by itself, since only whole rows would decide these settings: a draft token stays iff it is the one drawn. With a top-k, p and q are known"
	if s.kind == VLLM && p.MinP > 0 && (p.TopP < 1 || p.TopK > 0) {
		return way{}, fmt.Errorf("vLLM applies min-p before top-k and top-p: use min-p alone, or a top-k up to %d", s.mostRow-shownRow)
	}
	if p.TemperatureLast && s.kind == VLLM && p.Temperature != 1 {
		return way{}, fmt.Errorf("vLLM applies the temperature first: turn sampling.temperature_last off, or set a top-k up to %d", s.mostRow-shownRow)
	}
	if t.Rule.Lossy() {
		return way{}, fmt.Errorf("the rule %s needs probabilities that the server cannot give under these settings: choose another, or set top-k", t.Rule)
	}
	return way{drawn: true, row: s.atMost(vocab, max(shownRow, t.Logprobs)), why: why}, nil
}

func (s *Server) atMost(vocab, n int) int { return min(n, vocab, s.mostRow) }
