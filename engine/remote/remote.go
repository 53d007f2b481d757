// Package remote lets a server be the target: this program makes the draft, and the large model on the
// server scores it.
//
// Read it in this order. Connect finds out what kind of server answers (kind.go). Server.rows asks it for
// the scores after several prefixes in one request (score.go); Server.draws asks it to draw a token after
// each prefix. A row is the answer for one prefix: the K likeliest tokens with their log-probabilities
// (row.go). plan.go decides which of the two requests is exact under the settings of a reply. Target is
// the target of a conversation, for package round (target.go). A server that speculates by itself is only
// watched: Watch (watch.go) reads the stream of its reply (stream.go), and each kind of server has other
// events in it (watch_events.go).
//
// # How one request scores a draft
//
// A server gives scores for the token that follows a prompt. So one request scores a draft x₁ … x_γ after
// a context c: it has γ+1 prompts, c, c x₁, c x₁ x₂ and so on, each for one token. Most of each prompt is
// in the server's prefix cache. llama-server and vLLM both accept such a list of prompts.
//
// # Exact, or refused
//
// The scores are the log-probabilities, over the whole vocabulary and at temperature 1, of the K best
// tokens. The other tokens together have the probability 1 − Σ p, and none of them is above the K-th.
// A row decides if the filters give the same distribution however the other tokens share that
// probability (row.decides). If a row does not decide, more tokens are asked for. Settings that no row
// can decide are left to the server: it draws a token after each prefix, and a draft token stays iff it
// equals the drawn one. That is exact for every distribution that the server draws from.
//
// # Safety
//
// Every answer is foreign input: it is limited in bytes and in time, and checked before use. Prompts
// are sent as token ids, so no text of the user can become a control token on the server. The key is
// sent in a header and nowhere else.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say which server to ask.
type Options struct {
	URL   string // http://host:port, perhaps with a path before /v1
	Model string // name of a model on the server; empty: the server has only one
	Key   string // sent as a bearer token; empty: none
	CA    string // a file of certificates, in PEM, that may sign the server's certificate; empty: those of the system
	// Certificate is a file with a client certificate and its private key, in PEM; empty: none.
	Certificate string
	Headers     string        // a file with one header in each line, sent with each request; empty: none
	Limit       time.Duration // how long one request may take, or the next token of a stream
	// Wait sleeps before a request is repeated; nil: by the system's clock.
	Wait func(ctx context.Context, d time.Duration) error
	// Waits is called before each repetition while Connect waits for the server, and says why; nil: nobody is told.
	Waits func(why string)

	// For tests; nil: the network.
	transport http.RoundTripper
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
}

// Server is one model on one server. Only one goroutine may use it.
type Server struct {
	options Options
	base    string
	http    *http.Client
	headers http.Header // the headers that the user set (Options.Headers), for each request

	kind     Kind
	model    string // sent in each request
	context  int    // the server's context length, in tokens
	vocab    int    // tokens of the vocabulary; 0: not known
	slots    int    // sequences that the server computes at the same time; 0: not known
	facts    facts
	mostRow  int      // largest number of tokens of a row
	firstRow int      // tokens to ask for first if the filters do not say how many are needed
	spelling spelling // finds tokens by their text
	singly   bool     // use no streams
	compared bool     // the vocabularies were compared
	counts   bool     // vLLM: it counts the tokens of all prompts of a request; see counted
	safe     int32    // a token of whole characters: see safeBias
	moved    int64    // bytes of questions and answers, without headers
	trips    int      // requests sent
}

// facts are what a server tells about its model, for display.
type facts struct {
	parameters, bytes int64
	weightType        string
	speculates        bool
	build             string
}

// Connect finds out the kind of a server, and its model. While the server loads the model, Connect
// waits for at most Options.Limit.
func Connect(ctx context.Context, o Options) (*Server, error) {
	base, err := address(o.URL)
	if err != nil {
		return nil, err
	}
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	headers, err := readHeaders(o.Headers)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, base: base, http: client, headers: headers, mostRow: mostRow, firstRow: firstRow}
	if s.options.Wait == nil {
		s.options.Wait = sleep
	}
	if err := s.identify(ctx); err != nil {
		s.Close()
		if errors.Is(err, errNoAnswer) || errors.Is(err, errTooSlow) {
			return nil, fmt.Errorf("asking the server what it is: %w", err)
		}
		return nil, fmt.Errorf("asking the server at %s what it is: %w", base, err)
	}
	s.options.Waits = nil
	return s, nil
}

// Close frees the connections.
func (s *Server) Close() { s.http.CloseIdleConnections() }

// address checks a URL and completes it. It also accepts the base URL of OpenAI's clients, which ends with /v1.
func address(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("the address of the server cannot be read: write it like http://127.0.0.1:8080") // err would repeat the text, which may contain a password
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("the address of the server has a user name, a password or a part after ? or # in it: leave that out, put a key into an environment variable and name that by remote.key")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", fmt.Errorf("the address of the server %q: allowed are http://HOST:PORT and https://HOST:PORT", u.Redacted())
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), "/"), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
