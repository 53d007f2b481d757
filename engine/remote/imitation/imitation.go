// Package imitation is a server that answers like llama-server or vLLM, for tests only. Field names,
// status codes and errors are those of recorded exchanges with llama-server b11434 and vLLM 0.32.0. A
// function gives the scores, so a test knows exactly what a client should write.
package imitation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"specula/engine/oracle"
	"specula/engine/sample"
)

// Server answers requests. While it serves, hold Lock to change its fields.
type Server struct {
	sync.Mutex
	VLLM    bool // answer like vLLM; false: like llama-server
	Model   string
	Key     string // the key that requests must have; "": none
	Context int    // tokens
	Slots   int    // sequences at the same time
	MostRow int    // vLLM's --max-logprobs; 0: no limit
	// Scores returns the raw scores of the token after ids, one for each id of the vocabulary. The
	// callers do not keep the slice.
	Scores   func(ids []int32) []float32
	Tokenize func(text string, special bool) []int32
	Bytes    func(id int32) []byte // text of a token
	Stops    func(id int32) bool
	// Speculates has two counts for each of the server's own rounds: drafted and accepted tokens. The
	// server puts them into its streams.
	Speculates [][2]int
	// Piece is how many bytes of a stream are sent at a time; 0: one event at a time.
	Piece int
	Rand  *rand.Rand // source of the server's draws; nil at temperature 0

	// Bugs that tests plant.
	OneSeed  bool // all prompts of a request use the same random number
	RowEarly bool // each prompt gets the row of the prompt without its last token
	Forgets  bool // llama-server: it keeps no prompt in its cache
	// Faults that a later release of a server may have.
	Untold     bool // it sends no log-probabilities
	FalseRows  bool // rows as llama-server sends them for tokens it drafted itself: the drawn token has log-probability 0, and no other token comes
	ClockJumps bool // the times that it sends rise and fall
	Stale      bool // it answers the next request with its answer to the one before, once
	// Trouble, if not nil, may answer a request instead of the server; then it returns true.
	Trouble func(w http.ResponseWriter, r *http.Request) bool

	Requests, Streams int // how many were answered so far

	before []byte // the last answer that was not a stream
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	s.Requests++
	trouble := s.Trouble
	s.Unlock()
	if trouble != nil && trouble(w, r) {
		return
	}
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		s.refuse(w, http.StatusUnauthorized, "authentication_error", "Invalid API Key", nil)
		return
	}
	question, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(question))
	held := &heldAnswer{to: w, status: http.StatusOK}
	defer held.send() // sent without the lock: a client that writes or reads slowly must not stop the others
	s.Lock()
	defer s.Unlock()
	s.route(held, r)
	if held.body.Len() == 0 {
		return
	}
	now := bytes.Clone(held.body.Bytes())
	if s.Stale && s.before != nil {
		s.Stale = false
		held.body.Reset()
		held.body.Write(s.before)
	}
	s.before = now
}

func (s *Server) route(w *heldAnswer, r *http.Request) {
	switch r.URL.Path {
	case "/v1/models":
		s.models(w)
	case "/props":
		answer(w, map[string]any{"default_generation_settings": map[string]any{"n_ctx": s.Context}, "total_slots": s.Slots, "build_info": "b11434"})
	case "/slots":
		answer(w, []any{map[string]any{"id": 0, "speculative": len(s.Speculates) > 0}})
	case "/tokenize":
		s.tokenize(w, r)
	case "/completion":
		s.completion(w, r)
	case "/v1/completions":
		s.completions(w, r)
	default:
		s.refuse(w, http.StatusNotFound, "not_found_error", "File Not Found", nil)
	}
}

// heldAnswer keeps an answer back until the lock is free. A stream does not use it: it writes to the client directly.
type heldAnswer struct {
	to     http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (h *heldAnswer) Header() http.Header                { return h.to.Header() }
func (h *heldAnswer) WriteHeader(status int)             { h.status = status }
func (h *heldAnswer) Write(text []byte) (n int, _ error) { return h.body.Write(text) }

func (h *heldAnswer) send() {
	if h.body.Len() > 0 {
		h.to.WriteHeader(h.status)
		_, _ = h.to.Write(h.body.Bytes()) // if the client is gone, nobody needs the answer
	}
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(body)
}

// refuse answers with an error, in the form of the server.
func (s *Server) refuse(w http.ResponseWriter, status int, kind, message string, more map[string]any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if s.VLLM && status == http.StatusUnauthorized {
		_, _ = w.Write([]byte(`{"error":"Unauthorized"}`))
		return
	}
	e := map[string]any{"message": message, "type": kind, "code": status}
	for name, value := range more {
		e[name] = value
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e})
}

func (s *Server) models(w http.ResponseWriter) {
	m := map[string]any{"id": s.Model, "object": "model"}
	if s.VLLM {
		m["owned_by"], m["max_model_len"] = "vllm", s.Context
	} else {
		m["owned_by"] = "llamacpp"
		m["meta"] = map[string]any{"n_vocab": len(s.Scores(nil)), "n_ctx": s.Context, "n_params": 1000, "size": 1000, "ftype": "Q8_0"}
	}
	answer(w, map[string]any{"object": "list", "data": []any{m}})
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Content, Prompt string
		Special         bool `json:"parse_special"`
	}
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		s.refuse(w, http.StatusBadRequest, "invalid_request_error", "bad JSON", nil)
		return
	}
	if s.VLLM {
		answer(w, map[string]any{"tokens": s.Tokenize(q.Prompt, true)})
		return
	}
	answer(w, map[string]any{"tokens": s.Tokenize(q.Content, q.Special)})
}

// question is the body of a request, with the fields of both servers.
type question struct {
	Prompt      json.RawMessage `json:"prompt"`
	Predict     int             `json:"n_predict"`
	Probs       int             `json:"n_probs"`
	Logprobs    int             `json:"logprobs"`
	Temperature float64         `json:"temperature"`
	TopK        int             `json:"top_k"`
	TopP        float64         `json:"top_p"`
	MinP        float64         `json:"min_p"`
	Samplers    []string        `json:"samplers"`
	Bias        [][]float64     `json:"logit_bias"`
	Stream      bool            `json:"stream"`
	Timings     bool            `json:"timings_per_token"`
}

// read reads a question, and refuses what the servers refuse.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (q question, prompts [][]int32, ok bool) {
	if json.NewDecoder(r.Body).Decode(&q) != nil {
		s.refuse(w, http.StatusBadRequest, "invalid_request_error", "bad JSON", nil)
		return q, nil, false
	}
	if json.Unmarshal(q.Prompt, &prompts) != nil {
		prompts = make([][]int32, 1)
		if json.Unmarshal(q.Prompt, &prompts[0]) != nil {
			s.refuse(w, http.StatusBadRequest, "invalid_request_error", "a prompt of ids was expected", nil)
			return q, nil, false
		}
	}
	for _, p := range prompts {
		if len(p) >= s.Context {
			more := map[string]any{"n_prompt_tokens": len(p), "n_ctx": s.Context}
			if s.VLLM {
				more = map[string]any{"param": "input_tokens"}
			}
			s.refuse(w, http.StatusBadRequest, "exceed_context_size_error", fmt.Sprintf("request (%d tokens) exceeds the available context size", len(p)), more)
			return q, nil, false
		}
	}
	return q, prompts, true
}

// params returns the filters of a request. A list of samplers, which vLLM does not have, says which of them are
// on, and whether the temperature comes last.
func (q *question) params(vllm bool) sample.Params {
	p := sample.Params{Temperature: q.Temperature, TopP: 1}
	has := func(name string) bool { return vllm || slices.Contains(q.Samplers, name) }
	if has("top_k") && q.TopK > 0 {
		p.TopK = q.TopK
	}
	if has("top_p") {
		p.TopP = q.TopP
	}
	if has("min_p") {
		p.MinP = q.MinP
	}
	p.TemperatureLast = !vllm && len(q.Samplers) > 1 && q.Samplers[len(q.Samplers)-1] == "temperature"
	return p
}

// row returns the scores after a prompt, and the token that is drawn with the uniform random number u.
func (s *Server) row(q *question, prompt []int32, u float64) (scores []float32, drawn int32) {
	if s.RowEarly && len(prompt) > 1 {
		prompt = prompt[:len(prompt)-1]
	}
	scores = s.Scores(prompt)
	biased := slices.Clone(scores)
	for _, b := range q.Bias {
		biased[int(b[0])] += float32(b[1])
	}
	p := oracle.Distribution(biased, q.params(s.VLLM))
	last := int32(0)
	for id, x := range p {
		if x == 0 {
			continue
		}
		last = int32(id)
		if u -= x; u < 0 {
			break
		}
	}
	return scores, last
}

func (s *Server) uniform() float64 {
	if s.Rand == nil {
		return 0
	}
	return s.Rand.Float64()
}

// likeliest returns the k best tokens of a row with their log-probabilities.
func likeliest(scores []float32, k int) (ids []int32, logProbs []float64) {
	peak := float64(slices.Max(scores))
	sum := 0.0
	for _, x := range scores {
		sum += math.Exp(float64(x) - peak)
	}
	logProbs = make([]float64, len(scores))
	for i, x := range scores {
		ids = append(ids, int32(i))
		logProbs[i] = float64(float32(float64(x) - peak - math.Log(sum)))
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		switch {
		case logProbs[a] > logProbs[b]:
			return -1
		case logProbs[a] < logProbs[b]:
			return 1
		}
		return 0
	})
	ids = slices.DeleteFunc(ids, func(id int32) bool { return math.IsInf(logProbs[id], 0) }) // JSON has no infinity
	return ids[:min(k, len(ids))], logProbs
}

// completions answers vLLM's /v1/completions.
func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	q, prompts, ok := s.read(w, r)
	if !ok {
		return
	}
	if s.MostRow > 0 && q.Logprobs > s.MostRow {
		s.refuse(w, http.StatusBadRequest, "BadRequestError", fmt.Sprintf("Requested sample logprobs of %d, which is greater than max allowed: %d", q.Logprobs, s.MostRow),
			map[string]any{"param": "logprobs"})
		return
	}
	var choices []any
	u, read := s.uniform(), 0
	for i, prompt := range prompts {
		if !s.OneSeed {
			u = s.uniform()
		}
		read += len(prompt)
		scores, drawn := s.row(&q, prompt, u)
		ids, logProbs := likeliest(scores, q.Logprobs)
		top := map[string]float64{"token_id:" + strconv.Itoa(int(drawn)): logProbs[drawn]} // vLLM adds the drawn token
		for _, id := range ids {
			top["token_id:"+strconv.Itoa(int(id))] = logProbs[id]
		}
		list := []any{top}
		switch {
		case s.Untold:
			list = nil
		case s.FalseRows:
			list = []any{map[string]float64{}}
		}
		choices = append([]any{map[string]any{"index": i, "text": "", "token_ids": []int32{drawn}, "logprobs": map[string]any{"top_logprobs": list}, "finish_reason": "length"}}, choices...)
	}
	answer(w, map[string]any{"model": s.Model, "choices": choices, "usage": map[string]any{"prompt_tokens": read, "prompt_tokens_details": nil}})
}

// completion answers llama-server's /completion.
func (s *Server) completion(w *heldAnswer, r *http.Request) {
	q, prompts, ok := s.read(w, r)
	if !ok {
		return
	}
	if q.Stream {
		s.Streams++
		s.stream(w.to, r, &q, prompts[0])
		return
	}
	var answers []any
	u := s.uniform()
	for i, prompt := range prompts {
		if !s.OneSeed {
			u = s.uniform()
		}
		answers = append([]any{s.piece(&q, prompt, i, u)}, answers...) // in reverse order, because the client must sort
	}
	if len(answers) == 1 {
		answer(w, answers[0])
		return
	}
	answer(w, answers)
}

// likely is one of the likeliest tokens in llama-server's format.
type likely struct {
	ID      int32   `json:"id"`
	Token   string  `json:"token"`
	Bytes   []int   `json:"bytes"`
	LogProb float64 `json:"logprob"`
}

func (s *Server) spelt(id int32) []int {
	list := []int{}
	if s.Bytes != nil {
		for _, b := range s.Bytes(id) {
			list = append(list, int(b))
		}
	}
	return list
}

// piece returns the answer with the next token after a prompt.
func (s *Server) piece(q *question, prompt []int32, index int, u float64) map[string]any {
	scores, drawn := s.row(q, prompt, u)
	read := 1
	if s.Forgets {
		read = len(prompt)
	}
	a := map[string]any{"index": index, "tokens": []int32{drawn}, "model": s.Model, "stop": !q.Stream, "stop_type": "limit", "tokens_evaluated": len(prompt),
		"timings": map[string]any{"cache_n": len(prompt) - read, "prompt_n": read, "predicted_n": 1, "predicted_ms": 0.001}}
	if q.Probs == 0 || s.Untold || s.Bytes != nil && !utf8.Valid(s.Bytes(drawn)) {
		return a // llama-server sends no log-probabilities if the token ends inside a character
	}
	ids, logProbs := likeliest(scores, q.Probs)
	top := make([]likely, 0, len(ids))
	for _, id := range ids {
		top = append(top, likely{ID: id, Bytes: s.spelt(id), LogProb: logProbs[id]})
	}
	if s.FalseRows {
		top, logProbs[drawn] = []likely{}, 0
	}
	a["completion_probabilities"] = []any{map[string]any{"id": drawn, "token": "", "logprob": logProbs[drawn], "top_logprobs": top}}
	return a
}
