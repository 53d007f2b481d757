package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
)

// Limits on a stream of events.
const (
	mostLine = 4 << 20 // bytes of one event
	readSize = 32 << 10
)

// events reads server-sent events (WHATWG HTML, §9.2), as far as these servers use them: each event is
// one line that begins with «data:».
type events struct{ lines *bufio.Scanner }

func newEvents(r io.Reader) events {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, readSize), mostLine)
	return events{lines}
}

// errDone is the event with which a server ends a stream. It does not mean success: see stream.next.
var errDone = errors.New("[DONE]")

// next returns the data of the next event, errDone, or io.EOF if the stream breaks off.
func (e events) next() ([]byte, error) {
	for e.lines.Scan() {
		data, ok := bytes.CutPrefix(e.lines.Bytes(), []byte("data:"))
		if !ok {
			continue // comments, names of events, and empty lines
		}
		if data = bytes.TrimSpace(data); bytes.Equal(data, []byte("[DONE]")) {
			return nil, errDone
		}
		if len(data) > 0 {
			return data, nil
		}
	}
	switch err := e.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("an event of the stream cannot be read: it is longer than %d MiB", mostLine>>20)
	case err != nil:
		return nil, fmt.Errorf("the connection to the server broke in the middle of the reply: %w; is the server still running, and what does its log say?", err)
	}
	return nil, io.EOF
}

// stream is a plain reply that the server writes, one token after the other. Rounds without a draft
// take their tokens from the stream, so not every round has to wait for a request.
type stream struct {
	events
	ctx    context.Context // context of the request, which lasts as long as the stream
	cancel context.CancelCauseFunc
	answer *http.Response
	at     []int32       // the prompt, and the tokens taken from the stream so far
	params sample.Params // the filters of the stream
	prompt int           // length of the prompt
	asked  int           // tokens to take from the stream; the server may have been asked for a few more
	ended  bool          // no more tokens come
	queue  []place       // tokens that have arrived and were not taken
	seen   int           // tokens that have arrived
	steady float64       // milliseconds between two tokens by the server's clock; 0: not known
}

// streams reports whether rounds without a draft may take their tokens from a stream. The server draws
// these tokens from its own rows, so nothing may change rows on this side: no shapers and no guidance.
// Only llama-server has streams of the kind that is needed. After AskSingly, streams are not used.
func (s *Server) streams(t *spec.Terms) bool {
	return s.kind == Llama && !s.singly && len(t.Shapers) == 0 && !t.Mixed
}

// AskSingly turns streams off: a round without a draft is a request for one token. No server speculates
// on such a request, so this gives the text that the server writes without its own speculation.
func (s *Server) AskSingly() { s.singly = true }

// fromStream takes the next token from the stream. all is the conversation so far. If no stream is open, or if
// the open one does not continue all, fromStream opens a stream.
func (t *Target) fromStream(ctx context.Context, all []int32, w way, terms *spec.Terms) (round.Pass, error) {
	if !t.stream.continues(all, terms) {
		t.endStream()
		if err := t.openStream(ctx, all, w, terms); err != nil {
			return round.Pass{}, err
		}
	}
	st, before := t.stream, t.server.count()
	w.drawn = true
	if len(st.queue) == 0 {
		if err := st.next(t.server); err != nil {
			t.endStream()
			return round.Pass{}, err
		}
	}
	at := st.queue[0]
	st.queue = st.queue[1:]
	t.scores = scores{target: t, ctx: ctx, way: w, params: terms.Params, prefixes: [][]int32{all}, places: []place{at}, rows: make([]row, 1), before: before}
	if at.drawn < 0 || int(at.drawn) >= t.vocab {
		return round.Pass{}, fmt.Errorf("%w: it does not say which token it wrote", errFalse)
	}
	if len(at.top) > 0 {
		if err := t.scores.take(0, at); err != nil {
			return round.Pass{}, err
		}
	}
	pass := round.Pass{Scores: drawnScores{&t.scores}, Why: "no draft: the next token of the server's own stream"}
	if len(st.at) == st.prompt {
		t.lag.sent([][]int32{all}, t.scores.places)
	}
	st.at, t.held = append(st.at, at.drawn), all
	st.ended = st.ended || st.seen >= st.asked || terms.IsStop != nil && terms.IsStop(at.drawn)
	pass.PriceMS = st.steady
	return pass, nil
}

// continues reports whether the stream has a next token under the filters of terms, and that token continues
// the conversation all. st may be nil.
func (st *stream) continues(all []int32, terms *spec.Terms) bool {
	return st != nil && (!st.ended || len(st.queue) > 0) && slices.Equal(st.at, all) && st.params == terms.Params
}

func (t *Target) openStream(ctx context.Context, all []int32, w way, terms *spec.Terms) error {
	q := llamaQuestion{Prompt: all, Tokens: t.Cap() - len(all), TopP: 1, Cache: true, ReturnTokens: true,
		Samplers: []string{"temperature"}, Bias: [][2]any{}, Stream: true, Timings: true, Fields: []string{"content", "tokens", "stop", "model", "timings"}}
	q.sample(terms.Params)
	if terms.Left > 0 {
		q.Tokens = min(q.Tokens, terms.Left)
	}
	if terms.Inspected || terms.Logprobs > 0 { // a row costs the server time, even a short one
		q.Row = min(w.row, shownRow+terms.Logprobs)
	}
	asked := q.Tokens
	if terms.Params.Temperature > 0 {
		// If the last token ends inside a character, the server tells it only with the token that completes the
		// character, so ask for a few more. At temperature 0 another request gives the same token.
		q.Tokens = min(q.Tokens+mostMissing-1, t.Cap()-len(all))
	}
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	answer, err := t.server.open(ctx, cancel, "/completion", body)
	if err != nil {
		cancel(nil)
		return err
	}
	steady := 0.0
	if t.stream != nil {
		steady = t.stream.steady
	}
	t.stream = &stream{events: newEvents(answer.Body), ctx: ctx, cancel: cancel, answer: answer, at: slices.Clone(all), prompt: len(all), asked: asked, params: terms.Params, steady: steady}
	return nil
}

// endIfSlow cancels a stream if the next token takes too long. The caller must stop the timer.
func (s *Server) endIfSlow(cancel context.CancelCauseFunc) *time.Timer {
	return time.AfterFunc(s.options.Limit, func() { cancel(errTooSlow) })
}

// next reads the next tokens into the queue: one, or several that make a character together. It returns
// an error if the stream ends before the next token.
func (st *stream) next(s *Server) error {
	slow := s.endIfSlow(st.cancel)
	defer slow.Stop()
	for {
		data, err := st.events.next()
		switch {
		case st.ctx.Err() != nil:
			return s.lost(st.ctx, err)
		case errors.Is(err, io.EOF), errors.Is(err, errDone):
			return errBrokenOff
		case err != nil:
			return err
		}
		s.moved += int64(len(data))
		if failed := inside(data); failed != "" {
			return &Refused{Status: st.answer.StatusCode, words: "the server failed in the middle of the reply: " + s.shown(failed)}
		}
		var a llamaAnswer
		if err := json.Unmarshal(data, &a); err != nil {
			return unreadable(err)
		}
		st.ended = a.Stop
		if len(a.Tokens) > 0 {
			return st.take(&a, s)
		}
		if a.Stop && a.Timing.Written > st.seen {
			return errUntold // the last token ends inside a character
		}
		if a.Stop {
			return errors.New("the server ended the reply without a token: its context may be full")
		}
	}
}

// take puts the tokens of an event into the queue. llama-server sends no event for a token that ends
// inside a character. The event that completes the character has the text of all its tokens, but only
// the id of the last one. The count of written tokens says how many ids are missing.
func (st *stream) take(a *llamaAnswer, s *Server) error {
	if len(a.Tokens) != 1 {
		return fmt.Errorf("%w: it sent %d tokens in one piece of a stream", errFalse, len(a.Tokens))
	}
	missing := a.Timing.Written - st.seen - 1
	if missing < 0 || missing > mostMissing {
		return fmt.Errorf("%w: the stream jumps from token %d to %d", errFalse, st.seen, a.Timing.Written)
	}
	at, err := a.place(s)
	if err != nil {
		return err
	}
	if missing == 0 {
		if err := s.spelling.checkText(a.Tokens[0], a.Content); err != nil {
			return err
		}
	} else {
		ids, err := s.spelling.recover(a.Content, a.Tokens[0], missing)
		if err != nil {
			return err
		}
		for _, id := range ids {
			st.queue = append(st.queue, place{drawn: id})
		}
	}
	st.queue, st.seen = append(st.queue, at), a.Timing.Written
	if st.seen > 1 {
		st.steady = a.Timing.MS / float64(st.seen-1) // MS does not include the first token
	}
	return nil
}

// endStream cancels the stream, so that the server stops writing and its sequence is free. The connection
// is not used again, even after a complete stream: llama-server closes it without saying so, and a proxy
// may then answer with an error.
func (t *Target) endStream() {
	if t.stream != nil && t.stream.answer != nil {
		t.stream.cancel(nil)
		t.stream.answer.Body.Close()
		t.stream = &stream{steady: t.stream.steady, ended: true}
	}
}
