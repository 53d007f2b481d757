// Package remote lets a serving engine be the target: the draft is made here, and a server across the
// network says what the large model thinks of it.
//
// Read it in this order. Connect finds out what kind of server answers (kind.go). Server.rows asks it
// for the scores after several prefixes in one request (score.go); Server.draws asks it to draw a
// token after each of them. A row is what such a request returns: the K likeliest tokens with their
// log-probabilities (row.go). Target is the target of a conversation, which package round runs rounds
// on (target.go). plan.go decides which of the two requests is exact under the settings of a reply.
//
// # How one request scores a draft
//
// A server gives scores for the token that follows a prompt. So a draft x₁ … x_γ after a context c is
// scored by one request with γ+1 prompts, c, c x₁, c x₁ x₂ and so on, each for one token. The server's
// prefix cache has most of each. llama-server and vLLM both take such a list.
//
// # Exact, or refused
//
// The scores are log-probabilities of the whole vocabulary at temperature 1, of the K best tokens
// only. The mass of the others is known, 1 − Σ p, and none of them is above the K-th. A row decides
// the filters of a reply if no way to share out that mass could change what is drawn (row.decides).
// If it does not, more tokens are asked for. Settings that no row can decide are left to the server:
// it draws a token of its own at every place, and a draft token stays iff it is the same one. That is
// exact for whatever distribution the server draws from. Nothing is ever approximated.
//
// # Safety
//
// Every answer is foreign input: it is bounded in bytes and in time, and checked before it is used.
// Prompts travel as token ids, so no text of the user can become a control token on the server. The
// key of a server is in a header and nowhere else.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say which server to ask.
type Options struct {
	URL   string // http://host:port, perhaps with a path before /v1
	Model string // one of those that the server has; empty: its only one
	Key   string // sent as a bearer token; empty: none
	CA    string // a file of certificates, in PEM, that may sign the server's; empty: those of the system
	// Certificate is a file with a certificate and its private key, in PEM, by which the client shows
	// who it is; empty: none.
	Certificate string
	Limit       time.Duration // for one request, or for the next token of a stream
	// Wait sleeps before a request is repeated; nil stands for the clock's.
	Wait func(ctx context.Context, d time.Duration) error

	transport http.RoundTripper // of tests; nil: the network
}

// Server is one model on one server. It is safe for one goroutine.
type Server struct {
	options Options
	base    string
	http    *http.Client

	kind     Kind
	model    string // the name that requests carry
	context  int    // tokens that a conversation may have
	vocab    int    // tokens of the vocabulary; 0: the server does not say
	slots    int    // sequences that it computes at the same time; 0: it does not say
	facts    facts
	mostRow  int      // tokens that a row may have
	firstRow int      // tokens that a row has at first where the filters do not say how many are needed
	spelling spelling // of the vocabulary
	singly   bool     // no streams
	compared bool     // the vocabularies were
	safe     int32    // a token that is whole characters: see rowsRequest
	moved    int64    // bytes sent and received
	trips    int
}

// facts are what a server says of its model, for the screen.
type facts struct {
	parameters, bytes int64
	weightType        string
	speculates        bool
	build             string
}

// Connect finds out what kind of server it is, and which model it has. A server that is loading its
// model is waited for, at most Options.Limit.
func Connect(ctx context.Context, o Options) (*Server, error) {
	base, err := address(o.URL)
	if err != nil {
		return nil, err
	}
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, base: base, http: client, mostRow: mostRow, firstRow: firstRow}
	if s.options.Wait == nil {
		s.options.Wait = sleep
	}
	if err := s.identify(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("asking the server at %s what it is: %w", base, err)
	}
	return s, nil
}

// Close frees the connections.
func (s *Server) Close() { s.http.CloseIdleConnections() }

// address checks a URL. The part that OpenAI's clients call base URL, which ends with /v1, is taken too.
func address(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("the address of the server cannot be read: write it like http://127.0.0.1:8080") // err repeats what may be a password
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
