package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Limits on what a server may send and on how long it may take.
const (
	mostBytes   = 64 << 20 // bytes of one answer
	mostWords   = 400      // bytes of a server's error message that are shown
	mostHeaders = 64 << 10 // bytes of the headers of an answer
	// idleTime is less than the 5 s after which llama-server closes an idle connection. A request on a
	// connection that is being closed would fail.
	idleTime = 4 * time.Second
	// mostRepeats is how often a request is repeated while the server is too busy, or does not answer its
	// gateway. Requests here change nothing on the server, so repeating them is safe.
	mostRepeats = 5
	mostPause   = 30 * time.Second       // limit of the wait before a repetition, even if Retry-After asks for more
	loadPause   = 500 * time.Millisecond // wait while the server loads its model, without a Retry-After
	// gatewayPause is short. A gateway fails at once if it uses a connection that the server has closed. It
	// does not use this connection again.
	gatewayPause = 200 * time.Millisecond
)

// client makes the HTTP client. Proxies come from the environment, as for every program in Go.
func (o *Options) client() (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the certificates of remote.ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("remote.ca: %s holds no certificate in PEM", o.CA)
		}
	}
	if o.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(o.Certificate, o.Certificate)
		if err != nil {
			return nil, fmt.Errorf("reading certificate and private key of remote.certificate, both in one file in PEM: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := o.transport
	if transport == nil {
		transport = &http.Transport{
			Proxy: proxy(http.ProxyFromEnvironment), TLSClientConfig: config, ForceAttemptHTTP2: true,
			IdleConnTimeout: idleTime, MaxIdleConnsPerHost: 2, MaxResponseHeaderBytes: mostHeaders, DialContext: o.dial,
		}
	}
	return &http.Client{
		Transport: transport,
		// Do not follow redirects: another address would get the conversation.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// proxy wraps find. If the address of the proxy is wrong, its error does not repeat the address, which may
// hold a password.
func proxy(find func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		to, err := find(r)
		if err != nil {
			return nil, errors.New("the address of the proxy in HTTPS_PROXY or HTTP_PROXY cannot be read")
		}
		return to, nil
	}
}

// errTooSlow ends a request that took longer than Options.Limit. errNoAnswer is a request without an
// answer for another reason. An error of a request that wraps one of the two names the address of the server.
var (
	errTooSlow  = errors.New("the server did not answer in time")
	errNoAnswer = errors.New("no answer")
)

// post sends question as JSON and reads the answer into out.
func (s *Server) post(ctx context.Context, path string, question, out any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	return s.ask(ctx, http.MethodPost, path, body, out)
}

func (s *Server) get(ctx context.Context, path string, out any) error {
	return s.ask(ctx, http.MethodGet, path, nil, out)
}

// ask sends a request. It repeats the request while the server says that it is loading or busy, or
// while a gateway says that the server does not answer.
func (s *Server) ask(ctx context.Context, method, path string, body []byte, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Limit, errTooSlow)
	defer cancel()
	for repeats := 0; ; repeats++ {
		err := s.once(ctx, method, path, body, out)
		var refused *Refused
		if !errors.As(err, &refused) || refused.again == 0 || !refused.loading && repeats >= mostRepeats {
			return err
		}
		if s.options.Waits != nil {
			s.options.Waits(refused.state)
		}
		if s.options.Wait(ctx, refused.again) != nil {
			return err // err says why the server refused; Wait only says that the time is over
		}
	}
}

func (s *Server) once(ctx context.Context, method, path string, body []byte, out any) error {
	answer, err := s.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes+1))
	s.moved += int64(len(text))
	switch {
	case err != nil:
		return s.lost(ctx, err)
	case len(text) > mostBytes:
		return fmt.Errorf("the answer of %s is longer than %d MiB", path, mostBytes>>20)
	case answer.StatusCode != http.StatusOK:
		return s.refusal(answer, text)
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = text
		return nil
	}
	if failed := inside(text); failed != "" {
		return &Refused{Status: answer.StatusCode, words: "the server failed: " + s.shown(failed)}
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("the answer of %s cannot be read: %w", path, err)
	}
	return nil
}

// send sends a request and returns after the headers of the answer have arrived.
func (s *Server) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header["Idempotency-Key"] = nil // not sent, but lets net/http repeat the request if the server has closed the connection
	request.Header.Set("User-Agent", "specula")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if s.options.Key != "" {
		request.Header.Set("Authorization", "Bearer "+s.options.Key)
	}
	for name, values := range s.headers {
		request.Header[name] = values
	}
	s.moved += int64(len(body))
	s.trips++
	answer, err := s.http.Do(request)
	if err != nil {
		return nil, s.lost(ctx, err)
	}
	return answer, nil
}

// lost returns an error that explains why there is no answer.
func (s *Server) lost(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errTooSlow) {
			return fmt.Errorf("%w: %v at %s; raise remote.timeout, or look whether the server is busy", errTooSlow, s.options.Limit, s.base)
		}
		return cause
	}
	// The texts of a url.Error and of a net.OpError would repeat the address.
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		err = dial.Err
	}
	return fmt.Errorf("%w from %s: %w; is the server running, and is the address right?", errNoAnswer, s.base, err)
}

// Refused is an answer with an error.
type Refused struct {
	Status  int
	param   string        // the field of the request that the server rejects
	words   string        // the server's message
	state   string        // the part of words that says how the server is, if the request may be repeated
	again   time.Duration // time to wait before repeating; 0: do not repeat
	loading bool          // the model is being loaded
}

func (r *Refused) Error() string { return r.words }

// failure is the error in an answer: an object, or a text in some answers of vLLM.
type failure struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   string `json:"param"`
}

// UnmarshalJSON accepts both forms.
func (f *failure) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &f.Message)
	}
	type plain failure
	return json.Unmarshal(text, (*plain)(f))
}

// inside returns the message of an error inside an answer with status 200; "" if there is none. It parses only
// answers that contain the word "error", because parsing a long answer takes time.
func inside(text []byte) string {
	var in struct {
		Error *failure `json:"error"`
	}
	if !bytes.Contains(text, []byte(`"error"`)) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) || json.Unmarshal(text, &in) != nil || in.Error == nil {
		return ""
	}
	if in.Error.Message == "" {
		return "it does not say why"
	}
	return in.Error.Message
}

// refusal turns a status and a body into an error that says what to do.
func (s *Server) refusal(answer *http.Response, text []byte) error {
	var in struct {
		Error failure `json:"error"`
	}
	_ = json.Unmarshal(text, &in) // an answer may not be JSON; then only the status is known
	f := in.Error
	r := &Refused{Status: answer.StatusCode, param: f.Param}
	said := ""
	if f.Message != "" {
		said = fmt.Sprintf(" (it says: %s)", s.shown(f.Message))
	}
	switch {
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden:
		r.words = "the server refuses the key" + said + ": put the right one into the environment variable or the file that remote.key names"
	case r.Status == http.StatusTooManyRequests:
		r.again = pause(answer.Header.Get("Retry-After"), time.Second)
		r.state = "the server has too many requests" + said
		r.words = r.state + ": try again later"
	case r.Status == http.StatusServiceUnavailable:
		r.again, r.loading = pause(answer.Header.Get("Retry-After"), loadPause), true
		r.state = "the server is not ready" + said
		r.words = r.state + ": it may be loading its model; try again later"
	case r.Status == http.StatusBadGateway:
		r.again = pause(answer.Header.Get("Retry-After"), gatewayPause)
		r.state = "the gateway before the server gets no answer from it" + said
		r.words = r.state + ": look whether the server runs"
	case f.Type == "exceed_context_size_error" || f.Param == "input_tokens":
		r.words = "the conversation is longer than the server's context" + said + ": start a new chat, or start the server with a longer one"
	case r.Status == http.StatusNotFound:
		r.words = fmt.Sprintf("the server has no %s, or no model %q%s", answer.Request.URL.Path, s.model, said)
	case r.Status >= 300 && r.Status < 400:
		r.words = "the server sends to another address, which is not followed: write that address into remote.url"
	case r.Status >= 500:
		r.words = fmt.Sprintf("the server failed with status %d%s: look into its log", r.Status, said)
	default:
		r.words = fmt.Sprintf("the server refuses the request with status %d%s", r.Status, said)
	}
	return r
}

// shown returns a server's message on one line, shortened, and without our key and headers, which some servers repeat.
func (s *Server) shown(text string) string {
	text = strings.Join(strings.Fields(s.hidden(text)), " ")
	if len(text) > mostWords {
		text = strings.ToValidUTF8(text[:mostWords], "") + " …"
	}
	return text
}

// pause returns the time that the header Retry-After asks for, at most mostPause. If after, its text, is no
// number of seconds, pause returns the duration otherwise.
func pause(after string, otherwise time.Duration) time.Duration {
	seconds, err := strconv.ParseFloat(after, 64)
	if err != nil || !(seconds >= 0) {
		return otherwise
	}
	return max(time.Millisecond, min(mostPause, time.Duration(min(seconds, 1e6)*float64(time.Second))))
}
