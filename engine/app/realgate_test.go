package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
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
	prompt atomic.Pointer[[]int32]
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
		l.prompt.Store(&q.Prompt[0])
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	l.ReverseProxy.ServeHTTP(w, r)
}

const (
	realPrompt = "I have two dogs and I love to hike."
	realGamma  = 3
	realLength = 8 // tokens of a reply
	// together is how many conversations write at the same time: the server computes their rounds in one
	// batch, which is much faster than one after another.
	together = 4
)

// Whole replies over a real llama-server have the distribution that its own rows say, which are asked for
// afterwards. SPECULA_GATE_TOKENS is how many tokens are written at each temperature: 3400 make 10 000 in all.
func TestSampledRepliesOverARealServer(t *testing.T) {
	path := realServer(t)
	slots := together*(realGamma+1) + 1
	real := startReal(t, path, "-np", strconv.Itoa(slots), "-c", strconv.Itoa(slots*256))
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
	heard.Transport = &http.Transport{DisableKeepAlives: true} // the server closes a connection after a stream without saying so
	proxy := httptest.NewServer(heard)
	defer proxy.Close()
	for _, temperature := range []string{"1.5", "0.7", "1"} {
		t.Run(temperature, func(t *testing.T) {
			var writers [together]*Conversation
			for i := range writers {
				writers[i] = opened(t, "remote", proxy.URL, "remote.timeout", "3600", "top-k", "20", "temperature", temperature, "max-tokens", strconv.Itoa(realLength),
					"gamma-rule", "fixed", "gamma", strconv.Itoa(realGamma), "proposer", "draft", "threads", "1")
			}
			first := writers[0]
			replies, prompt, err := writeTogether(t.Context(), writers[:], most)
			if err != nil {
				t.Fatal(err)
			}
			server, err := remote.Connect(t.Context(), remote.Options{URL: real, Limit: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			server.AskSingly() // the last token of a reply has no draft, and the rows of a stream are short
			at := &beside{target: server.NewTarget(first.Ready().Target.VocabSize), prompt: (*heard.prompt.Load())[:prompt],
				params: sample.Params{Temperature: first.Settings().Sampling.Temperature, TopK: 20, TopP: 1}, known: map[string]proof.Place{}}
			judge := proof.NewJudge(tokens.StopTokens(), tokens.Decode, 1)
			apart := 0.0
			for _, r := range replies {
				places, err := at.places(t.Context(), r.Ended.IDs)
				if err != nil {
					t.Fatal(err)
				}
				r.Places = proof.Given(places)
				apart = max(apart, farthest(r, places))
				if err := judge.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%v; p of tested draft tokens is at most %.1e from the p of the same place asked for again", judge, apart)
			if fault := judge.Fault(1e-3); fault != "" {
				t.Error(fault)
			}
		})
	}
}

// writeTogether lets the conversations write replies at the same time, each with a seed of its own, until most
// tokens are written. It returns the replies in the order of their seeds, and the length of the prompt.
func writeTogether(ctx context.Context, writers []*Conversation, most int) (replies []*proof.Reply, prompt int, err error) {
	var lock sync.Mutex
	seed, written, done := 0, 0, map[int]*proof.Reply{}
	next := func() (int, bool) {
		lock.Lock()
		defer lock.Unlock()
		seed++
		return seed, written < most && err == nil
	}
	var all sync.WaitGroup
	for _, c := range writers {
		all.Go(func() {
			for {
				seed, more := next()
				if !more {
					return
				}
				r, length, failed := writeSeeded(ctx, c, seed)
				lock.Lock()
				done[seed], prompt, err = r, length, errors.Join(err, failed)
				written += len(r.Ended.IDs)
				lock.Unlock()
			}
		})
	}
	all.Wait()
	for _, seed := range slices.Sorted(maps.Keys(done)) {
		replies = append(replies, done[seed])
	}
	return replies, prompt, err
}

// writeSeeded writes one reply.
func writeSeeded(ctx context.Context, c *Conversation, seed int) (r *proof.Reply, prompt int, err error) {
	r = &proof.Reply{Most: realLength}
	if err := c.Change("sampling.seed", strconv.Itoa(seed)); err != nil {
		return r, 0, err
	}
	for e := range c.Reply(ctx, realPrompt) {
		switch e := e.(type) {
		case event.ReplyStarted:
			prompt = e.PromptTokens
		case event.Failed:
			err = errors.New(e.Error)
		case event.Round:
			r.Rounds = append(r.Rounds, e)
		case event.ReplyEnded:
			r.Ended = e
		}
	}
	return r, prompt, err
}

// farthest is the greatest difference between p of a tested draft token, as the round told it, and p of the same
// place in places.
func farthest(r *proof.Reply, places []proof.Place) (most float64) {
	at := 0
	for _, round := range r.Rounds {
		for i, token := range round.Draft[:round.Tested] {
			if at+i < len(places) && token.P != nil {
				most = max(most, math.Abs(*token.P-places[at+i].P[token.ID]))
			}
		}
		at += len(round.Committed())
	}
	return most
}

// beside asks a server for the distributions at the tokens of replies, for itself and for each prefix once.
type beside struct {
	target *remote.Target
	prompt []int32
	params sample.Params
	known  map[string]proof.Place // by the tokens of the reply before the place
	row    []float32
}

// places returns the distributions at the tokens of a reply.
func (b *beside) places(ctx context.Context, reply []int32) ([]proof.Place, error) {
	list := make([]proof.Place, len(reply))
	for at := 0; at < len(reply); {
		key := fmt.Sprint(reply[:at])
		if place, ok := b.known[key]; ok {
			list[at] = place
			at++
			continue
		}
		if err := b.ask(ctx, reply, at); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ask asks for the distributions at token from of a reply, and at a few more.
func (b *beside) ask(ctx context.Context, reply []int32, from int) error {
	all, first := slices.Concat(b.prompt, reply), len(b.prompt)+from
	draft := spec.CertainDraft(all[first:min(first+realGamma, len(all)-1)])
	b.target.Hold(all[:first-1])
	pass, err := b.target.Score(ctx, all[first-1], &draft, &spec.Terms{Params: b.params})
	if err != nil {
		return err
	}
	b.row = slices.Grow(b.row[:0], pass.Scores.Vocab())[:pass.Scores.Vocab()]
	for i := range pass.Scores.Rows() {
		if err := pass.Scores.Row(i, b.row); err != nil {
			return err
		}
		b.known[fmt.Sprint(reply[:from+i])] = proof.Place{P: oracle.Distribution(b.row, b.params)}
	}
	return nil
}
