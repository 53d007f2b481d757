package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"specula/engine/remote/chaos"
	"specula/engine/remote/imitation"
	"specula/engine/round"
	"specula/engine/sample"
	"specula/engine/spec"
	"specula/tokenizer"
)

// Whole conversations over a bad network and with servers that fail. What is kept must always be the
// beginning of the target's own text, which is known at temperature 0.

const (
	chaosRuns   = 20 // of each kind of fault
	chaosLimit  = 30 * time.Second
	chaosLength = 24 // tokens of a reply
	chaosErrors = 4  // after so many errors a conversation still goes on
	// A step is one round, or one connecting. It has at most chaosRequests requests, each with the limit
	// chaosLimit.
	chaosRequests = 20
)

// attempt is one conversation: with whom, and what came of it.
type attempt struct {
	rng      *rand.Rand
	tokens   *tokenizer.Tokenizer
	scores   func(ids []int32) []float32
	options  Options
	now      func() time.Time // of the client's stopwatch
	watching bool             // shows the rounds of a server that speculates by itself

	target  *Target
	ready   bool // the server has read the prompt and what was kept
	watch   *Watch
	driver  *round.Driver
	kept    []int32
	errs    []error
	slowest time.Duration // of its steps
}

func (a *attempt) prompt() []int32 { return a.tokens.EncodeNext("a prompt") }

// truth is the target's own token after some.
func (a *attempt) truth(ids []int32) int32 {
	scores := a.scores(ids)
	return int32(slices.Index(scores, slices.Max(scores)))
}

// converse writes a reply. After an error it goes on with what was kept, as a session does.
func (a *attempt) converse(t *testing.T) {
	for len(a.kept) < chaosLength && len(a.errs) <= chaosErrors {
		began, before := time.Now(), len(a.kept)
		err := a.step(t.Context())
		a.slowest = max(a.slowest, time.Since(began))
		if err != nil {
			a.errs, a.ready = append(a.errs, err), false
			a.endWatch()
		}
		for i := before; i < len(a.kept); i++ {
			if want := a.truth(slices.Concat(a.prompt(), a.kept[:i])); a.kept[i] != want {
				t.Errorf("token %d is %d, the target's own is %d", i, a.kept[i], want)
			}
		}
	}
	a.endWatch()
	if a.target != nil {
		_ = a.target.Close()
		a.target.server.Close()
	}
}

func (a *attempt) endWatch() {
	if a.watch != nil {
		a.watch.Close()
		a.watch = nil
	}
}

func (a *attempt) step(ctx context.Context) error {
	if a.target == nil {
		return a.connect(ctx)
	}
	all := slices.Concat(a.prompt(), a.kept)
	held, last := all[:len(all)-1], all[len(all)-1]
	switch {
	case a.watching:
		return a.watchRound(ctx, held, last)
	case !a.ready:
		if err := a.target.Truncate(0); err != nil {
			return err
		}
		a.ready = true
		return a.target.Prefill(ctx, held, nil)
	}
	in := round.Input{Last: last, Terms: spec.Terms{Params: sample.Params{TopP: 1}, Rule: spec.Token}}
	did := round.Result{Draft: a.draft(all)}
	if err := a.driver.Verify(ctx, &in, &did); err != nil {
		return err
	}
	a.kept = append(a.kept, did.Outcome.Committed()...)
	return a.target.Truncate(len(all) + len(did.Outcome.Committed()) - 1)
}

func (a *attempt) connect(ctx context.Context) error {
	server, err := Connect(ctx, a.options)
	if err != nil {
		return err
	}
	if err := server.Agree(ctx, a.tokens); err != nil {
		server.Close()
		return err
	}
	a.target = server.NewTarget(a.tokens.VocabSize())
	a.driver = &round.Driver{Target: a.target, Verifier: spec.NewVerifier(), Watch: round.NewStopwatch(a.now)}
	return nil
}

// draft drafts up to four tokens, often none. A quarter are drawn at random; the others are the target's own.
func (a *attempt) draft(all []int32) spec.Draft {
	var draft []int32
	for n := a.rng.IntN(7) - 2; n > 0; n-- {
		id := a.truth(slices.Concat(all, draft))
		if a.rng.IntN(4) == 0 {
			id = a.rng.Int32N(128)
		}
		draft = append(draft, id)
	}
	return spec.CertainDraft(draft)
}

func (a *attempt) watchRound(ctx context.Context, held []int32, last int32) (err error) {
	if a.watch == nil {
		a.target.Hold(held)
		// A server sends nothing for the last tokens of a reply that ends inside a character: at most two of an arrow.
		if a.watch, err = a.target.Watch(ctx, last, sample.Params{TopP: 1}, chaosLength+2-len(a.kept)); err != nil {
			return err
		}
	}
	seen, err := a.watch.Next()
	if err != nil {
		return err
	}
	a.kept = append(a.kept, seen.Tokens...)
	if seen.Ended {
		a.endWatch()
		if len(seen.Tokens) == 0 && len(a.kept) < chaosLength { // an error, because errors are limited and steps are not
			return errors.New("a watched reply ended without a token")
		}
	}
	return nil
}

// chaosTokens has the 256 bytes, so that most characters are several tokens, and one control token.
func chaosTokens(t *testing.T) *tokenizer.Tokenizer {
	t.Helper()
	s := tokenizer.Spec{Model: "gpt2", BOS: -1, EOS: -1, EOT: -1, UNK: -1, PAD: -1}
	odd := 0
	for b := range 256 {
		letter := rune(b) // the alphabet of byte-level BPE: printable Latin-1 as itself, the rest from U+0100 on
		if b <= ' ' || b > '~' && b < 0xa1 || b == 0xad {
			letter = rune(0x100 + odd)
			odd++
		}
		s.Tokens, s.Types = append(s.Tokens, string(letter)), append(s.Types, tokenizer.TypeNormal)
	}
	s.Tokens, s.Types = append(s.Tokens, "<end>"), append(s.Types, tokenizer.TypeControl)
	tokens, err := tokenizer.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// chaosScores are the scores after some tokens. The best ones spell letters and arrows of three tokens.
func chaosScores(vocab int) func(ids []int32) []float32 {
	arrow := []int32{0xE2, 0x86, 0x91}
	return func(ids []int32) []float32 {
		scores := make([]float32, vocab)
		last := int32(0)
		if len(ids) > 0 {
			last = ids[len(ids)-1]
		}
		noise := rand.New(rand.NewPCG(uint64(last), uint64(len(ids))))
		for id := range scores[:128] {
			scores[id] = float32(noise.NormFloat64())
		}
		best := int32('a' + noise.IntN(26))
		switch i := slices.Index(arrow, last); {
		case i >= 0 && i < 2:
			best = arrow[i+1]
		case noise.IntN(4) == 0:
			best = arrow[0]
		}
		scores[best] += 6
		return scores
	}
}

// meet lets a conversation meet a fault. bytes are how many bytes the same conversation receives and sends without a
// fault. met says whether the fault happened.
func (f *fault) meet(t *testing.T, seed uint64, bytes [2]int) (a *attempt, network *chaos.Network, met bool) {
	rng, tokens := rand.New(rand.NewPCG(seed, 1)), chaosTokens(t)
	a = &attempt{rng: rng, tokens: tokens, scores: chaosScores(tokens.VocabSize()), now: time.Now, watching: seed%4 == 1}
	imitated := &imitation.Server{Model: "world", Context: 200, Slots: 8, Key: secret, VLLM: seed%4 == 2, Bytes: tokens.Bytes,
		Piece: []int{0, 0, 9, 50}[rng.IntN(4)], Scores: a.scores, Tokenize: func(text string, special bool) []int32 {
			return tokens.EncodeSegments([]tokenizer.Segment{{Text: text, Special: special}})
		}}
	if a.watching {
		imitated.Speculates = [][2]int{{4, 2}, {4, 0}, {3, 3}, {4, 1}}
	}
	other := rand.New(rand.NewPCG(seed, 2)) // so that the conversation is the same with each fault
	var harm chaos.Harm
	if f.harm != nil {
		harm = f.harm(other)
		harm.After = other.IntN(max(1, bytes[0]))
		if harm.Up {
			harm.After = other.IntN(max(1, bytes[1]))
		}
	}
	network = chaos.New(harm, other)
	if f.trouble != nil {
		trouble, n := f.trouble(other), 0
		imitated.Trouble = func(w http.ResponseWriter, r *http.Request) bool {
			n++
			answer, done := trouble(n, imitated)
			met = met || done
			if answer != nil {
				answer(w, r)
			}
			return answer != nil
		}
	}
	server := &http.Server{Handler: imitated, ErrorLog: log.New(io.Discard, "", 0)}
	a.options = Options{URL: "http://server", Key: secret, Limit: chaosLimit, dial: network.Dial}
	if f.tls {
		file, config := authority(t)
		a.options.URL, a.options.CA, server.TLSConfig = "https://server", file, config
		go func() { _ = server.ServeTLS(network, "", "") }()
	} else {
		go func() { _ = server.Serve(network) }()
	}
	defer func() { _ = server.Close() }()
	if f.clock != nil {
		a.now, met = f.clock(other), true
	}
	a.converse(t)
	return a, network, met || network.Done()
}

// Each kind of fault comes in twenty conversations. Each step ends within the limit of its requests, nothing panics,
// no error tells the key, and no token is kept that the target would not write.
func TestConversationsSurviveChaos(t *testing.T) {
	usual := map[uint64][2]int{}
	for seed := range uint64(chaosRuns) {
		synctest.Test(t, func(t *testing.T) {
			a, network, _ := (&fault{}).meet(t, seed, [2]int{})
			if len(a.errs) > 0 || len(a.kept) < chaosLength {
				t.Fatalf("without a fault: %d tokens, %v", len(a.kept), a.errs)
			}
			down, up := network.Passed()
			usual[seed] = [2]int{down, up}
		})
	}
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			happened, failed, whole, words := 0, 0, 0, map[string]int{}
			for seed := range uint64(chaosRuns) {
				synctest.Test(t, func(t *testing.T) {
					a, _, met := f.meet(t, seed, usual[seed])
					if a.slowest > chaosRequests*chaosLimit {
						t.Errorf("run %d: a step took %v", seed, a.slowest)
					}
					for _, err := range a.errs {
						words[strings.TrimSpace(fmt.Sprintf("%.150v", err))]++
						if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
							t.Errorf("run %d: the key is in the error: %v", seed, err)
						}
					}
					if len(a.errs) == 0 && len(a.kept) < chaosLength {
						t.Errorf("run %d: %d tokens, and no error", seed, len(a.kept))
					}
					if t.Failed() {
						t.Fatalf("run %d: met %v, kept %d tokens, errors %v", seed, met, len(a.kept), a.errs)
					}
					happened, failed, whole = happened+count(met), failed+count(len(a.errs) > 0), whole+count(len(a.kept) >= chaosLength)
				})
			}
			if happened < chaosRuns/4 {
				t.Errorf("the fault happened in %d of %d runs, want at least %d", happened, chaosRuns, chaosRuns/4)
			}
			t.Logf("happened in %d of %d, errors in %d, whole reply in %d", happened, chaosRuns, failed, whole)
			for _, text := range slices.SortedFunc(maps.Keys(words), func(a, b string) int { return cmp.Compare(words[b], words[a]) })[:min(3, len(words))] {
				t.Logf("%3d × %s", words[text], text)
			}
		})
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
