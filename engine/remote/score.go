package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"specula/engine/sample"
)

// errFalse is wrapped by errors about answers that cannot be true.
var errFalse = errors.New("the server's answer is wrong")

// place is the server's answer about the token after one prefix.
type place struct {
	top   []entry
	drawn int32  // the token that the server drew; -1 if it does not say
	own   *entry // the drawn token, if it is not among the likeliest; see row.own
	// Tokens of the prefix that llama-server had to compute, and the milliseconds that it took; 0 for other servers.
	read   int
	readMS float64
}

// rows asks for the k likeliest tokens after each prefix, in one request.
func (s *Server) rows(ctx context.Context, prefixes [][]int32, k int) ([]place, error) {
	return s.places(ctx, prefixes, k, nil)
}

// draws asks the server for two things after each prefix: a token drawn with the settings p, and the k
// likeliest tokens. It sends no seed, because llama-server would use the same random numbers for all
// prefixes of a request.
func (s *Server) draws(ctx context.Context, prefixes [][]int32, k int, p sample.Params) ([]place, error) {
	return s.places(ctx, prefixes, k, &p)
}

// places does the work of draws and, if p is nil, of rows. If the server refuses rows of this length, this
// and all later calls ask for shorter ones.
func (s *Server) places(ctx context.Context, prefixes [][]int32, k int, p *sample.Params) ([]place, error) {
	for {
		k = min(k, s.mostRow)
		list, err := s.oncePlaces(ctx, prefixes, k, p)
		var refused *Refused
		if errors.As(err, &refused) && refused.Status == http.StatusBadRequest && refused.param == "logprobs" && k > 1 {
			s.mostRow = shorter(k)
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(list) != len(prefixes) {
			return nil, fmt.Errorf("%w: %d places were asked for, %d came", errFalse, len(prefixes), len(list))
		}
		return list, nil
	}
}

// shorter returns the length to try after a row of k tokens was refused. It does not skip usualRow,
// which vLLM allows by default.
func shorter(k int) int {
	if k > usualRow {
		return max(k/2, usualRow)
	}
	return k / 2
}

// findMostRow finds out how long a row may be, by asking for the longest. vLLM does not tell its limit.
func (s *Server) findMostRow(ctx context.Context) error {
	if s.kind != VLLM {
		return nil
	}
	two := [][]int32{{s.safe}, {s.safe, s.safe}} // two prompts, so that counted also learns how the server counts
	if _, err := s.rows(ctx, two, min(s.mostRow, s.vocab)); err != nil {
		return fmt.Errorf("asking how many log-probabilities the server allows: %w", err)
	}
	return nil
}

func (s *Server) oncePlaces(ctx context.Context, prefixes [][]int32, k int, p *sample.Params) ([]place, error) {
	if s.kind == VLLM {
		return s.vllmPlaces(ctx, prefixes, k, p)
	}
	return s.llamaPlaces(ctx, prefixes, k, p)
}

// llamaQuestion is the body of llama-server's /completion.
type llamaQuestion struct {
	Prompt       any      `json:"prompt"`
	Tokens       int      `json:"n_predict"`
	Row          int      `json:"n_probs"`
	Temperature  float64  `json:"temperature"`
	TopK         int      `json:"top_k"`
	TopP         float64  `json:"top_p"`
	MinP         float64  `json:"min_p"`
	Samplers     []string `json:"samplers"`
	Bias         [][2]any `json:"logit_bias"`
	Cache        bool     `json:"cache_prompt"`
	ReturnTokens bool     `json:"return_tokens"`
	Stream       bool     `json:"stream,omitempty"`
	Timings      bool     `json:"timings_per_token,omitempty"`
	Fields       []string `json:"response_fields,omitempty"`
}

// llamaAnswer is an answer of /completion, or one event of a stream.
type llamaAnswer struct {
	Index   int       `json:"index"`
	Content string    `json:"content"`
	Tokens  []int32   `json:"tokens"`
	Stop    bool      `json:"stop"`
	Model   string    `json:"model"`
	Read    int       `json:"tokens_evaluated"` // all tokens of the prompt, also those from the cache
	Places  []llamaAt `json:"completion_probabilities"`
	Timing  timings   `json:"timings"`
}

type llamaAt struct {
	llamaEntry
	Top []llamaEntry `json:"top_logprobs"`
}

type llamaEntry struct {
	ID      int32   `json:"id"`
	Bytes   []int   `json:"bytes"`
	LogProb float64 `json:"logprob"`
}

// timings are llama-server's counts for one request.
type timings struct {
	Read     int     `json:"prompt_n"`
	ReadMS   float64 `json:"prompt_ms"`
	Written  int     `json:"predicted_n"`
	MS       float64 `json:"predicted_ms"`
	Drafted  int     `json:"draft_n"`
	Accepted int     `json:"draft_n_accepted"`
}

// safeBias is added to the score of Server.safe, a token of whole characters, so that the server draws it.
// If the drawn token ends inside a character, llama-server sends no log-probabilities. The
// log-probabilities that it sends are computed before the bias.
const safeBias = 1000

// askLlama asks for one token after each prefix.
func (s *Server) askLlama(ctx context.Context, prefixes [][]int32, k int, p *sample.Params) ([]llamaAnswer, error) {
	q := llamaQuestion{Prompt: prefixes, Tokens: 1, Row: k, TopP: 1, Cache: true, ReturnTokens: true, Samplers: []string{"temperature"},
		Bias: [][2]any{{s.safe, safeBias}}, Fields: []string{"index", "tokens", "model", "tokens_evaluated", "completion_probabilities", "timings"}}
	if p != nil {
		q.Bias = [][2]any{}
		q.sample(*p)
	}
	var body []byte
	if err := s.post(ctx, "/completion", q, &body); err != nil {
		return nil, err
	}
	return s.readAnswers(body)
}

func (s *Server) llamaPlaces(ctx context.Context, prefixes [][]int32, k int, p *sample.Params) ([]place, error) {
	answers, err := s.askLlama(ctx, prefixes, k, p)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(answers, func(a, b llamaAnswer) int { return a.Index - b.Index })
	list := make([]place, len(answers))
	for i, a := range answers {
		if a.Index != i {
			return nil, fmt.Errorf("%w: place %d is missing", errFalse, i)
		}
		if err := s.same(a.Model); err != nil {
			return nil, err
		}
		if a.Read > 0 && i < len(prefixes) && a.Read != len(prefixes[i]) {
			return nil, fmt.Errorf("%w: it answers a prompt of %d tokens, and was asked about one of %d", errFalse, a.Read, len(prefixes[i]))
		}
		if list[i], err = a.place(s); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// sample writes the filters p to the question, so that the server draws under p and no other filter.
func (q *llamaQuestion) sample(p sample.Params) {
	q.Temperature, q.TopK, q.TopP, q.MinP = p.Temperature, p.TopK, p.TopP, p.MinP
	q.Samplers = nil
	for _, f := range []struct {
		name string
		on   bool
	}{{"temperature", !p.TemperatureLast}, {"top_k", p.TopK > 0}, {"top_p", p.TopP < 1}, {"min_p", p.MinP > 0}, {"temperature", p.TemperatureLast}} {
		if f.on {
			q.Samplers = append(q.Samplers, f.name)
		}
	}
}

// readAnswers reads a list of answers, or a single answer, which may come without a list.
func (s *Server) readAnswers(body []byte) (list []llamaAnswer, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		err = json.Unmarshal(body, &list)
	} else if failed := inside(body); failed != "" {
		return nil, &Refused{Status: http.StatusOK, words: "the server failed: " + s.shown(failed)}
	} else {
		list = make([]llamaAnswer, 1)
		err = json.Unmarshal(body, &list[0])
	}
	if err != nil {
		return nil, fmt.Errorf("the answer of /completion cannot be read: %w", err)
	}
	return list, nil
}

// place reads the first token of an answer. Some facts are in the answer twice. place compares them,
// because bytes that changed on the way, or another model's vocabulary, must not become text.
func (a *llamaAnswer) place(s *Server) (place, error) {
	p := place{drawn: -1, read: a.Timing.Read, readMS: a.Timing.ReadMS}
	if len(a.Tokens) > 0 {
		p.drawn = a.Tokens[0]
	}
	if len(a.Places) == 0 {
		return p, nil // the token ends inside a character, so the server sent no row
	}
	at := a.Places[0]
	if len(a.Tokens) > 0 && at.ID != p.drawn {
		return place{}, fmt.Errorf("%w: it wrote token %d, and tells of token %d", errFalse, p.drawn, at.ID)
	}
	known := false
	for i, e := range at.Top {
		if i > 0 && e.LogProb > at.Top[i-1].LogProb {
			return place{}, fmt.Errorf("%w: the log-probabilities of a place do not fall", errFalse)
		}
		if err := s.spelling.check(e.ID, e.Bytes); err != nil {
			return place{}, err
		}
		p.top = append(p.top, entry{e.ID, e.LogProb})
		known = known || e.ID == at.ID
	}
	if !known && len(at.Top) > 0 {
		p.own = &entry{at.ID, at.LogProb}
	}
	return p, nil
}

// vllmQuestion is the body of vLLM's /v1/completions. It has a value for every filter, because for a
// missing value vLLM would use the model's generation_config.json.
type vllmQuestion struct {
	Model       string    `json:"model"`
	Prompt      [][]int32 `json:"prompt"`
	Tokens      int       `json:"max_tokens"`
	Row         int       `json:"logprobs"`
	Temperature float64   `json:"temperature"`
	TopK        int       `json:"top_k"`
	TopP        float64   `json:"top_p"`
	MinP        float64   `json:"min_p"`
	Repetition  float64   `json:"repetition_penalty"`
	Presence    float64   `json:"presence_penalty"`
	Frequency   float64   `json:"frequency_penalty"`
	AsIDs       bool      `json:"return_tokens_as_token_ids"`
	ReturnIDs   bool      `json:"return_token_ids"`
	IgnoreEnd   bool      `json:"ignore_eos"`
	AddSpecial  bool      `json:"add_special_tokens"`
}

func (s *Server) vllmPlaces(ctx context.Context, prefixes [][]int32, k int, p *sample.Params) ([]place, error) {
	q := vllmQuestion{Model: s.model, Prompt: prefixes, Tokens: 1, Row: k, TopP: 1, Repetition: 1, AsIDs: true, ReturnIDs: true, IgnoreEnd: true}
	if p != nil {
		q.Temperature, q.TopK, q.TopP, q.MinP = p.Temperature, p.TopK, p.TopP, p.MinP
	}
	var answer struct {
		Model   string `json:"model"`
		Choices []struct {
			Index    int     `json:"index"`
			IDs      []int32 `json:"token_ids"`
			LogProbs struct {
				Top []map[string]float64 `json:"top_logprobs"`
			} `json:"logprobs"`
		} `json:"choices"`
		Usage struct {
			Read int `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := s.post(ctx, "/v1/completions", q, &answer); err != nil {
		return nil, err
	}
	if err := s.same(answer.Model); err != nil {
		return nil, err
	}
	if err := s.counted(answer.Usage.Read, prefixes); err != nil {
		return nil, err
	}
	list := make([]place, len(answer.Choices))
	for i := range list {
		list[i].drawn = -2
	}
	for _, c := range answer.Choices {
		if c.Index < 0 || c.Index >= len(list) || list[c.Index].drawn != -2 {
			return nil, fmt.Errorf("%w: place %d of %d, or twice the same", errFalse, c.Index, len(list))
		}
		at := &list[c.Index]
		at.drawn = -1
		if len(c.IDs) > 0 {
			at.drawn = c.IDs[0]
		}
		if len(c.LogProbs.Top) == 0 {
			continue
		}
		for key, logProb := range c.LogProbs.Top[0] {
			id, err := strconv.ParseInt(strings.TrimPrefix(key, "token_id:"), 10, 32)
			if err != nil {
				return nil, fmt.Errorf("%w: a log-probability belongs to no token id", errFalse)
			}
			at.top = append(at.top, entry{int32(id), logProb})
		}
		at.limit(k)
	}
	return list, nil
}

// counted compares the server's count of prompt tokens with the number of tokens sent. Some servers count only
// one prompt of a request. But once a server has counted all prompts of a request, its later counts must equal
// what was sent: otherwise the answer belongs to another request.
func (s *Server) counted(read int, prefixes [][]int32) error {
	sent := 0
	for _, p := range prefixes {
		sent += len(p)
	}
	if s.counts && read != sent {
		return fmt.Errorf("%w: it answers prompts of %d tokens, and was asked about %d", errFalse, read, sent)
	}
	s.counts = s.counts || read == sent && len(prefixes) > 1
	return nil
}

// limit moves the drawn token to own if it is not among the k likeliest: vLLM adds it to the row.
func (p *place) limit(k int) {
	if len(p.top) <= k {
		return
	}
	i := slices.IndexFunc(p.top, func(e entry) bool { return e.id == p.drawn })
	if i < 0 {
		return
	}
	least := true
	for _, e := range p.top {
		least = least && e.logProb >= p.top[i].logProb
	}
	if least {
		own := p.top[i]
		p.own, p.top = &own, slices.Delete(p.top, i, i+1)
	}
}

// same returns an error if the server answers with another model than at the start of the conversation.
func (s *Server) same(model string) error {
	if model != "" && model != s.model {
		return fmt.Errorf("the server now answers as model %q, not as %q: start again", s.shown(model), s.shown(s.model))
	}
	return nil
}
