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

// Target is the target of one conversation. The server keeps nothing between two requests but what it
// happens to have in its prefix cache, so Target keeps the tokens.
type Target struct {
	server *Server
	held   []int32 // what a cache would hold
	vocab  int
	scores scores // of the last pass
	stream *stream
	advice advice
}

// NewTarget begins a conversation. vocab is the number of ids that rows cover.
func (s *Server) NewTarget(vocab int) *Target { return &Target{server: s, vocab: vocab} }

// Len is the number of tokens that a cache would hold.
func (t *Target) Len() int { return len(t.held) }

// Cap is the most that it may hold.
func (t *Target) Cap() int { return max(1, t.server.context-reserve) }

// reserve is what a server keeps free of its context for the token that it writes.
const reserve = 2

// Truncate forgets the tokens from n on.
func (t *Target) Truncate(n int) error {
	if n > len(t.held) {
		return fmt.Errorf("cutting %d tokens back to %d", len(t.held), n)
	}
	t.held = t.held[:n]
	return nil
}

// Rest ends a stream that is open, so that the server stops writing.
func (t *Target) Rest() { t.endStream() }

// Close ends the conversation.
func (t *Target) Close() error {
	t.endStream()
	return nil
}

// Prefill lets the server read tokens, so that they are in its prefix cache when the first draft is
// scored. llama-server keeps a cache for each of its sequences, and a draft of γ tokens needs γ+1 of
// them: here one reads the prompt, each other one when a draft first needs it.
func (t *Target) Prefill(ctx context.Context, ids []int32, progress func(done, total int)) error {
	if len(t.held)+len(ids) >= t.Cap() {
		return fmt.Errorf("%w: %d tokens do not fit after %d of %d", errContext, len(ids), len(t.held), t.Cap())
	}
	t.endStream()
	prompt := slices.Concat(t.held, ids)
	if !t.server.kind.scores() { // it is watched only, and reads the prompt with its reply
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

// Score asks for what follows each prefix of the draft. A round without a draft is one token of a
// stream.
func (t *Target) Score(ctx context.Context, last int32, draft *spec.Draft, terms *spec.Terms) (round.Pass, error) {
	w, err := t.server.plan(terms, t.vocab)
	if err != nil {
		return round.Pass{}, err
	}
	if room := t.Cap() - len(t.held) - 1; len(draft.Tokens) > room {
		return round.Pass{}, fmt.Errorf("%w: a draft of %d tokens does not fit after %d of %d", errContext, len(draft.Tokens), len(t.held)+1, t.Cap())
	}
	all := slices.Concat(t.held, []int32{last}, draft.Tokens)
	if len(draft.Tokens) == 0 && t.server.streams(terms) {
		pass, err := t.fromStream(ctx, all, w, terms)
		if terms.Params.Temperature > 0 || !errors.Is(err, errUntold) {
			return pass, err // at temperature 0 the next token can be asked for again; a drawn one is gone
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
	t.held = all
	return round.Pass{Scores: t.scores.as(w.drawn), Why: w.why, Advice: t.advice.text}, nil
}

// scores are the rows of one pass; they have the methods of round.Scores.
type scores struct {
	target   *Target
	ctx      context.Context // of the pass: rows that do not decide are asked for while it is judged
	way      way
	params   sample.Params
	shaped   bool
	prefixes [][]int32
	places   []place
	rows     []row
	before   counts
}

// as hides that the server drew unless it did: the verifier asks for that.
func (s *scores) as(drawn bool) round.Scores {
	if drawn {
		return drawnScores{s}
	}
	return s
}

// drawnScores are those of a server that drew a token at every place; see spec.Drawer.
type drawnScores struct{ *scores }

// Draws are the server's own tokens.
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
			continue // see Row
		}
		if err := s.take(i, *p); err != nil {
			return err
		}
	}
	return nil
}

// take checks row i.
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

// Argmax gives the best token of each row.
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

// Row writes the scores of row i; if they do not decide what is drawn, it asks for more of them.
func (s *scores) Row(i int, dst []float32) error {
	r, err := s.decided(i, s.params)
	if err != nil {
		return err
	}
	r.fill(dst)
	return nil
}

// decided returns row i once it decides under p. Which rows are asked for again depends on the tokens
// before them alone, so nothing is favoured.
func (s *scores) decided(i int, p sample.Params) (*row, error) {
	r := &s.rows[i]
	if s.way.drawn && len(r.top) > 0 {
		return r, nil // it is only shown
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

// Moved counts bytes of the network and round trips, since the pass began.
func (s *scores) Moved() (bytes int64, trips int) {
	now := s.target.server.count()
	return now.bytes - s.before.bytes, now.trips - s.before.trips
}

// counts are what was sent and received so far.
type counts struct {
	bytes int64
	trips int
}

func (s *Server) count() counts { return counts{s.moved, s.trips} }

// advice notices a server that computes the whole context for every round.
type advice struct {
	rounds, wasted int
	text           string // "" until there is one
}

const (
	adviceRounds = 8  // that are looked at
	adviceTokens = 64 // contexts shorter than this waste little
)

// look compares what the server computed with the tokens that were new.
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
