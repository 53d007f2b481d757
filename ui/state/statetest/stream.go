// Package statetest makes engine events for tests of the screen: a realistic scripted chat, the same in
// every run, and random events.
package statetest

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"specula/engine/event"
)

const prompt = "How can a small model make a large one faster without changing what it says?"

const reply = `Speculative decoding lets a small draft model guess the next few tokens. The large model then checks all of them in a single pass, which costs hardly more than one token would.

Each guess is kept with probability min(1, p/q). At the first refusal a token is drawn from what the draft left out, so the text has exactly the distribution of the large model:

1. draft five tokens,
2. verify them together,
3. keep the prefix that passed, and go on.

The longer the accepted prefix, the fewer passes are needed. That is why the draft length adapts while you read.`

var wrongGuesses = []string{" a", " the", " and", " model", ",", " is", " which", " faster", " to", "\n", " of", " tokens"}

// Ready returns the event that says that a pair is loaded.
func Ready() event.Ready {
	return event.Ready{
		Version: "test",
		Target: event.Model{Name: "demo-target", Path: "embedded", Architecture: "qwen3", WeightType: "Q8_0", Parameters: 12_300_000, Layers: 8,
			VocabSize: 4096, ContextLength: 2048},
		Draft: &event.Model{Name: "demo-draft", Path: "embedded", Architecture: "qwen3", WeightType: "Q8_0", Parameters: 1_900_000, Layers: 2,
			VocabSize: 4096, ContextLength: 2048},
		Device: "cpu, 2 threads", DeviceWhy: "no other was asked for", Template: "chatml, from the file's name", LoadMS: 212,
		Proposers: []event.Proposer{{Name: "draft", Words: "from the draft model"}, {Name: "suffix", Words: "from what came most often before"},
			{Name: "skip", Words: "from the target without some layers"}},
	}
}

// Chat returns the events of one scripted reply. With rounds ≥ 0 it is cut off after that many rounds.
func Chat(rounds int) []event.Event {
	w := writer{random: rand.New(rand.NewPCG(7, 11)), words: pieces(reply)}
	w.settings = event.Settings{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, Seed: 42, Gamma: 4, GammaMax: 8,
		GammaRule: "cost-aware", Proposer: "draft", Speculate: true, MaxTokens: 256}
	w.events = []event.Event{
		Ready(),
		event.ReplyStarted{Reply: 1, Prompt: prompt, PromptTokens: 38, ContextTokens: 2048, Settings: w.settings},
		event.Prefill{Model: "target", Done: 38, Total: 38, MS: 61},
		event.Prefill{Model: "draft", Done: 38, Total: 38, MS: 12},
	}
	for len(w.words) > 0 && (rounds < 0 || w.round < rounds) {
		if w.round == 14 {
			w.events = append(w.events, event.SettingChanged{Round: w.round, Name: "temperature", From: "0.8", To: "0.4"})
		}
		w.writeRound()
	}
	if rounds < 0 || len(w.words) == 0 {
		w.events = append(w.events, event.ReplyEnded{Reply: 1, Reason: "stop", Text: reply, IDs: w.ids, Totals: w.totals})
	}
	return w.events
}

// Midway returns the events of Chat(rounds+1) up to its last draft, which waits for its verdict.
func Midway(rounds int) []event.Event {
	events := Chat(rounds + 1)
	for i := len(events) - 1; i >= 0; i-- {
		if _, ok := events[i].(event.Drafted); ok {
			return events[:i+1]
		}
	}
	return events
}

// pieces cuts text into tokens: words with their leading space, punctuation and newlines.
func pieces(text string) []string {
	var out []string
	start := 0
	for i := 1; i < len(text); i++ {
		if strings.IndexByte(" ,.:/(\n", text[i]) >= 0 || text[i-1] == '\n' || text[i-1] == '(' {
			out = append(out, text[start:i])
			start = i
		}
	}
	return append(out, text[start:])
}

type writer struct {
	random   *rand.Rand
	settings event.Settings
	words    []string // still to write
	round    int
	length   int
	ids      []int32
	totals   event.Totals
	events   []event.Event
}

func (w *writer) writeRound() {
	r := event.Round{
		Index: w.round, Path: "stochastic", PathWhy: "sampling, and nothing depends on earlier tokens", GammaRule: w.settings.GammaRule,
		GammaWhy: "3.6 tokens expected in 17.9 ms, more a second than with any other length", Proposer: "draft", Temperature: 0.8, DraftTemperature: 0.24,
		Gamma: min(8, 2+w.round/5+w.random.IntN(3)), Syncs: 1, ExpectedTokens: 3.6,
	}
	if w.round%11 == 10 {
		r.Gamma, r.Probe, r.Proposer, r.GammaWhy = 0, true, "none", "a plain round, to keep the baseline fresh"
	}
	w.draft(&r)
	r.DraftMS, r.VerifyMS = 0.62*float64(len(r.Draft)), 13.6+0.21*float64(len(r.Draft))+w.random.Float64()
	r.SampleMS, r.OtherMS, r.BytesMoved = 0.12, 0.05, int64(8*len(r.Draft)+4)
	if w.round > 10 {
		r.Speedup = 1.6 + 0.3*w.random.Float64()
	}
	if w.round%4 == 3 {
		r.Lengths = lengths(r.Gamma)
	}
	if len(r.Draft) > 0 {
		w.events = append(w.events, pending(&r))
	}
	for _, t := range r.Committed() {
		w.ids = append(w.ids, t.ID)
	}
	w.length += len(r.Committed())
	r.TargetLen, r.DraftLen = 38+w.length, 38+w.length
	w.totals.Add(&r, len(r.Draft) == 0)
	w.events = append(w.events, r)
	w.round++
}

// lengths returns the expected speeds of draft lengths up to 8, if each token is kept with a chance of
// 80 % when all before it are kept. Lengths up to timed are marked as measured.
func lengths(timed int) []event.Length {
	out := make([]event.Length, 9)
	tokens, reach := 1.0, 1.0
	for i := range out {
		out[i] = event.Length{Tokens: tokens, Rounds: 1 + 0.06*float64(i*i)/3, Measured: i <= timed}
		reach *= 0.8
		tokens += reach
	}
	return out
}

// draft fills in the tokens of a round: accepted ones, perhaps a wrong guess and discarded ones after
// it, and the target's own token.
func (w *writer) draft(r *event.Round) {
	for len(r.Draft) < r.Gamma && len(w.words) > 1 {
		if w.random.Float64() < 0.2 {
			r.Draft = append(r.Draft, w.token(wrongGuesses[w.random.IntN(len(wrongGuesses))], event.Rejected))
			r.Tested++
			for len(r.Draft) < r.Gamma {
				r.Draft = append(r.Draft, w.token(wrongGuesses[w.random.IntN(len(wrongGuesses))], event.Discarded))
			}
			break
		}
		r.Draft = append(r.Draft, w.token(w.words[0], event.Accepted))
		w.words = w.words[1:]
		r.Accepted++
		r.Tested++
	}
	fate := event.Bonus
	switch {
	case len(r.Draft) == 0:
		fate = event.Plain
	case r.Tested > r.Accepted:
		fate = event.Resampled
	}
	commit := w.token(w.words[0], fate)
	w.words = w.words[1:]
	r.Commit = &commit
}

func (w *writer) token(text string, fate event.Verdict) event.Token {
	q := 0.2 + 0.7*w.random.Float64()
	p, u := min(1, q*(0.6+w.random.Float64())), 0.5*w.random.Float64() // u·q < p
	if fate == event.Rejected {
		p, u = 0.4*p, 0.7+0.3*w.random.Float64() // u·q ≥ p
	}
	t := event.Token{ID: int32(len(text)*131 + int(text[len(text)-1])), Raw: []byte(text), Text: text, Verdict: fate, P: &p}
	if fate == event.Accepted || fate == event.Rejected || fate == event.Discarded {
		t.Q = &q
	}
	if fate == event.Accepted || fate == event.Rejected {
		t.U = &u
	}
	t.Target, t.Draft = candidates(t.ID, text, p), candidates(t.ID, text, q)
	return t
}

// candidates returns a distribution in which text has the probability p.
func candidates(id int32, text string, p float64) []event.Candidate {
	list := []event.Candidate{{ID: id, Text: text, P: p}}
	left := 1 - p
	for i := range 5 {
		left *= 0.55
		list = append(list, event.Candidate{ID: int32(i), Text: wrongGuesses[(len(text)+5*i)%len(wrongGuesses)], P: left * 0.8})
	}
	slices.SortFunc(list, func(a, b event.Candidate) int { return cmp.Compare(b.P, a.P) })
	return list
}

// pending returns the draft of a round before the verdict.
func pending(r *event.Round) event.Drafted {
	d := event.Drafted{Round: r.Index, Gamma: r.Gamma, Probe: r.Probe, Proposer: r.Proposer, DraftMS: r.DraftMS}
	for _, t := range r.Draft {
		t.Verdict, t.P, t.U, t.Target = "", nil, nil, nil
		d.Tokens = append(d.Tokens, t)
	}
	return d
}
