package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/engine/remote/imitation"
	"specula/engine/sample"
	"specula/engine/spec"
)

// trouble gives answer the scoring requests, numbered from 1, before the server. If answer returns false, the server
// answers.
func trouble(s *imitation.Server, answer func(w http.ResponseWriter, n int) bool) {
	n := 0
	s.Trouble = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/completion" {
			return false
		}
		n++
		return answer(w, n)
	}
}

// Each fault has a message that says what happened. No message contains the key.
func TestFaultsInPlainWords(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter, int) bool {
		return func(w http.ResponseWriter, _ int) bool {
			w.WriteHeader(code)
			fmt.Fprint(w, body)
			return true
		}
	}
	row := `[{"index":0,"model":"small","tokens":[1],"completion_probabilities":[{"id":1,"logprob":-0.1,"top_logprobs":[%s]}]},{"index":1,"model":"small","tokens":[1],"completion_probabilities":[{"id":1,"logprob":-0.1,"top_logprobs":[{"id":1,"logprob":-0.1},{"id":2,"logprob":-3}]}]}]`
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter, int) bool
		want   string
	}{
		{"wrong key", status(401, `{"error":{"message":"Invalid API Key `+secret+`","type":"authentication_error","code":401}}`), "refuses the key (it says: Invalid API Key [key])"},
		{"vLLM's wrong key", status(401, `{"error":"Unauthorized"}`), "refuses the key (it says: Unauthorized)"},
		{"no such model", status(404, `{"error":{"message":"model not found","code":404}}`), "no model"},
		{"loading for ever", status(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`), "not ready (it says: Loading model)"},
		{"too many requests", status(429, `{}`), "too many requests"},
		{"context", status(400, `{"error":{"code":400,"message":"request (3000 tokens) exceeds","type":"exceed_context_size_error","n_prompt_tokens":3000,"n_ctx":2048}}`), "longer than the server's context"},
		{"redirect", status(302, ``), "another address"},
		{"dead engine", status(500, `{"error":{"message":"EngineCore encountered an issue","code":500}}`), "failed with status 500"},
		{"an error inside success", status(200, `{"error":{"message":"it broke `+secret+`","code":500}}`), "the server failed: it broke"},
		{"no JSON", status(200, `<html>`), "cannot be read"},
		{"half an answer", status(200, `[{"index":0,"mod`), "cannot be read"},
		{"an answer missing", status(200, `[{"index":0,"model":"small"}]`), "2 places were asked for, 1 came"},
		{"another model", status(200, `[{"index":0,"model":"other"},{"index":1,"model":"other"}]`), `answers as model "other"`},
		{"no log-probabilities", status(200, `[{"index":0,"model":"small","tokens":[1]},{"index":1,"model":"small","tokens":[2]}]`), "no log-probabilities"},
		{"probabilities above 1", status(200, fmt.Sprintf(row, `{"id":1,"logprob":0},{"id":2,"logprob":0}`)), "add up to 2"},
		{"probabilities below 1", status(200, fmt.Sprintf(row, `{"id":1,"logprob":-3},{"id":2,"logprob":-9}`)), "add up to at most 0.05"},
		{"log-probabilities that rise", status(200, fmt.Sprintf(row, `{"id":1,"logprob":-2},{"id":2,"logprob":-0.2}`)), "do not fall"},
		{"two words for one token", status(200, strings.Replace(fmt.Sprintf(row, `{"id":1,"logprob":-0.1},{"id":2,"logprob":-3}`), `"tokens":[1]`, `"tokens":[3]`, 1)), "it wrote token 3, and tells of token 1"},
		{"the answer of another request", status(200, strings.Replace(fmt.Sprintf(row, `{"id":1,"logprob":-0.1},{"id":2,"logprob":-3}`), `"tokens":[1]`, `"tokens":[1],"tokens_evaluated":7`, 1)), "a prompt of 7 tokens, and was asked about one of 1"},
		{"a token twice", status(200, fmt.Sprintf(row, `{"id":1,"logprob":-1},{"id":1,"logprob":-1}`)), "twice in its row"},
		{"memory that nobody wrote", status(200, fmt.Sprintf(row, `{"id":400499552,"logprob":-1}`)), "not among 10"},
	} {
		imitated := small()
		trouble(imitated, c.answer)
		target := mustAsk(t, imitated)
		target.server.options.Wait = waits(3)
		_, err := score(target, 4, sample.Params{TopP: 1}, 5)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the key is in the error", c.name)
		}
		if target.Len() != 0 {
			t.Errorf("%s: %d tokens are held after the fault", c.name, target.Len())
		}
	}
}

// waits allows n repetitions of a request, and then says that the time is over.
func waits(n int) func(context.Context, time.Duration) error {
	return func(context.Context, time.Duration) error {
		if n--; n < 0 {
			return errTooSlow
		}
		return nil
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		status int
		after  string
		paused time.Duration
	}{{http.StatusTooManyRequests, "7", 14 * time.Second}, {http.StatusBadGateway, "", 2 * gatewayPause}, {http.StatusBadGateway, "3", 6 * time.Second}} {
		imitated := small()
		var paused time.Duration
		trouble(imitated, func(w http.ResponseWriter, n int) bool {
			if n > 2 {
				return false
			}
			if c.after != "" {
				w.Header().Set("Retry-After", c.after)
			}
			w.WriteHeader(c.status)
			return true
		})
		target := mustAsk(t, imitated)
		target.server.options.Wait = func(_ context.Context, d time.Duration) error {
			paused += d
			return nil
		}
		if got, err := score(target, 4, sample.Params{TopP: 1}, 5); err != nil || !slices.Equal(got, []int32{5, 6}) || paused != c.paused {
			t.Errorf("status %d: best tokens %v, %v after a pause of %v, want 5 and 6 after %v", c.status, got, err, paused, c.paused)
		}
	}
}

// A stream is complete only if the server says so: [DONE] also comes after an error.
func TestAStreamThatBreaksOffIsNoReply(t *testing.T) {
	token := `data: {"index":0,"tokens":[4],"model":"small","stop":false,"timings":{"predicted_n":1}}` + "\n\n"
	for _, c := range []struct{ name, body, want string }{
		{"cut", token, "in the middle"},
		{"cut inside an event", token + `data: {"index":0,"tok`, "cannot be read"},
		{"an error, then done", token + `data: {"error":{"message":"EngineCore encountered an issue","code":500}}` + "\n\ndata: [DONE]\n\n", "EngineCore"},
		{"two tokens in one piece", token + `data: {"index":0,"tokens":[5,6],"model":"small","timings":{"predicted_n":3}}` + "\n\n", "2 tokens in one piece"},
		{"done at once", token + "data: [DONE]\n\n", "in the middle"},
		{"an endless line", token + "data: " + strings.Repeat("x", mostLine+1), "cannot be read"},
	} {
		imitated := small()
		trouble(imitated, func(w http.ResponseWriter, _ int) bool {
			_, _ = io.WriteString(w, c.body)
			return true
		})
		target := mustAsk(t, imitated)
		if got, err := score(target, 3, sample.Params{TopP: 1}); err != nil || got[0] != 4 {
			t.Fatalf("%s: the first token: %v, %v", c.name, got, err)
		}
		if _, err := score(target, 4, sample.Params{TopP: 1}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// endless never stops sending.
type endless struct{}

func (endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"data":["`), forever{}))}, nil
}

type forever struct{}

func (forever) Read(p []byte) (int, error) {
	copy(p, bytes.Repeat([]byte("a"), len(p)))
	return len(p), nil
}

func TestAnAnswerHasABound(t *testing.T) {
	_, err := Connect(t.Context(), Options{URL: "http://h", Limit: time.Hour, transport: endless{}})
	if err == nil || !strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Errorf("an endless answer: error %v, want longer than 64 MiB", err)
	}
}

// silent sends headers and then nothing.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Request: r, Body: io.NopCloser(waiting{r.Context()})}, nil
}

type waiting struct{ until context.Context }

func (w waiting) Read([]byte) (int, error) {
	<-w.until.Done()
	return 0, w.until.Err()
}

func TestASilentStreamHasABound(t *testing.T) {
	target := mustAsk(t, small())
	target.server.http.Transport, target.server.options.Limit = silent{}, time.Millisecond
	if _, err := score(target, 3, sample.Params{TopP: 1}); !errors.Is(err, errTooSlow) || !strings.Contains(err.Error(), "remote.timeout") {
		t.Errorf("a silent stream: error %v, want %v, with remote.timeout", err, errTooSlow)
	}
}

// The error of a cancelled reply names the cancellation and not the network.
func TestACancelNamesItself(t *testing.T) {
	target := mustAsk(t, small())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	target.server.http.Transport = http.DefaultTransport
	d := spec.CertainDraft([]int32{5})
	if _, err := target.Score(ctx, 4, &d, &spec.Terms{Params: sample.Params{TopP: 1}}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
