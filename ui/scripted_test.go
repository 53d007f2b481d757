package ui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
)

// patience is how long a test waits for the screen. Only a failing test waits that long.
const patience = 30 * time.Second

// scripted is an engine without models. The same prompt and settings give the same events, with the
// same times.
type scripted struct {
	rounds  int // of a reply
	panicAt int // round in which it panics; 0 for never
	failsAt int // the round before which a reply fails; 0: none

	refuses string        // prompts that contain this are refused as too long
	hangAt  int           // round in which it hangs; 0 for never
	hang    chan struct{} // until this is closed

	mu      sync.Mutex
	config  config.Config
	pending []event.SettingChanged
	replies int
	asked   [][]engine.Message // Messages of each request to Generate
	drafts  []string           // Drafts of each request to Generate
	closed  bool
}

func newScripted(c config.Config, rounds int) *scripted {
	return &scripted{config: c, rounds: rounds}
}

// story is the text of every reply, one token per word.
var story = strings.SplitAfter("Speculative decoding lets a small model guess a few tokens ahead. The large model then checks all of them in one pass, "+
	"keeps the ones it agrees with and replaces the first it does not. The text is exactly what the large model would have written alone, only sooner.\n", " ")

func (s *scripted) ready() event.Ready {
	draft := event.Model{Name: "demo-draft", Path: "embedded", Architecture: "qwen3", WeightType: "Q8_0", Parameters: 1_000_000, Layers: 2, VocabSize: 4096}
	return event.Ready{
		Version: "test", Device: "cpu, 2 threads", DeviceWhy: "no GPU", Template: "chatml", LoadMS: 12,
		Target:    event.Model{Name: "demo-target", Path: "embedded", Architecture: "qwen3", WeightType: "Q8_0", Parameters: 6_000_000, Layers: 8, VocabSize: 4096, ContextLength: 2048},
		Draft:     &draft,
		Proposers: []event.Proposer{{Name: "draft", Words: "from the draft model"}, {Name: "ngram"}, {Name: "suffix"}, {Name: "eagle", Refused: "no heads"}},
		Auto:      &event.Auto{Proposer: "draft", Why: "there is a draft model"},
	}
}

func (s *scripted) Settings() config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config.Clone()
}

func (s *scripted) Change(name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	values, _, err := config.Imply([]config.Value{{Name: name, Text: value}})
	if err != nil {
		return err
	}
	before := s.config.Clone()
	if err := s.config.SetAll(values...); err != nil {
		return err
	}
	for _, v := range values {
		from, err := before.Get(v.Name)
		to, errTo := s.config.Get(v.Name)
		if err := errors.Join(err, errTo); err != nil {
			return err
		}
		if from != to {
			s.pending = append(s.pending, event.SettingChanged{Name: v.Name, From: from, To: to})
		}
	}
	return nil
}

func (s *scripted) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// apply returns the settings of the next round and what changed since the last.
func (s *scripted) apply(round int) (config.Config, []event.SettingChanged) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.pending
	s.pending = nil
	for i := range changed {
		changed[i].Round = round
	}
	return s.config.Clone(), changed
}

func (s *scripted) Generate(ctx context.Context, request engine.Request) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		s.mu.Lock()
		s.replies++
		number := s.replies
		s.asked = append(s.asked, request.Messages)
		if request.Drafts != "" {
			s.drafts = append(s.drafts, request.Drafts)
		}
		s.mu.Unlock()
		r := scriptedReply{engine: s, yield: yield, totals: event.Totals{PrefillMS: 3}}
		r.run(ctx, number, request.Messages[len(request.Messages)-1].Content)
	}
}

type scriptedReply struct {
	engine *scripted
	yield  func(event.Event) bool
	text   strings.Builder
	next   int // word of the story
	totals event.Totals
}

func (r *scriptedReply) run(ctx context.Context, number int, prompt string) {
	c := r.engine.Settings()
	settings := event.Settings{
		Temperature: c.Sampling.Temperature, TopP: 1, Seed: 7, Gamma: c.Speculation.Gamma, GammaMax: c.Speculation.GammaMax,
		GammaRule: c.Speculation.Rule, Proposer: c.Speculation.Proposer, Speculate: c.Speculation.Enabled, Acceptance: c.Speculation.Acceptance, MaxTokens: 512,
	}
	recipe := c
	recipe.Sampling.Seed = settings.Seed
	if !r.yield(event.ReplyStarted{Reply: number, Prompt: prompt, PromptTokens: 20, ReusedTokens: 8, ContextTokens: 2048, Settings: settings, Config: recipe.Recipe()}) ||
		!r.yield(event.Prefill{Model: "target", Done: 20, Total: 20, MS: 3}) {
		return
	}
	if e := r.engine; e.refuses != "" && strings.Contains(prompt, e.refuses) {
		_ = r.yield(event.Failed{Error: "the prompt has 9,000 tokens; the context holds 2,048"}) &&
			r.yield(event.ReplyEnded{Reply: number, Reason: "error"})
		return
	}
	reason := "stop"
	for i := range r.engine.rounds {
		if ctx.Err() != nil {
			reason = "cancelled"
			break
		}
		if r.engine.failsAt > 0 && i == r.engine.failsAt {
			reason = "error"
			if !r.yield(event.Failed{Error: "no answer from the server: the connection was refused; is the server running, and is the address right?"}) {
				return
			}
			break
		}
		if !r.round(i) {
			return
		}
	}
	r.yield(event.ReplyEnded{Reply: number, Reason: reason, Text: r.text.String(), Totals: r.totals, Drafts: "4x12"})
}

func (r *scriptedReply) word() string {
	w := story[r.next%len(story)]
	r.next++
	return w
}

func (r *scriptedReply) round(i int) bool {
	c, changed := r.engine.apply(i)
	for _, e := range changed {
		if !r.yield(e) {
			return false
		}
	}
	if r.engine.panicAt > 0 && i == r.engine.panicAt {
		panic("the scripted engine was told to panic")
	}
	if r.engine.hangAt > 0 && i == r.engine.hangAt {
		<-r.engine.hang
	}
	gamma := c.Speculation.Gamma
	probe := c.Speculation.Enabled && i%8 == 7
	if !c.Speculation.Enabled || probe {
		gamma = 0
	}
	e := event.Round{
		Index: i, Path: "stochastic", PathWhy: "sampling, no penalties", Gamma: gamma, Probe: probe, GammaRule: c.Speculation.Rule,
		GammaWhy: "as scripted", Proposer: strings.Replace(c.Speculation.Proposer, "auto", "draft", 1), Temperature: c.Sampling.Temperature,
		DraftMS: 0.5 * float64(gamma), VerifyMS: 3 + 0.2*float64(gamma), SampleMS: 0.1, OtherMS: 0.05,
		BytesMoved: int64(8*gamma + 4), Syncs: 1, Speedup: 1.4 + 0.05*float64(i%6),
	}
	if gamma == 0 {
		e.Proposer = "none"
	}
	r.fill(&e, gamma)
	e.TargetLen = 20 + r.totals.Tokens
	if gamma > 0 && !r.yield(event.Drafted{Round: i, Gamma: gamma, Proposer: e.Proposer, Tokens: undecided(e.Draft), DraftMS: e.DraftMS}) {
		return false
	}
	return r.yield(e)
}

// fill drafts gamma tokens and accepts as many as the script says.
func (r *scriptedReply) fill(e *event.Round, gamma int) {
	keep := min([]int{3, 1, 4, 2, 0, 4, 5}[e.Index%7], gamma)
	for k := range gamma {
		switch {
		case k < keep:
			e.Draft = append(e.Draft, r.token(r.word(), event.Accepted, 0.9, 0.8, 0.3))
		case k == keep:
			e.Draft = append(e.Draft, r.token(fmt.Sprintf("wrong%d ", k), event.Rejected, 0.05, 0.6, 0.7))
		default:
			later := r.token("later ", event.Discarded, 0.1, 0.5, 0)
			later.P, later.U = nil, nil // never tested
			e.Draft = append(e.Draft, later)
		}
	}
	verdict := event.Resampled
	switch {
	case gamma == 0:
		verdict = event.Plain
	case keep == gamma:
		verdict = event.Bonus
	}
	last := r.token(r.word(), verdict, 0.7, 0, 0)
	last.Q, last.U = nil, nil
	e.Commit, e.Accepted, e.Tested = &last, keep, min(keep+1, gamma)
	for _, t := range e.Committed() {
		r.text.WriteString(t.Text)
		r.totals.Tokens++
	}
	r.totals.Rounds++
	r.totals.Tested += e.Tested
	r.totals.Accepted += e.Accepted
}

func (r *scriptedReply) token(text string, v event.Verdict, p, q, u float64) event.Token {
	return event.Token{
		ID: int32(100 + r.next), Raw: []byte(text), Text: text, Verdict: v, P: &p, Q: &q, U: &u,
		Target: []event.Candidate{{ID: 1, Text: text, P: p}, {ID: 2, Text: "other ", P: 0.04}},
		Draft:  []event.Candidate{{ID: 1, Text: text, P: q}, {ID: 3, Text: "guess ", P: 0.1}},
	}
}

func undecided(tokens []event.Token) []event.Token {
	out := make([]event.Token, len(tokens))
	for i, t := range tokens {
		t.Verdict, t.P, t.U, t.Target = "", nil, nil, nil
		out[i] = t
	}
	return out
}
