package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"specula/engine/event"
	"specula/engine/sample"
)

// Watching: the server speculates by itself. Its rounds are read from the counts that it sends with the
// tokens of a stream.
//
// llama-server and SGLang send running counts with the tokens. When the counts change, a round begins: its
// accepted tokens, then one token of the target. vLLM sends a round in one event, and tells only at the
// end how many tokens each round drafted. No server tells which tokens it refused.

// Seen is one round of the server, or a token that belongs to no round.
type Seen struct {
	Tokens   []int32 // added to the reply, in order
	Accepted int     // how many of Tokens were drafted: these come first
	// Drafted and Kept are the server's own counts for the round. Kept is more than Accepted if the
	// reply ended within the draft. event.Untold: the server sends them at the end (Watch.Steps), or
	// never.
	Drafted, Kept int
	// Merged, if above 1, means that at least so many rounds arrived together. Only the sums of their
	// counts are known, and not which tokens were drafted. Then Accepted is 0.
	Merged int
	// MS is the time of the round by the server's clock; 0: not known. It does not depend on how fast
	// the stream is read.
	MS    float64
	Ended bool // the reply ends with this round
}

// Step has the server's counts of a round whose Seen has event.Untold for them.
type Step struct {
	Round         int // index of the round's Seen among those of the reply
	Drafted, Kept int
	// Parts has an entry for each round if several came as one Seen: how many draft tokens it kept. Then
	// Drafted and Kept are the sums over these rounds. nil: there is one round.
	Parts []int
}

// Watch reads one reply that the server writes with its own speculation.
type Watch struct {
	events
	server *Server
	ctx    context.Context // context of the request
	cancel context.CancelCauseFunc
	answer *http.Response

	told   counters // the counts in the last event
	ms     float64  // time of the reply up to the last round that Next returned, by the server's clock
	now    float64  // time of the reply up to the last event, by the server's clock
	tokens int      // tokens that have arrived
	moved  int64    // Server.moved at the last call of Moved, at first before the request
	queue  []piece
	ended  bool
	sizes  []int    // number of tokens of each Seen, to compare with vLLM's list at the end
	closed *closing // vLLM's counts, sent at the end of the reply
}

// counters are the server's running counts of a reply.
type counters struct{ steps, drafted, kept int }

// piece is the content of one event of the stream.
type piece struct {
	ids   []int32
	count counters
	told  bool // the server sent counts
	ended bool
}

// closing is what vLLM sends at the end of a reply.
type closing struct {
	Accepted []int `json:"per_step_accepted"`
	Drafted  []int `json:"per_step_drafted"`
}

// Watches reports whether the server can be watched: it must accept token ids, and stream them.
func (s *Server) Watches() bool { return s.kind == Llama || s.kind == VLLM || s.kind == SGLang }

// Watch lets the server continue the conversation, after the token last, with its own speculation. most is the
// largest number of tokens to write.
func (t *Target) Watch(ctx context.Context, last int32, p sample.Params, most int) (*Watch, error) {
	t.endStream()
	all := slices.Concat(t.held, []int32{last})
	path, question := t.server.watchQuestion(all, p, min(most, t.Cap()-len(all)))
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	before := t.server.moved
	answer, err := t.server.open(ctx, cancel, path, body)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return &Watch{moved: before, events: newEvents(answer.Body), server: t.server, ctx: ctx, cancel: cancel, answer: answer}, nil
}

// Hold sets the tokens of the conversation, after rounds of the server's own.
func (t *Target) Hold(ids []int32) { t.held = slices.Clone(ids) }

func (s *Server) watchQuestion(all []int32, p sample.Params, most int) (path string, question any) {
	switch s.kind {
	case VLLM:
		type options struct {
			Usage bool `json:"include_usage"`
		}
		return "/v1/completions", struct {
			vllmQuestion
			IgnoreEnd bool    `json:"ignore_eos"`
			Row       *int    `json:"logprobs"`
			Stream    bool    `json:"stream"`
			Options   options `json:"stream_options"`
		}{vllmQuestion{Model: s.model, Prompt: [][]int32{all}, Tokens: most, Temperature: p.Temperature, TopK: p.TopK, TopP: p.TopP, MinP: p.MinP,
			Repetition: 1, ReturnIDs: true}, false, nil, true, options{true}}
	case SGLang:
		k := p.TopK
		if k == 0 {
			k = -1
		}
		return "/generate", map[string]any{"input_ids": all, "stream": true,
			"sampling_params": map[string]any{"max_new_tokens": most, "temperature": p.Temperature, "top_k": k, "top_p": p.TopP, "min_p": p.MinP}}
	}
	q := llamaQuestion{Prompt: all, Tokens: most, TopP: 1, Cache: true, ReturnTokens: true, Samplers: []string{"temperature"},
		Bias: [][2]any{}, Stream: true, Timings: true}
	q.sample(p)
	return "/completion", q
}

// open sends a request for a stream, and repeats it while the server is busy. The answer that it returns
// has status 200. The caller ends the stream by cancel.
func (s *Server) open(ctx context.Context, cancel context.CancelCauseFunc, path string, body []byte) (*http.Response, error) {
	slow := s.endIfSlow(cancel)
	defer slow.Stop()
	for repeats := 0; ; repeats++ {
		answer, err := s.send(ctx, http.MethodPost, path, body)
		if err != nil || answer.StatusCode == http.StatusOK {
			return answer, err
		}
		text, _ := io.ReadAll(io.LimitReader(answer.Body, mostLine)) // if the body cannot be read, the status alone is reported
		answer.Body.Close()
		err = s.refusal(answer, text)
		var refused *Refused
		if !errors.As(err, &refused) || refused.again == 0 || !refused.loading && repeats >= mostRepeats || s.options.Wait(ctx, refused.again) != nil {
			return nil, err
		}
	}
}

// Next returns the next round of the server. After a round with Ended, the reply is complete.
func (w *Watch) Next() (Seen, error) {
	slow := w.server.endIfSlow(w.cancel)
	defer slow.Stop()
	seen, err := w.next()
	if len(w.queue) == 0 { // otherwise w.now already belongs to a later event
		seen.MS, w.ms = max(0, w.now-w.ms), w.now
	}
	return seen, err
}

func (w *Watch) next() (Seen, error) {
	if w.server.kind == VLLM {
		return w.nextPiece()
	}
	var first piece
	for {
		var err error
		if first, err = w.piece(); err != nil {
			return Seen{}, err
		}
		if len(first.ids) > 0 || first.ended {
			break
		}
	}
	// Only the first event of a round has new counts. The other tokens of the round follow with the same
	// counts.
	now := first.count
	seen := Seen{Tokens: first.ids, Drafted: now.drafted - w.told.drafted, Kept: now.kept - w.told.kept, Ended: first.ended}
	steps := now.steps - w.told.steps
	if !first.told {
		now, steps, seen.Drafted, seen.Kept = w.told, 0, 0, 0
	}
	if seen.Drafted < 0 || seen.Kept < 0 || seen.Kept > seen.Drafted || steps < 0 || seen.Drafted > event.MostDrafted {
		return Seen{}, fmt.Errorf("%w: its counts of drafted and accepted tokens go from %v to %v", errFalse, w.told, now)
	}
	w.told = now
	if w.server.kind == Llama && seen.Drafted > 0 {
		steps = 1
	}
	if steps > 1 {
		seen.Merged = steps
		return seen, nil
	}
	for want := seen.Kept + 1; len(seen.Tokens) < want && !seen.Ended; {
		next, err := w.piece()
		if err != nil {
			return Seen{}, err
		}
		seen.Tokens, seen.Ended = append(seen.Tokens, next.ids...), next.ended
		if next.told && next.count != now { // a token without an event of its own changed the counts
			seen.Drafted, seen.Kept = seen.Drafted+next.count.drafted-now.drafted, seen.Kept+next.count.kept-now.kept
			w.told, seen.Merged = next.count, 2
			return seen, nil
		}
	}
	if len(first.ids) > 1 && seen.Drafted > 0 && !seen.Ended && len(seen.Tokens) == seen.Kept+1 {
		// The first tokens of a character had no events of their own: all came with the event that completed the
		// character. If two rounds began inside the character, one more token with the same counts follows.
		next, err := w.piece()
		if err != nil {
			return Seen{}, err
		}
		w.queue = slices.Insert(w.queue, 0, next)
		if len(next.ids) > 0 && next.count == now {
			seen.Merged = 2
			return seen, nil
		}
	}
	seen.Accepted = min(seen.Kept, len(seen.Tokens))
	if more := len(seen.Tokens) - seen.Accepted - 1; more > 0 { // one event had all tokens of a character; the last of them belong to the next round
		w.queue = slices.Insert(w.queue, 0, piece{ids: seen.Tokens[len(seen.Tokens)-more:], count: now, told: true, ended: seen.Ended})
		seen.Tokens, seen.Ended = seen.Tokens[:len(seen.Tokens)-more], false
	}
	return seen, nil
}

// nextPiece reads the next event of vLLM: one round or, for a slow reader, several (see Steps).
func (w *Watch) nextPiece() (Seen, error) {
	for {
		p, err := w.piece()
		if err != nil {
			return Seen{}, err
		}
		if len(p.ids) == 0 && !p.ended {
			continue
		}
		if len(p.ids) > 0 {
			w.sizes = append(w.sizes, len(p.ids))
		}
		return Seen{Tokens: p.ids, Accepted: max(0, len(p.ids)-1), Drafted: event.Untold, Kept: event.Untold, Ended: p.ended}, nil
	}
}

// Steps returns the counts of all rounds, which vLLM sends at the end of the reply. told is false if it
// sent none, or impossible ones. exact is false if these rounds do not fit the events that it sent.
//
// A round that kept n draft tokens writes n+1. vLLM's list leaves out the first token of a reply and
// rounds without a draft. A slow reader gets the tokens of several rounds in one event.
func (w *Watch) Steps() (steps []Step, told, exact bool) {
	if w.closed == nil || len(w.closed.Accepted) != len(w.closed.Drafted) {
		return nil, false, false
	}
	kept, drafted := w.closed.Accepted, w.closed.Drafted
	for i, k := range kept {
		if k < 0 || k > drafted[i] || drafted[i] > event.MostDrafted {
			return nil, false, false
		}
	}
	if len(kept) == 0 {
		return nil, true, true
	}
	// The end of the reply may have cut tokens off the last round. vLLM does not send how many.
	for cut := 0; cut <= kept[len(kept)-1]+1; cut++ {
		if steps, exact = w.split(cut); exact {
			return steps, true, true
		}
	}
	return nil, true, false
}

// split finds the rounds of vLLM's list in the events of the stream, from the last to the first. It
// assumes that the end of the reply has cut off the last tokens of the last round: cut is their number. all
// reports whether split found all rounds.
func (w *Watch) split(cut int) (steps []Step, all bool) {
	kept, drafted := w.closed.Accepted, w.closed.Drafted
	last := len(kept) - 1
	for piece := len(w.sizes) - 1; piece >= 0 && last >= 0; piece-- {
		step := Step{Round: piece}
		room := w.sizes[piece]
		if piece == 0 {
			room-- // the pass over the prompt wrote the first token
		}
		for ; last >= 0 && kept[last]+1-cut <= room; last-- {
			room -= kept[last] + 1 - cut
			cut = 0
			step.Drafted, step.Kept = step.Drafted+drafted[last], step.Kept+kept[last]
			step.Parts = append(step.Parts, kept[last])
		}
		switch len(step.Parts) {
		case 0:
			if room > 1 {
				return steps, false // no round of the list can have written these tokens
			}
			continue // a token without a draft
		case 1:
			step.Parts = nil
		}
		slices.Reverse(step.Parts)
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	return steps, last < 0
}

// Moved returns the bytes sent and received since the last call, without headers.
func (w *Watch) Moved() int64 {
	n := w.server.moved - w.moved
	w.moved = w.server.moved
	return n
}

// Close ends the stream, so that the server stops writing and its sequence is free.
func (w *Watch) Close() {
	w.cancel(nil)
	w.answer.Body.Close()
}

// piece returns the next piece: the first of the queue, or the next event of the stream.
func (w *Watch) piece() (piece, error) {
	if len(w.queue) > 0 {
		p := w.queue[0]
		w.queue = w.queue[1:]
		return p, nil
	}
	if w.ended {
		return piece{ended: true}, nil
	}
	data, err := w.events.next()
	switch {
	case w.ctx.Err() != nil:
		return piece{}, w.server.lost(w.ctx, err)
	case errors.Is(err, io.EOF), errors.Is(err, errDone):
		return piece{}, errBrokenOff
	case err != nil:
		return piece{}, err
	}
	w.server.moved += int64(len(data))
	if failed := inside(data); failed != "" {
		return piece{}, &Refused{Status: w.answer.StatusCode, words: "the server failed in the middle of the reply: " + w.server.shown(failed)}
	}
	var p piece
	switch w.server.kind {
	case VLLM:
		p, err = w.vllm(data)
	case SGLang:
		p, err = w.sglang(data)
	default:
		p, err = w.llama(data)
	}
	if err != nil {
		return piece{}, err
	}
	w.ended = p.ended
	for _, id := range p.ids {
		if id < 0 || w.server.vocab > 0 && int(id) >= w.server.vocab {
			return piece{}, fmt.Errorf("%w: it wrote token %d, which is not among %d", errFalse, id, w.server.vocab)
		}
	}
	w.tokens += len(p.ids)
	return p, nil
}

var errBrokenOff = errors.New("the server ended its stream in the middle of the reply: look into its log")
