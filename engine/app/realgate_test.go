package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/event"
	"specula/engine/oracle"
	"specula/engine/proof"
	"specula/engine/remote"
	"specula/engine/sample"
	"specula/engine/spec"
	"specula/engine/weights"
)

// listener is a proxy that keeps the first prompt of the last request for scores.
type listener struct {
	*httputil.ReverseProxy
	prompt []int32
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var q struct {
		Prompt [][]int32 `json:"prompt"`
	}
	if json.Unmarshal(body, &q) == nil && len(q.Prompt) > 0 {
		l.prompt = q.Prompt[0]
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	l.ReverseProxy.ServeHTTP(w, r)
}

// Whole replies over a real llama-server have the distribution that its own rows say, which are asked for
// afterwards. SPECULA_GATE_TOKENS is how many tokens are written at each temperature.
func TestSampledRepliesOverARealServer(t *testing.T) {
	path := realServer(t)
	real := startReal(t, path, "-np", "5")
	most := 300
	if n, err := strconv.Atoi(os.Getenv("SPECULA_GATE_TOKENS")); err == nil {
		most = n
	}
	to, err := url.Parse(real)
	if err != nil {
		t.Fatal(err)
	}
	file, err := weights.Parse("target", assets.Target())
	if err != nil {
		t.Fatal(err)
	}
	tokens := pairTokens(t, file)
	heard := &listener{ReverseProxy: httputil.NewSingleHostReverseProxy(to)}
	proxy := httptest.NewServer(heard)
	defer proxy.Close()
	server, err := remote.Connect(t.Context(), remote.Options{URL: real, Limit: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, temperature := range []string{"1.5", "0.7", "1"} {
		t.Run(temperature, func(t *testing.T) {
			there := opened(t, "remote", proxy.URL, "remote.timeout", "3600", "top-k", "20", "temperature", temperature, "max-tokens", "8", "gamma-rule", "fixed", "gamma", "3", "proposer", "draft")
			judge := proof.NewJudge(tokens.StopTokens(), tokens.Decode, 1)
			beside := server.NewTarget(there.Ready().Target.VocabSize)
			for written, replies := 0, 0; written < most; replies++ {
				if err := there.Change("sampling.seed", strconv.Itoa(1+replies)); err != nil {
					t.Fatal(err)
				}
				reply := &proof.Reply{Most: 8}
				prompt := 0
				for e := range there.Reply(t.Context(), "I have two dogs and I love to hike.") {
					switch e := e.(type) {
					case event.ReplyStarted:
						prompt = e.PromptTokens
					case event.Failed:
						t.Fatal(e.Error)
					case event.Round:
						reply.Rounds = append(reply.Rounds, e)
					case event.ReplyEnded:
						reply.Ended = e
					}
				}
				p := there.Settings().Sampling
				places := rowsOf(t, beside, heard.prompt[:prompt], reply.Ended.IDs, sample.Params{Temperature: p.Temperature, TopK: 20, TopP: 1})
				reply.Places = proof.Given(places)
				if err := judge.Add(reply); err != nil {
					t.Fatal(err)
				}
				written += len(reply.Ended.IDs)
			}
			t.Log(judge)
			if fault := judge.Fault(1e-3); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// rowsOf asks a server for the distributions at the tokens of a reply, a few at a time.
func rowsOf(t *testing.T, target *remote.Target, prompt, reply []int32, p sample.Params) (places []proof.Place) {
	t.Helper()
	const together = 4
	all := slices.Concat(prompt, reply)
	row := make([]float32, 0)
	for at := len(prompt); at < len(all); at += together {
		draft := spec.CertainDraft(all[at:min(at+together-1, len(all)-1)])
		target.Hold(all[:at-1])
		pass, err := target.Score(t.Context(), all[at-1], &draft, &spec.Terms{Params: p})
		if err != nil {
			t.Fatal(err)
		}
		for i := range pass.Scores.Rows() {
			row = slices.Grow(row[:0], pass.Scores.Vocab())[:pass.Scores.Vocab()]
			if err := pass.Scores.Row(i, row); err != nil {
				t.Fatal(err)
			}
			places = append(places, proof.Place{P: oracle.Distribution(row, p)})
		}
	}
	return places
}
