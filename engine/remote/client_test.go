package remote

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/engine/remote/imitation"
	"specula/engine/sample"
	"specula/engine/spec"
)

const secret = "sk-very-secret-1234"

// small is a server with a few tokens. The likeliest next token is the last token plus one.
func small() *imitation.Server {
	return &imitation.Server{Model: "small", Context: 40, Slots: 4, Key: secret,
		Scores: func(ids []int32) []float32 {
			scores := make([]float32, 10)
			if len(ids) > 0 {
				scores[(ids[len(ids)-1]+1)%10] = 5
			}
			return scores
		},
		Tokenize: func(text string, _ bool) []int32 { return []int32{int32(len(text) % 10)} }}
}

func ask(t *testing.T, o Options, h http.Handler) (*Server, error) {
	t.Helper()
	o.URL, o.Limit, o.transport = "http://server/v1/", time.Hour, direct{h}
	return Connect(t.Context(), o)
}

func mustAsk(t *testing.T, imitated *imitation.Server) *Target {
	t.Helper()
	s, err := ask(t, Options{Key: secret}, imitated)
	if err != nil {
		t.Fatal(err)
	}
	return s.NewTarget(10)
}

func score(target *Target, last int32, p sample.Params, draft ...int32) ([]int32, error) {
	d := spec.CertainDraft(draft)
	pass, err := target.Score(context.Background(), last, &d, &spec.Terms{Params: p})
	if err != nil {
		return nil, err
	}
	if drawn, ok := pass.Scores.(spec.Drawer); ok {
		return drawn.Draws(), nil
	}
	best := make([]int32, len(draft)+1)
	return best, pass.Argmax(best)
}

func TestKindsAreToldByTheirAnswers(t *testing.T) {
	for owner, want := range map[string]Kind{"llamacpp": Llama, "vllm": VLLM, "sglang": SGLang, "library": Ollama, "organization_owner": LMStudio, "me": Other} {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/v1/models":
				fmt.Fprintf(w, `{"data":[{"id":"m","owned_by":%q}]}`, owner)
			case "/props":
				fmt.Fprint(w, `{"default_generation_settings":{"n_ctx":77},"total_slots":3}`)
			default:
				w.WriteHeader(http.StatusNotImplemented)
			}
		})
		s, err := ask(t, Options{}, h)
		if err != nil || s.kind != want {
			t.Errorf("owned by %s: server %v, error %v, want the kind %v", owner, s, err, want)
		}
		if err == nil && !s.Watches() && s.Agree(t.Context(), nil) == nil {
			t.Errorf("owned by %s: the server takes no ids, but Agree gave no error", owner)
		}
		if err == nil && want != Llama && want != VLLM {
			if _, err := score(s.NewTarget(10), 1, sample.Params{TopP: 1}, 2); err == nil {
				t.Errorf("owned by %s: the server cannot score drafts, but Score gave no error", owner)
			}
		}
		if err == nil && want == Llama && (s.context != 77 || s.slots != 3) {
			t.Errorf("llama-server: context %d, %d slots", s.context, s.slots)
		}
	}
}

// At temperature 0 the server's best tokens decide, in whatever order its answers arrive.
func TestScoreIsTheRowAfterEachDraftToken(t *testing.T) {
	for _, vllm := range []bool{false, true} {
		imitated := small()
		imitated.VLLM = vllm
		target := mustAsk(t, imitated)
		if err := target.Prefill(t.Context(), []int32{1, 2, 3}, nil); err != nil {
			t.Fatal(err)
		}
		got, err := score(target, 4, sample.Params{TopP: 1}, 5, 7, 8)
		if err != nil || !slices.Equal(got, []int32{5, 6, 8, 9}) {
			t.Errorf("vLLM %v: best tokens %v, %v", vllm, got, err)
		}
		if target.Len() != 7 {
			t.Errorf("holds %d tokens, want 7", target.Len())
		}
	}
}

// Rounds without a draft come from one stream, however it is cut into pieces; a draft ends the stream.
func TestPlainRoundsComeFromOneStream(t *testing.T) {
	for piece := range 40 {
		imitated := small()
		imitated.Piece = piece
		target := mustAsk(t, imitated)
		last := int32(3)
		for range 5 {
			got, err := score(target, last, sample.Params{TopP: 1})
			if err != nil || len(got) != 1 || got[0] != (last+1)%10 {
				t.Fatalf("pieces of %d: after %d came %v, %v", piece, last, got, err)
			}
			last = got[0]
		}
		if imitated.Streams != 1 {
			t.Errorf("pieces of %d: %d streams", piece, imitated.Streams)
		}
		if got, err := score(target, last, sample.Params{TopP: 1}, 9); err != nil || !slices.Equal(got, []int32{9, 0}) {
			t.Errorf("after a stream: %v, %v", got, err)
		}
	}
}

// In a stream, llama-server sends the text of a character's tokens, but only the last id.
func TestTokensInsideCharactersAreRecovered(t *testing.T) {
	arrow := map[int32]string{5: "\xE2", 6: "\x86", 7: "\x91", 8: "x", 9: "\xE2\x86", 0: "\x93", 1: "z", 2: "a", 3: "b", 4: "c"}
	imitated := small()
	imitated.Bytes = func(id int32) []byte { return []byte(arrow[id]) }
	target := mustAsk(t, imitated)
	target.server.spelling = spelling{bytes: imitated.Bytes, parts: map[string][]int32{"\xE2": {5}, "\x86": {6}, "\x91": {7}, "\xE2\x86": {9}}}
	last := int32(3)
	for range 6 {
		got, err := score(target, last, sample.Params{TopP: 1})
		if err != nil || got[0] != (last+1)%10 {
			t.Fatalf("after %d came %v, %v", last, got, err)
		}
		last = got[0]
	}
	if imitated.Streams != 1 {
		t.Errorf("%d streams", imitated.Streams)
	}
}

// llama-server sends no log-probabilities for a token that ends inside a character, so the client makes it draw a
// token of whole characters.
func TestTokensInsideCharactersHaveRows(t *testing.T) {
	imitated := small()
	imitated.Bytes = func(id int32) []byte {
		if id == 0 {
			return []byte("a")
		}
		return []byte{0xE2}
	}
	if got, err := score(mustAsk(t, imitated), 4, sample.Params{TopP: 1}, 5); err != nil || !slices.Equal(got, []int32{5, 6}) {
		t.Errorf("best tokens %v, %v", got, err)
	}
}

// A server may refuse long rows (vLLM allows 20 log-probabilities by default). Then shorter ones are asked for.
func TestShorterRowsWhereTheServerRefusesLongOnes(t *testing.T) {
	imitated := small()
	imitated.VLLM, imitated.MostRow = true, 3
	target := mustAsk(t, imitated)
	if got, err := score(target, 4, sample.Params{TopP: 1}, 5); err != nil || !slices.Equal(got, []int32{5, 6}) {
		t.Errorf("best tokens %v, %v", got, err)
	}
	if target.server.mostRow > 3 {
		t.Errorf("still asks for %d", target.server.mostRow)
	}
}

// A server that spells its tokens as the vocabulary here does, and then not any more, has another model, or
// the bytes changed on the way.
func TestTokensKeepTheirSpelling(t *testing.T) {
	imitated := small()
	letters := "abcdefghij"
	imitated.Bytes = func(id int32) []byte { return []byte(letters[id : id+1]) }
	target := mustAsk(t, imitated)
	mine := spelling{bytes: func(id int32) []byte { return []byte("abcdefghij"[id : id+1]) }, control: func(id int32) bool { return id == 9 }}
	target.server.spelling = mine
	if err := target.server.compareSpelling(t.Context()); err != nil || !target.server.spelling.same {
		t.Fatalf("the spelling is the same: %v", err)
	}
	if _, err := score(target, 4, sample.Params{TopP: 1}, 5); err != nil {
		t.Error(err)
	}
	letters = "abcdeFghij"
	if _, err := score(target, 4, sample.Params{TopP: 1}, 5); err == nil || !strings.Contains(err.Error(), "spells token 5") {
		t.Errorf("another spelling in a row: %v", err)
	}
	if err := target.server.spelling.checkText(5, "F"); err == nil {
		t.Error("another spelling in a stream gave no error")
	}
	if target.server.spelling.checkText(5, "f") != nil || target.server.spelling.checkText(9, "<end>") != nil {
		t.Error("the same spelling, or a control token, was refused")
	}
	target.server.spelling = mine
	if err := target.server.compareSpelling(t.Context()); err != nil || target.server.spelling.same {
		t.Errorf("a server that never spelt alike: error %v, compared from now on: %t; want neither", err, target.server.spelling.same)
	}
}

func TestAddressesAreCompletedOrRefused(t *testing.T) {
	for text, want := range map[string]string{"host:80": "http://host:80", "http://h/v1": "http://h", "https://h/llm/v1/": "https://h/llm"} {
		if got, err := address(text); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"http://me:" + secret + "@h", "ftp://h", "http://", "https://h/?key=" + secret, "ftp://h/#" + secret, "http://h:" + secret} {
		if _, err := address(text); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: error %v, want one without the key", text, err)
		}
	}
}

// Settings that no row of a large vocabulary decides are left to the server's draws, or refused.
func TestWaysFollowTheSettings(t *testing.T) {
	s := &Server{kind: Llama, mostRow: mostRow, firstRow: firstRow}
	const large = 150_000
	for _, c := range []struct {
		p     sample.Params
		vocab int
		drawn bool
		row   int
	}{
		{sample.Params{TopP: 1}, large, false, shownRow},
		{sample.Params{Temperature: 0.7, TopK: 20, TopP: 0.9}, large, false, 20 + shownRow},
		{sample.Params{Temperature: 0.7, TopP: 1}, large, true, shownRow},
		{sample.Params{Temperature: 0.7, TopP: 0.9}, large, true, shownRow},
		{sample.Params{Temperature: 0.7, TopP: 0.9}, 4096, false, firstRow},
		{sample.Params{Temperature: 0.7, TopP: 1}, 4096, true, shownRow},
	} {
		w, err := s.plan(&spec.Terms{Params: c.p}, c.vocab)
		if err != nil || w.drawn != c.drawn || w.row != c.row || w.why == "" {
			t.Errorf("%+v, %d tokens: %+v, %v; want drawn by the server: %t, rows of %d, with a reason", c.p, c.vocab, w, err, c.drawn, c.row)
		}
	}
	if _, err := s.plan(&spec.Terms{Params: sample.Params{Temperature: 0.7, TopP: 1}, Rule: spec.TypicalLossy}, large); err == nil {
		t.Error("a lossy rule was accepted, though it has no probabilities to go by")
	}
	vllm := &Server{kind: VLLM, mostRow: 20}
	if _, err := vllm.plan(&spec.Terms{Params: sample.Params{Temperature: 0.7, TopP: 0.9, MinP: 0.1}}, large); err == nil {
		t.Error("top-p with min-p was accepted over vLLM, which has another order of filters")
	}
}
