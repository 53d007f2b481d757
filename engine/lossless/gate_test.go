package lossless_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/oracle"
	"specula/engine/proof"
	"specula/engine/sample"
	"specula/engine/shape"
	"specula/tokenizer"
	"specula/tokenizer/chat"
)

var (
	firstSeed = flag.Uint64("first-seed", 1, "seed of the first run of the gate")
	seeds     = flag.Int("seeds", 1, "number of runs of the gate, each with its own seed")
	// All bugs of planted.txt show with fewer tokens.
	perPlay = flag.Int("tokens", 30_000, "number of tokens that each play writes")
)

// play is a way to write replies over tables.
type play struct {
	name     string
	settings []string // names and values in turn
	// changes are settings that are changed after the round with this index, in each reply.
	changes    map[int][]string
	form       []string // all texts that the settings permit; nil: any
	device     bool     // the device samples and judges by itself
	unsure     bool     // the draft is less sure than the target, as small models are; so it is sharpened
	damaged    bool     // the draft's scores after some tokens are not finite
	repetitive bool     // the message repeats itself, so that there is something to look up in the context
	tokens     int      // number of tokens to write; 0: the default
}

// list formats a setting that is a list of texts.
func list(texts ...string) string { return strings.ReplaceAll(fmt.Sprintf("%q", texts), `" "`, `", "`) }

func plays() []play {
	fixed := func(more ...string) []string {
		return append([]string{"temperature", "1", "gamma-rule", "fixed", "gamma", "4"}, more...)
	}
	shaped := func(more ...string) []string {
		return fixed(append([]string{"repeat-penalty", "1.6", "frequency-penalty", "0.4", "presence-penalty", "0.8", "penalty-last", "6",
			"logit-bias", list("a=1", "g=-1"), "ban", list("h"), "min-tokens", "4"}, more...)...)
	}
	forms := []string{"a", "ab", "abc", "abcd", "cd", "cda", "cdab", "hhhh", "gfedc"}
	return []play{
		{name: "token", settings: fixed()},
		{name: "block", settings: fixed("acceptance", "block")},
		{name: "exact", settings: fixed("acceptance", "exact")},
		{name: "by confidence", settings: []string{"temperature", "0.8"}, unsure: true},
		{name: "by confidence, block", settings: []string{"temperature", "0.8", "acceptance", "block", "top-p", "0.95"}, unsure: true},
		{name: "filters", settings: fixed("temperature", "1.4", "top-k", "7", "top-p", "0.9", "min-p", "0.05")},
		{name: "temperature last", settings: fixed("temperature", "1.4", "top-p", "0.9", "temperature-last", "true", "gamma-rule", "windowed")},
		{name: "short replies", settings: fixed("gamma", "8", "max-tokens", "4")},
		{name: "shaped", settings: shaped()},
		{name: "shaped, block", settings: shaped("acceptance", "block")},
		{name: "shaped, exact", settings: shaped("acceptance", "exact")},
		{name: "shaped, by confidence", settings: shaped("gamma-rule", "cost-aware", "temperature", "0.8"), unsure: true},
		{name: "form and bad words", settings: fixed("choice", list(forms...), "bad-word", list("dab")), form: forms},
		{name: "forced text", settings: []string{"temperature", "1", "choice", list(forms...), "proposer", "suffix"}, form: forms},
		{name: "repetitions and allowed tokens", settings: fixed("dry-multiplier", "0.8", "allow", list("a", "b", "c", "ab", "abc", "cd"), "logprobs", "2",
			"stop", list("cdcd"))},
		{name: "n-grams", settings: fixed("proposer", "ngram", "temperature", "0.6"), repetitive: true},
		{name: "suffixes, shaped", settings: shaped("proposer", "suffix", "suffix-trust", "0"), repetitive: true},
		{name: "trimmed suffixes", settings: []string{"temperature", "0.7", "proposer", "suffix"}, repetitive: true},
		{name: "combined", settings: fixed("proposer", "combined", "temperature", "0.7", "suffix-trust", "0.3"), repetitive: true},
		{name: "a cascade", settings: fixed("proposer", "ngram,suffix,draft", "temperature", "0.7", "suffix-trust", "0.3"), repetitive: true},
		{name: "settings that change", settings: fixed(), changes: map[int][]string{
			0: {"temperature", "0.7", "gamma", "2", "repeat-penalty", "1.6", "presence-penalty", "1"}, 1: {"temperature", "1.3", "proposer", "suffix", "acceptance", "block"},
			3: {"repeat-penalty", "1", "presence-penalty", "0", "top-k", "5", "proposer", "draft", "gamma", "5"}, 4: {"speculate", "false"}, 5: {"speculate", "true", "top-k", "0"}}},
		{name: "a damaged draft", settings: fixed(), damaged: true},
		{name: "on the device", settings: fixed(), device: true},
		{name: "on the device, by cost", settings: []string{"temperature", "0.7", "top-p", "0.95"}, device: true, unsure: true},
		{name: "on the device, a damaged draft", settings: fixed("gamma", "3"), device: true, damaged: true},
		{name: "on the device, n-grams", settings: fixed("proposer", "ngram", "temperature", "0.6"), device: true, repetitive: true},
		{name: "on the device, exact", settings: fixed("acceptance", "exact"), device: true},
		{name: "on the device, exact, a damaged draft", settings: fixed("acceptance", "exact", "gamma", "3"), device: true, damaged: true, tokens: 6000},
		{name: "on the device, exact, drafts of the host", settings: fixed("acceptance", "exact", "logit-bias", list("a=1", "g=-1")), device: true, tokens: 6000},
		{name: "on the device, form and bad words", settings: fixed("choice", list(forms...), "bad-word", list("dab"), "proposer", "ngram", "logprobs", "1"), form: forms,
			device: true, repetitive: true},
		{name: "on the device, forced text", settings: []string{"temperature", "1", "choice", list(forms...), "min-tokens", "3", "proposer", "suffix"}, form: forms,
			device: true},
		{name: "on the device, form", settings: []string{"temperature", "0.9", "choice", list(forms...), "min-tokens", "3"}, form: forms, device: true, unsure: true},
		{name: "on the device, form, block", settings: fixed("acceptance", "block", "choice", list(forms...), "min-tokens", "3"), form: forms, device: true},
		{name: "greedy on the device, form", settings: fixed("temperature", "0", "choice", list(forms...)), form: forms, device: true, unsure: true, tokens: 2000},
		{name: "on the device, allowed tokens", settings: shaped("allow", list("a", "b", "c", "ab", "abc", "cd"), "penalty-last", "-1", "proposer", "ngram"),
			device: true, repetitive: true},
		{name: "on the device, block", settings: fixed("acceptance", "block"), device: true},
		{name: "on the device, block, a damaged draft", settings: fixed("acceptance", "block", "gamma", "3"), device: true, damaged: true, tokens: 6000},
		{name: "on the device, block, n-grams", settings: fixed("acceptance", "block", "proposer", "ngram", "temperature", "0.6"), device: true,
			repetitive: true, tokens: 6000},
		{name: "on the device, guided", settings: fixed("guidance", "2", "negative", "ab", "logprobs", "2"), device: true, tokens: 6000},
		{name: "greedy", settings: fixed("temperature", "0", "max-tokens", "12"), tokens: 2000},
		{name: "greedy and shaped, n-grams", settings: shaped("temperature", "0", "proposer", "ngram", "max-tokens", "24"), tokens: 2000},
		{name: "greedy on the device", settings: fixed("temperature", "0", "max-tokens", "12", "logprobs", "3"), unsure: true, device: true, tokens: 2000},
	}
}

// stage is an engine over tables, with the content of the tables.
type stage struct {
	play
	session       *engine.Session
	target, draft table
	words         *shape.Vocabulary
	tokens        *tokenizer.Tokenizer
	config        config.Config
	seed          int64
}

// open makes a stage. It is different for each seed.
func (p play) open(t *testing.T, seed uint64) *stage {
	t.Helper()
	s := &stage{play: p, seed: int64(seed) << 32, config: config.Default()}
	s.target, s.draft = tables(seed, 1, 1, 0.07)
	if p.unsure {
		s.target, s.draft = tables(seed, 0.4, 0.25, 0.07)
	}
	if p.damaged {
		for _, id := range tokensOf("b", "e", "g", "ab") {
			s.draft[id] = slices.Repeat([]float32{float32(math.Inf(1))}, len(vocabulary.Tokens))
		}
	}
	var err error
	if s.tokens, err = tokenizer.New(vocabulary); err != nil {
		t.Fatal(err)
	}
	s.words = shape.NewVocabulary(s.tokens)
	o := engine.Options{Config: config.Default(), NewSeed: func() int64 { s.seed++; return s.seed },
		Target: engine.Source{Name: "target", Embedded: s.target.file()}, Draft: engine.Source{Name: "draft", Embedded: s.draft.file()}}
	plain := &timed{Backend: host.New(1)}
	t.Cleanup(func() { _ = plain.Backend.Close() })
	o.Backend, o.Now = plain, func() time.Time { return plain.now }
	if p.device {
		d := &device{timed{Backend: plain.Backend}}
		o.Backend, o.Now = d, func() time.Time { return d.now }
	}
	e, err := engine.Load(t.Context(), o, func(event.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	if s.session, err = e.NewSession(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.session.Close() })
	s.change(t, p.settings)
	return s
}

func (s *stage) change(t *testing.T, settings []string) {
	t.Helper()
	for pair := range slices.Chunk(settings, 2) {
		if err := s.session.Change(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
}

// plain returns plain sampling under the settings in force.
func (s *stage) plain() *oracle.Sampling {
	c := s.config.Sampling
	p := &oracle.Sampling{Settings: shape.Of(s.config), Texts: s.words.Texts(), Stops: []int32{end}, Named: s.words.Named, Encode: s.tokens.Encode,
		Params: sample.Params{Temperature: c.Temperature, TopK: c.TopK, TopP: c.TopP, MinP: c.MinP, TemperatureLast: c.TemperatureLast}}
	if s.form != nil {
		p.Form = p.Among(s.form)
	}
	return p
}

// write lets the session write a reply, and computes its places from the tables.
func (s *stage) write(t *testing.T, message string) *proof.Reply {
	t.Helper()
	messages := []chat.Message{{Role: "user", Content: message}}
	prompt := s.tokens.Encode(message)
	out := &proof.Reply{Form: s.form != nil}
	var ids []int32
	var places []proof.Place
	var lookedUp event.Drafted // the looked-up draft of this round
	for ev := range s.session.Generate(t.Context(), engine.Request{Messages: messages, Inspect: s.seed%2 == 0}) {
		switch ev := ev.(type) {
		case event.SettingChanged:
			if err := s.config.Set(ev.Name, ev.To); err != nil {
				t.Fatal(err)
			}
		case event.ReplyStarted:
			if ev.PromptTokens != len(prompt) {
				t.Fatalf("the prompt has %d tokens, want %d", ev.PromptTokens, len(prompt))
			}
		case event.Drafted:
			lookedUp = ev
		case event.Round:
			out.Rounds = append(out.Rounds, ev)
			plain := s.plain()
			for i, token := range ev.Committed() {
				before := slices.Concat(prompt, ids)
				last := before[len(before)-1]
				raw := s.target.after(last)
				if token.LogProb != nil {
					checkLogProbs(t, token, oracle.Distribution(raw, sample.Params{Temperature: 1, TopP: 1}))
				}
				place := proof.Place{P: plain.Distribution(raw, prompt, ids)}
				if q := s.draft.after(last); !math.IsInf(float64(q[0]), 1) {
					place.Q = oracle.Distribution(q, sample.Params{Temperature: 1, TopP: 1})
				}
				if certain := proof.Certain(&lookedUp, &ev, i, len(place.P)); certain != nil {
					place.Q = certain
				}
				places, ids = append(places, place), append(ids, token.ID)
			}
			s.change(t, s.changes[ev.Index])
		case event.Failed:
			t.Fatalf("%s: %s", s.name, ev.Error)
		case event.ReplyEnded:
			out.Ended = ev
		}
	}
	out.Most, out.Places = s.config.Sampling.MaxTokens, proof.Given(places)
	return out
}

// checkLogProbs compares the log-probabilities of a token with p, the softmax of the raw scores.
func checkLogProbs(t *testing.T, token event.Token, p []float64) {
	t.Helper()
	off := math.Abs(math.Exp(*token.LogProb) - p[token.ID])
	for _, c := range token.LogProbs {
		off = max(off, math.Abs(math.Exp(c.P)-p[c.ID]))
	}
	if off > 1e-5 || len(token.LogProbs) == 0 || token.LogProbs[0].ID != int32(slices.Index(p, slices.Max(p))) {
		t.Fatalf("token %d has the log-probability %v and beside it %v; the scores give %v", token.ID, *token.LogProb, token.LogProbs, p)
	}
}

// looks are the parts of a play's tokens after which it is judged: after a tenth, a third, and all. Most planted
// bugs show at the first look.
var looks = []int{10, 3, 1}

// judge writes the replies of a play until a fault is found or all are written. It returns their Judge, and the
// fault. level is the probability of a fault in correct code; each look has its share of it.
func (p play) judge(t *testing.T, seed uint64, level float64) (j *proof.Judge, fault string) {
	t.Helper()
	s := p.open(t, seed)
	j = proof.NewJudge([]int32{end}, s.tokens.Decode, seed)
	rng := rand.New(rand.NewPCG(seed, 12))
	enough := *perPlay
	if p.tokens > 0 {
		enough = min(enough, p.tokens)
	}
	written := 0
	for _, part := range looks {
		for written < enough/part {
			reply := s.write(t, p.begin(t, s, rng))
			if err := j.Add(reply); err != nil {
				t.Fatal(err)
			}
			written += max(1, len(reply.Ended.IDs))
		}
		if fault = j.Fault(level / float64(len(looks))); fault != "" {
			break
		}
	}
	return j, fault
}

// begin brings the settings of a play back, and returns the message to reply to.
func (p play) begin(t *testing.T, s *stage, rng *rand.Rand) string {
	t.Helper()
	message, random := "abcd", 3
	if p.repetitive {
		message, random = "abcabcabc", 12
	}
	for range random {
		message += letters[rng.IntN(len(letters)/2)]
	}
	if p.changes != nil {
		s.change(t, p.settings)
		for _, name := range slices.Sorted(maps.Keys(defaults)) {
			if !slices.Contains(p.settings, name) {
				s.change(t, []string{name, defaults[name]})
			}
		}
	}
	return message
}

// defaults are the values to which changed settings return.
var defaults = map[string]string{"repeat-penalty": "1", "presence-penalty": "0", "top-k": "0", "proposer": "draft", "acceptance": "token", "speculate": "true"}

// The loop that chats use writes whole replies over tables, in the ways that plays lists. Each token must
// have the distribution that the table gives it. With correct code, all plays together fail once in 10,000
// runs, see package proof.
func TestGate(t *testing.T) {
	list := plays()
	level := proof.FalseAlarms / float64(len(list))
	for seed := range uint64(*seeds) {
		for _, p := range list {
			t.Run(fmt.Sprint(p.name, "/", *firstSeed+seed), func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				j, fault := p.judge(t, *firstSeed+seed, level)
				if fault != "" {
					t.Error(fault)
				}
				t.Log(p.name, time.Since(began), j)
			})
		}
	}
}
