package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
)

// Target is the target of one conversation. The server keeps nothing between two requests except its
// prefix cache, so Target keeps the tokens.
type Target struct {
	server *Server
	held   []int32 // the tokens of the conversation, sent again with each request
	vocab  int
	scores scores // rows of the last pass
	stream *stream
	lag    lag
	advice advice
}

// NewTarget begins a conversation. vocab is the number of ids in a row.
func (s *Server) NewTarget(vocab int) *Target { return &Target{server: s, vocab: vocab} }

// Len is the number of tokens of the conversation.
func (t *Target) Len() int { return len(t.held) }

// Cap is the most tokens that the conversation may have.
func (t *Target) Cap() int { return max(1, t.server.context-reserve) }

// reserve is how many tokens of the server's context stay free for the token that it writes.
const reserve = 2

// Truncate forgets the tokens from n on.
func (t *Target) Truncate(n int) error {
	if n > len(t.held) {
		return fmt.Errorf("cutting %d tokens back to %d", len(t.held), n)
	}
	t.held = t.held[:n]
	return nil
}

// Rest ends the stream, if one is open, so that the server stops writing.
func (t *Target) Rest() { t.endStream() }

// Close ends the conversation.
func (t *Target) Close() error {
	t.endStream()
	return nil
}

// Prefill adds tokens to the conversation. It lets vLLM read them, so that they are in its prefix cache when
// the first draft is scored. llama-server reads them in the first round, which saves a round trip: a draft of γ
// tokens needs γ+1 sequences, each with a cache of its own, so each must read the prompt anyway.
func (t *Target) Prefill(ctx context.Context, ids []int32, progress func(done, total int)) error {
	if len(t.held)+len(ids) >= t.Cap() {
		return fmt.Errorf("%w: %d tokens do not fit after %d of %d", errContext, len(ids), len(t.held), t.Cap())
	}
	t.endStream()
	prompt := slices.Concat(t.held, ids)
	if t.server.kind != VLLM { // other servers read the prompt in the first round, or when they write a watched reply
		t.held = prompt
		return nil
	}
	if _, err := t.server.rows(ctx, [][]int32{prompt}, 1); err != nil {
		return fmt.Errorf("letting the server read %d tokens: %w", len(prompt), err)
	}
	t.held = prompt
	if progress != nil {
		progress(len(ids), len(ids))
	}
	return nil
}

var errContext = errors.New("the server's context is full")

// Score asks for the scores after each prefix of the draft. A round without a draft takes one token of
// a stream, if the server has streams under these settings.
func (t *Target) Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (round.Pass, error) {
	w, err := t.server.plan(terms, t.vocab)
	if err != nil {
		return round.Pass{}, err
	}
	if room := t.Cap() - len(t.held) - 1; len(draft.Tokens) > room {
		return round.Pass{}, fmt.Errorf("%w: a draft of %d tokens does not fit after %d of %d", errContext, len(draft.Tokens), len(t.held)+1, t.Cap())
	}
	all := slices.Concat(t.held, []int32{last}, draft.Tokens)
	// The last token of a reply is asked for by itself, unless a stream has it already: a stream costs no less then,
	// and cannot always tell the token.
	if len(draft.Tokens) == 0 && t.server.streams(terms) && (terms.Left != 1 || t.stream.continues(all, terms)) {
		pass, err := t.fromStream(ctx, all, w, terms)
		if terms.Params.Temperature > 0 || !errors.Is(err, errUntold) {
			return pass, err // only at temperature 0 can the same token be asked for again; a drawn one is lost
		}
	}
	t.endStream()
	before := t.server.count()
	t.scores = scores{target: t, ctx: ctx, way: w, params: terms.Params, shaped: len(terms.Shapers) > 0, before: before}
	for i := range len(draft.Tokens) + 1 {
		t.scores.prefixes = append(t.scores.prefixes, all[:len(t.held)+1+i])
	}
	if err := t.scores.ask(ctx); err != nil {
		return round.Pass{}, err
	}
	t.advice.look(t.server, t.scores.places, len(all))
	t.lag.sent(t.scores.prefixes, t.scores.places)
	t.held = all
	return round.Pass{Scores: t.scores.as(w.drawn), Why: w.why, Advice: t.advice.text}, nil
}

// scores are the rows of one pass. They have the methods of round.Scores.
type scores struct {
	target   *Target
	ctx      context.Context // context of the pass; also used by later requests, if a row is too short to decide
	way      way
	params   sample.Params
	shaped   bool
	prefixes [][]int32
	places   []place
	rows     []row
	before   counts
}

// as returns the scores as a spec.Drawer if the server's draws decide, and otherwise without Draws.
func (s *scores) as(drawn bool) round.Scores {
	if drawn {
		return drawnScores{s}
	}
	return s
}

// drawnScores are the scores of a server that drew a token after each prefix; see spec.Drawer.
type drawnScores struct{ *scores }

// Draws returns the tokens that the server drew.
func (s drawnScores) Draws() []int32 {
	ids := make([]int32, len(s.places))
	for i, p := range s.places {
		ids[i] = p.drawn
	}
	return ids
}

func (s *scores) ask(ctx context.Context) (err error) {
	server := s.target.server
	if s.way.drawn {
		s.places, err = server.draws(ctx, s.prefixes, s.way.row, s.params)
	} else {
		s.places, err = server.rows(ctx, s.prefixes, s.way.row)
	}
	if err != nil {
		return err
	}
	s.rows = make([]row, len(s.places))
	for i := range s.places {
		p := &s.places[i]
		if s.way.drawn && (p.drawn < 0 || int(p.drawn) >= s.target.vocab) {
			return fmt.Errorf("%w: it does not say which token it drew", errFalse)
		}
		if s.way.drawn && len(p.top) == 0 {
			continue // Row asks for this row when it is needed
		}
		if err := s.take(i, *p); err != nil {
			return err
		}
	}
	return nil
}

// take checks and stores row i.
func (s *scores) take(i int, p place) (err error) {
	if s.rows[i], err = newRow(p.top, s.target.vocab); err != nil {
		return fmt.Errorf("row %d of %d: %w", i, len(s.places), err)
	}
	if s.way.drawn {
		s.rows[i].own = p.own
	}
	return nil
}

func (s *scores) Rows() int  { return len(s.places) }
func (s *scores) Vocab() int { return s.target.vocab }

// Argmax writes the best token of each row.
func (s *scores) Argmax(dst []int32) error {
	for i := range dst {
		r, err := s.decided(i, sample.Params{})
		if err != nil {
			return err
		}
		dst[i] = r.top[0].id
	}
	return nil
}

// Row writes the scores of row i. If the row does not decide, it first asks for more tokens.
func (s *scores) Row(i int, dst []float32) error {
	r, err := s.decided(i, s.params)
	if err != nil {
		return err
	}
	r.fill(dst)
	return nil
}

// decided returns row i with enough tokens to decide under p; if it has too few, it asks for more.
// Whether it asks depends only on the tokens before the row, so no token is favoured.
func (s *scores) decided(i int, p sample.Params) (*row, error) {
	r := &s.rows[i]
	if s.way.drawn && len(r.top) > 0 {
		return r, nil // the row is only displayed
	}
	for k := max(len(r.top), s.way.row); !s.way.drawn && !r.decides(p) || s.shaped && !r.whole() || len(r.top) == 0; {
		most := min(s.target.vocab, s.target.server.mostRow)
		if len(r.top) > 0 {
			if k >= most {
				return nil, fmt.Errorf("the %d likeliest tokens that the server sends do not decide temperature %g, top-k %d, top-p %g and min-p %g here: set a top-k below %d",
					k, p.Temperature, p.TopK, p.TopP, p.MinP, most)
			}
			k = min(most, k*growth)
		}
		places, err := s.target.server.rows(s.ctx, s.prefixes[i:i+1], k)
		if err == nil {
			err = s.take(i, places[0])
		}
		if err != nil {
			return nil, fmt.Errorf("asking for %d tokens of a row: %w", k, err)
		}
		k = max(k, len(r.top))
		if s.way.drawn {
			break
		}
	}
	return r, nil
}

// Moved counts the bytes sent and received, without headers, and the requests, since the pass began.
func (s *scores) Moved() (bytes int64, trips int) {
	now := s.target.server.count()
	return now.bytes - s.before.bytes, now.trips - s.before.trips
}

// counts are the bytes and requests of a server so far.
type counts struct {
	bytes int64
	trips int
}

func (s *Server) count() counts { return counts{s.moved, s.trips} }

// advice is a hint for the user if the server computes the whole context again in every round.
type advice struct {
	rounds, wasted int    // how many rounds were looked at, and how many of them computed most tokens again
	text           string // "" until there is one
}

const (
	adviceRounds = 8  // rounds to look at
	adviceTokens = 64 // a context of fewer tokens wastes little
)

// look finds out from a round whether the server computed most tokens of the prompts again. After
// adviceRounds rounds it writes the advice, if that happened in most of them.
func (a *advice) look(s *Server, places []place, length int) {
	if a.rounds == adviceRounds || length < adviceTokens || s.kind != Llama {
		return
	}
	read := 0
	for _, p := range places {
		read += p.read
	}
	a.rounds++
	if read > len(places)*length/2 {
		a.wasted++
	}
	if a.rounds == adviceRounds && a.wasted > adviceRounds/2 {
		a.text = fmt.Sprintf("the server computes nearly the whole context in each round: start llama-server with -np %d or more, given by number, so that each prompt of a round keeps its cache", len(places))
	}
}

var (
	_ round.Scores = (*scores)(nil)
	_ spec.Drawer  = drawnScores{}
)
