package app

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/remote/imitation"
	"specula/engine/trace"
	"specula/engine/weights"
	"specula/tokenizer"
)

// pairServer imitates a llama-server with the embedded target: its scores come from the model here.
func pairServer(t *testing.T) *imitation.Server {
	t.Helper()
	file, err := weights.Parse("target", assets.Target())
	if err != nil {
		t.Fatal(err)
	}
	backend := host.New(1)
	t.Cleanup(func() { _ = backend.Close() })
	m, err := model.Load(t.Context(), backend, file, model.Options{MaxTokens: 512, MaxRows: 1, PrefillRows: 64}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tokens := pairTokens(t, file)
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cache.Close() })
	var held []int32
	row := make([]float32, m.Config().Vocab)
	return &imitation.Server{Model: "demo target", Context: 512, Slots: 9, Bytes: tokens.Bytes,
		Stops: func(id int32) bool { return slices.Contains(tokens.StopTokens(), id) },
		Scores: func(ids []int32) []float32 {
			if len(ids) == 0 {
				return row
			}
			keep := 0
			for keep < min(len(held), len(ids)-1) && held[keep] == ids[keep] {
				keep++
			}
			if err := cache.Truncate(keep); err != nil {
				t.Error(err)
			}
			logits, err := m.Prefill(context.Background(), cache, ids[keep:], nil)
			if err == nil {
				err = logits.Row(0, row)
			}
			if err != nil {
				t.Error(err)
			}
			held = slices.Clone(ids)
			return row
		},
		Tokenize: func(text string, special bool) []int32 {
			return tokens.EncodeSegments([]tokenizer.Segment{{Text: text, Special: special}})
		}}
}

func pairTokens(t *testing.T, file *weights.File) *tokenizer.Tokenizer {
	t.Helper()
	spec, err := file.TokenizerSpec()
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := tokenizer.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// ended writes one reply and returns its last event and its rounds.
func ended(t *testing.T, c *Conversation, prompt string) (end event.ReplyEnded, rounds []event.Round) {
	t.Helper()
	for e := range c.Reply(t.Context(), prompt) {
		switch e := e.(type) {
		case event.Failed:
			t.Fatal(e.Error)
		case event.Round:
			rounds = append(rounds, e)
		case event.ReplyEnded:
			end = e
		}
	}
	return end, rounds
}

func opened(t *testing.T, values ...string) *Conversation {
	t.Helper()
	conversation := openedToClose(t, values...)
	t.Cleanup(func() { _ = conversation.Close() })
	return conversation
}

// openedToClose is opened for a test that closes the conversation itself.
func openedToClose(t *testing.T, values ...string) *Conversation {
	t.Helper()
	c := config.Default()
	c.Device.Device = "cpu"
	for pair := range slices.Chunk(values, 2) {
		if err := c.Set(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	a := &App{Now: time.Now, Getenv: func(string) string { return "" }}
	conversation, err := a.silently(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return conversation
}

// At temperature 0, drafts scored by a server give the target's text with each proposer and draft length. The prompt
// is read in the first round, so its reading has no time of its own; the bytes of requests are counted.
func TestGreedyTextOverAServerIsTheTargets(t *testing.T) {
	listener := httptest.NewServer(pairServer(t))
	defer listener.Close()
	prompts := []string{"What is speculative decoding?", "Repeat after me: one two three one two three one two three"}
	set := []string{"temperature", "0", "max-tokens", "40"}
	here := opened(t, set...)
	var want []event.ReplyEnded
	for _, p := range prompts {
		end, _ := ended(t, here, p)
		want = append(want, end)
	}
	drafted := 0
	for _, proposer := range []string{"draft", "ngram", "suffix"} {
		for _, gamma := range []int{1, 4, 8} {
			there := opened(t, append(set, "remote", listener.URL, "proposer", proposer, "gamma-rule", "fixed", "gamma", strconv.Itoa(gamma))...)
			for i, p := range prompts {
				got, rounds := ended(t, there, p)
				if !slices.Equal(got.IDs, want[i].IDs) || got.Reason != want[i].Reason {
					t.Errorf("%s, γ %d: %q, want %q", proposer, gamma, got.Text, want[i].Text)
				}
				if got.Totals.PrefillMS != 0 || want[0].Totals.PrefillMS <= 0 {
					t.Errorf("reading the prompt took %g ms over a server, which reads it in the first round, and %g ms here", got.Totals.PrefillMS, want[0].Totals.PrefillMS)
				}
				drafted += got.Totals.Accepted
				if rounds[0].BytesMoved == 0 {
					t.Errorf("%s, γ %d: no bytes were counted", proposer, gamma)
				}
			}
		}
	}
	if drafted < 100 {
		t.Errorf("only %d draft tokens were accepted in all", drafted)
	}
}

// Close also closes the connections to a server. Otherwise they would stay open until they have been idle
// for 4 s.
func TestCloseClosesTheConnectionsToAServer(t *testing.T) {
	var open atomic.Int64
	listener := httptest.NewUnstartedServer(pairServer(t))
	listener.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	listener.Start()
	defer listener.Close()
	there := openedToClose(t, "temperature", "0", "max-tokens", "4", "remote", listener.URL, "proposer", "ngram")
	ended(t, there, "What is speculative decoding?")
	// The reply may have closed every connection: it ends its stream early, and with it the connection. An
	// answer that is read to its end leaves one open, also if it says that the server has no such page.
	_, _ = there.server.Metrics(t.Context())
	if open.Load() == 0 {
		t.Fatal("no connection is open: there is nothing to test")
	}
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Second); open.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections are open 2 s after Close", open.Load())
		}
	}
}

// With top-k, p and q of each tested draft token are known, and decide about it.
func TestProbabilitiesOverAServerAreReal(t *testing.T) {
	listener := httptest.NewServer(pairServer(t))
	defer listener.Close()
	there := opened(t, "remote", listener.URL, "top-k", "20", "temperature", "1", "max-tokens", "30", "gamma-rule", "fixed")
	_, rounds := ended(t, there, "Tell me a story.")
	tested := 0
	for _, r := range rounds {
		for _, token := range r.Draft[:r.Tested] {
			tested++
			if token.P == nil || token.Q == nil || token.U == nil || (*token.U**token.Q < *token.P) != token.Verdict.Committed() {
				t.Fatalf("round %d: %+v", r.Index, token)
			}
		}
	}
	if tested < 10 {
		t.Errorf("only %d tokens were tested", tested)
	}
}

// vLLM sends few log-probabilities by default. Settings that would need more are left to the server's own draws,
// from the first round on.
func TestVLLMWithItsUsualLimit(t *testing.T) {
	for topK, known := range map[string]bool{"12": true, "20": false} {
		imitated := pairServer(t)
		imitated.VLLM, imitated.MostRow, imitated.Rand = true, 20, rand.New(rand.NewPCG(1, 2))
		listener := httptest.NewServer(imitated)
		defer listener.Close()
		there := opened(t, "remote", listener.URL, "top-k", topK, "temperature", "1", "max-tokens", "12", "gamma-rule", "fixed")
		_, rounds := ended(t, there, "Tell me a story.")
		if token := rounds[0].Draft[0]; (token.P != nil) != known {
			t.Errorf("top-k %s: the first draft token is %+v; want its p known: %t", topK, token, known)
		}
	}
}

// If a server computes the whole context in each round, the user is told once in a session, with a remedy.
func TestAServerThatForgetsIsToldOfOnce(t *testing.T) {
	for forgets, want := range map[bool]int{true: 1, false: 0} {
		imitated := pairServer(t)
		imitated.Forgets = forgets
		listener := httptest.NewServer(imitated)
		defer listener.Close()
		there := opened(t, "remote", listener.URL, "temperature", "0", "max-tokens", "60", "gamma-rule", "fixed", "gamma", "2")
		told, rounds := 0, 0
		for range 3 {
			for e := range there.Reply(t.Context(), "What is speculative decoding? Tell me how a draft model and a target model write a text together.") {
				switch e := e.(type) {
				case event.Round:
					rounds++
				case event.Failed:
					t.Fatal(e.Error)
				case event.Notice:
					if told++; !strings.Contains(e.Text, "-np 3 or more") {
						t.Errorf("told %q", e.Text)
					}
				}
			}
		}
		if told != want {
			t.Errorf("a server that forgets (%v): told %d times in %d rounds, want %d", forgets, told, rounds, want)
		}
	}
}

// A server with another vocabulary is refused before the conversation is sent.
func TestAnotherVocabularyIsRefused(t *testing.T) {
	imitated := pairServer(t)
	tokenize := imitated.Tokenize
	imitated.Tokenize = func(text string, special bool) []int32 { return append(tokenize(text, special), 5) }
	listener := httptest.NewServer(imitated)
	defer listener.Close()
	c := config.Default()
	c.Remote.URL, c.Device.Device = listener.URL, "cpu"
	_, err := (&App{Now: time.Now}).silently(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "--vocabulary") {
		t.Errorf("a server with another vocabulary: error %v, want one that names --vocabulary", err)
	}
}

// The key comes from the environment or a file, and no message contains it.
func TestKeysComeFromOutside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("sk-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &App{Getenv: func(name string) string { return map[string]string{"SPECULA_KEY": "sk-2"}[name] }}
	for from, want := range map[string]string{"SPECULA_KEY": "sk-2", "@" + file: "sk-1", "OTHER": "", "": ""} {
		if got, err := a.key(from); got != want || err != nil {
			t.Errorf("%q: the key %q, %v, want %q", from, got, err, want)
		}
	}
	if _, err := a.key("@/absent"); err == nil {
		t.Error("a key file that is absent gave no error")
	}
	c := config.Default()
	if err := c.Set("remote.key", "sk-abcdef"); err == nil || strings.Contains(err.Error(), "abcdef") {
		t.Errorf("a key in place of its name: error %v, want one without the key", err)
	}
}

// Trace, --json and saved chats are written from events. No event has the key or the value of a header, even
// if the server repeats both in an error.
func TestNoEventHasASecret(t *testing.T) {
	const key, header = "sk-very-secret-1234", "gate-secret-5678"
	file := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(file, []byte("X-Gate: "+header+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	imitated, revoked := pairServer(t), false
	imitated.Key = key
	imitated.Trouble = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Gate") != header {
			t.Error("a request came without the header")
		}
		if revoked {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"Invalid API Key %s at gate %s"}}`, key, header)
		}
		return revoked
	}
	listener := httptest.NewServer(imitated)
	defer listener.Close()
	c := config.Default()
	if err := c.SetAll(config.Value{Name: "remote", Text: listener.URL}, config.Value{Name: "remote.key", Text: "SPECULA_KEY"},
		config.Value{Name: "remote.headers", Text: file}, config.Value{Name: "device", Text: "cpu"}, config.Value{Name: "max-tokens", Text: "8"}); err != nil {
		t.Fatal(err)
	}
	var written strings.Builder
	w := trace.NewWriter(&written, time.Now)
	record := func(e event.Event) {
		if err := w.Write(e); err != nil {
			t.Error(err)
		}
	}
	a := &App{Now: time.Now, Getenv: func(string) string { return key }}
	conversation, err := a.Open(t.Context(), c, record)
	if err != nil {
		t.Fatal(err)
	}
	defer conversation.Close()
	for _, revoked = range []bool{false, true} {
		for e := range conversation.Reply(t.Context(), "Tell me a story.") {
			record(e)
		}
	}
	text := written.String()
	if !strings.Contains(text, "Invalid API Key [key] at gate [header]") || !strings.Contains(text, `"kind":"round"`) {
		t.Errorf("the events lack a reply, or its failure: %s", text)
	}
	if strings.Contains(text, key) || strings.Contains(text, header) {
		t.Errorf("an event has a secret: %s", text)
	}
}

// While a server loads its model, opening says so and waits. The error about an unreachable server names it once.
func TestOpeningTellsWhatItWaitsFor(t *testing.T) {
	pair, refusals := pairServer(t), 3
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusals--; refusals >= 0 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"error":{"message":"Loading model"}}`)
			return
		}
		pair.ServeHTTP(w, r)
	}))
	c := config.Default()
	c.Device.Device, c.Remote.URL = "cpu", listener.URL
	a := &App{Now: time.Now, Getenv: func(string) string { return "" }}
	var told []string
	open := func() (*Conversation, error) {
		return a.Open(t.Context(), c, func(e event.Event) {
			if e, ok := e.(event.Notice); ok {
				told = append(told, e.Text)
			}
		})
	}
	conversation, err := open()
	if err != nil {
		t.Fatal(err)
	}
	_ = conversation.Close()
	if len(told) != 1 || !strings.HasPrefix(told[0], "the server is not ready (it says: Loading model): asking again") {
		t.Errorf("it tells %q", told)
	}
	listener.Close()
	if _, err := open(); err == nil || strings.Count(err.Error(), listener.URL) != 1 {
		t.Errorf("a closed server: %v", err)
	}
}
