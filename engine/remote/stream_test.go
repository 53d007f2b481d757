package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"specula/engine/sample"
	"specula/engine/spec"
)

// noted keeps the questions of all requests, and passes the requests on.
type noted struct {
	to        http.RoundTripper
	questions []llamaQuestion
}

func (n *noted) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var q llamaQuestion
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	n.questions = append(n.questions, q)
	return n.to.RoundTrip(r)
}

// A reply without drafts costs what the server's bare stream costs: one request, which asks for as many
// tokens as the reply may have and for no rows that nobody sees.
func TestAReplyWithoutDraftsIsOneBareStream(t *testing.T) {
	const tokens = 5
	imitated := small()
	imitated.Stops = func(id int32) bool { return id == 0 }
	for name, c := range map[string]struct {
		last      int32
		inspected bool
	}{"ends by its length": {last: 1}, "ends by a stop token": {last: 5}, "inspected": {last: 1, inspected: true}} {
		server, err := ask(t, Options{Key: secret}, imitated)
		if err != nil {
			t.Fatal(err)
		}
		seen := &noted{to: direct{imitated}}
		server.http.Transport = seen
		target := server.NewTarget(10)
		if err := target.Prefill(t.Context(), []int32{1, 2, 3}, nil); err != nil {
			t.Fatal(err)
		}
		last := c.last
		for left := tokens; left > 0 && last != 0; left-- {
			pass, err := target.Score(t.Context(), last, &spec.Draft{}, &spec.Terms{Params: sample.Params{TopP: 1}, Left: left, Inspected: c.inspected, IsStop: imitated.Stops})
			if err != nil {
				t.Fatal(err)
			}
			last = pass.Scores.(spec.Drawer).Draws()[0]
		}
		target.Rest()
		if n := len(seen.questions); n != 1 {
			t.Errorf("%s: %d requests, want 1", name, n)
			continue
		}
		if q := seen.questions[0]; q.Tokens != tokens || (q.Row > 0) != c.inspected {
			t.Errorf("%s: asks for %d tokens and rows of %d", name, q.Tokens, q.Row)
		}
	}
}

// A reply that is cut off leaves a stream in which the server would write on: it must be cancelled, not read.
func TestAStreamThatGoesOnIsCancelled(t *testing.T) {
	imitated := small()
	server, err := ask(t, Options{Key: secret}, imitated)
	if err != nil {
		t.Fatal(err)
	}
	seen := &noted{to: direct{imitated}}
	server.http.Transport = seen
	target := server.NewTarget(10)
	if _, err := target.Score(t.Context(), 1, &spec.Draft{}, &spec.Terms{Params: sample.Params{TopP: 1}, Left: 9}); err != nil {
		t.Fatal(err)
	}
	stream := target.stream
	target.Rest()
	if stream.ctx.Err() == nil {
		t.Error("the stream goes on")
	}
}

// Each sequence of the server has read what was last sent to it. While rounds use fewer sequences, or a stream goes on
// in one, the others fall behind.
func TestWhatSequencesHaveMissed(t *testing.T) {
	var l lag
	long := make([]int32, 100)
	for i := range long {
		long[i] = int32(i)
	}
	read := func(tokens int, ms float64) place { return place{read: tokens, readMS: ms} }
	l.sent([][]int32{long[:50], long[:51], long[:52]}, []place{read(50, 30), read(51, 30), read(52, 30)})
	if l.tokenMS != 30.0/153 {
		t.Errorf("a token takes %g ms", l.tokenMS)
	}
	l.sent([][]int32{long[:53]}, []place{read(1, 9)}) // a stream goes on in the first; one token says nothing about the price
	l.tokenMS = 1
	target := &Target{server: &Server{kind: Llama}, lag: l, held: long}
	if got := target.MissedMS(3); !slices.Equal(got, []float64{100 - 51 - usualLag, 100 - 52 - usualLag, 100 - usualLag}) {
		t.Errorf("missed %v ms", got)
	}
	if target.held = long[:54]; target.MissedMS(1)[0] != 0 {
		t.Error("a sequence that takes part in each round has missed something")
	}
	if target.server.kind = VLLM; target.MissedMS(3) != nil {
		t.Error("vLLM's sequences share a cache")
	}
	l.sent([][]int32{long}, []place{read(100, -1e300)})
	if l.tokenMS != 1 {
		t.Errorf("a false time was believed: %g", l.tokenMS)
	}
}

// A text that several sequences of tokens spell is not guessed, and a long text is not searched.
func TestTokensInsideCharactersAreNotGuessed(t *testing.T) {
	spelt := func(id int32) []byte { return []byte(map[int32]string{7: "\x91", 8: "x"}[id]) }
	two := spelling{bytes: spelt, parts: map[string][]int32{"\xE2": {5, 9}, "\x86": {6}}}
	if ids, err := two.recover("↑", 7, 2); err == nil {
		t.Errorf("two ways fit, and %v was guessed", ids)
	}
	one := spelling{bytes: spelt, parts: map[string][]int32{strings.Repeat("z", mostSpelt+1): {5}}}
	if ids, err := one.recover(strings.Repeat("z", mostSpelt+1)+"x", 8, 1); err == nil {
		t.Errorf("a text without bound was searched, and gave %v", ids)
	}
}

// A stream may end inside a character. llama-server then sends nothing for the last token, but the client still gets
// this token.
func TestAStreamMayEndInsideACharacter(t *testing.T) {
	imitated := small()
	imitated.Bytes = func(id int32) []byte {
		return []byte(map[int32]string{5: "\xE2", 6: "\x86", 7: "\x91"}[id] + map[bool]string{true: "x"}[id < 5 || id > 7])
	}
	for _, temperature := range []float64{0, 1e-4} { // both write the likeliest token
		target := mustAsk(t, imitated)
		target.server.spelling = spelling{bytes: imitated.Bytes, parts: map[string][]int32{"\xE2": {5}, "\x86": {6}, "\x91": {7}}}
		terms := spec.Terms{Params: sample.Params{Temperature: temperature, TopP: 1}, Left: 2}
		pass, err := target.Score(t.Context(), 4, &spec.Draft{}, &terms)
		if err != nil {
			t.Errorf("temperature %g: %v", temperature, err)
			continue
		}
		best := make([]int32, 1)
		if err := pass.Scores.Argmax(best); err != nil || best[0] != 5 && temperature == 0 {
			t.Errorf("temperature %g: token %v, %v", temperature, best, err)
		}
		if drawer, drawn := pass.Scores.(spec.Drawer); temperature > 0 && (!drawn || drawer.Draws()[0] != 5) {
			t.Errorf("temperature %g: not the token that the server drew", temperature)
		}
	}
}

// After rounds with drafts, a round without a draft may come for the last token of a reply. It asks for this token by
// itself: in a stream, a drawn token that ends inside a character could not always be told.
func TestALastTokenByItselfIsAskedFor(t *testing.T) {
	imitated := small()
	imitated.Bytes = func(id int32) []byte { return []byte("\xE2") } // no token can be told by the text
	target := mustAsk(t, imitated)
	target.server.spelling = spelling{bytes: imitated.Bytes, parts: map[string][]int32{"\xE2": {5, 6}}}
	terms := spec.Terms{Params: sample.Params{Temperature: 1e-4, TopP: 1}, Left: 1}
	pass, err := target.Score(t.Context(), 4, &spec.Draft{}, &terms)
	if err != nil {
		t.Fatal(err)
	}
	if got := pass.Scores.(spec.Drawer).Draws()[0]; got != 5 {
		t.Errorf("token %d, want 5, which the server draws", got)
	}
}

// A connection breaks when the server dies. The error says so, not that an answer had a wrong form.
func TestABrokenConnectionIsNamed(t *testing.T) {
	e := newEvents(io.MultiReader(strings.NewReader("data: 1\n"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if data, err := e.next(); string(data) != "1" || err != nil {
		t.Fatalf("%q, %v", data, err)
	}
	if _, err := e.next(); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "connection to the server broke") {
		t.Errorf("error %v", err)
	}
}
