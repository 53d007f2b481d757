package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"specula/engine/config"
	"specula/engine/proof"
	"specula/engine/spec"
	"specula/tokenizer/chat"
)

// ProofOptions say what VerifyDist puts on trial.
type ProofOptions struct {
	proof.Options
	Prompt    string
	Proposers []string     // names; nil: all
	Rules     []proof.Rule // nil: every exact one
}

// VerifyDist shows whether replies of this session's settings have the target's distribution; see package proof.
func (s *Session) VerifyDist(ctx context.Context, o ProofOptions, progress func(done, total int)) (*proof.Report, error) {
	c := s.Settings()
	question := chat.Message{Role: "user", Content: o.Prompt}
	tokens, _, err := s.engine.fit(ctx, []chat.Message{question}, c, s.cache.Cap())
	if err != nil {
		return nil, err
	}
	subject := proof.Subject{
		Target: s.engine.target, Prompt: tokens, Params: params(c), IsStop: s.engine.isStop,
		Text: s.engine.tokens.Readable, Rules: o.Rules, Gammas: gammasOnTrial(c),
		Again: func(reply []int32) ([]int32, error) {
			answer := chat.Message{Role: "assistant", Content: s.engine.tokens.Decode(reply)}
			again, _, err := s.engine.fit(ctx, []chat.Message{question, answer, question}, c, s.cache.Cap()-len(reply))
			if err != nil {
				return nil, nil // no room for a second turn: the first one must do
			}
			return again, nil
		},
	}
	subject.Trust = c.Speculation.SuffixTrust
	subject.Typical = spec.Typical{Epsilon: c.Speculation.TypicalEpsilon, Delta: c.Speculation.TypicalDelta}
	if i := slices.Index(o.Proposers, auto); i >= 0 {
		o.Proposers = append(slices.Clone(o.Proposers), s.resolve(c).Speculation.Proposer)
	}
	if subject.Rules == nil {
		subject.Rules = RulesOnTrial("")
	}
	all := &contestants{engine: s.engine, config: c.Speculation, fed: map[string]*fed{}}
	defer all.close()
	for _, p := range all.list() {
		if o.Proposers == nil || slices.Contains(o.Proposers, p.Name) || p.Device != nil && slices.Contains(o.Proposers, "draft") {
			subject.Proposers = append(subject.Proposers, p)
		}
	}
	r, err := proof.Run(ctx, subject, o.Options, progress)
	if err != nil {
		return nil, fmt.Errorf("comparing with plain sampling: %w", err)
	}
	r.LeftOut = leftOut(c)
	r.Prompt, r.Target = o.Prompt, s.engine.ready.Target.Name
	if s.engine.ready.Draft != nil {
		r.Draft = s.engine.ready.Draft.Name
	}
	return r, nil
}

// leftOut names the settings in force that change scores before any rule sees them, and that a proof therefore does without: what is
// compared are the ways to draft and to accept.
func leftOut(c config.Config) []string {
	var list []string
	for _, s := range config.Settings() {
		shapes := slices.Contains([]string{"penalties", "tokens", "constraint", "guidance"}, s.Section()) || s.Name == "sampling.min_tokens"
		if value, err := c.Get(s.Name); shapes && err == nil && value != s.Default {
			list = append(list, s.Name)
		}
	}
	return list
}

// gammasOnTrial are a single draft token, whose bonus is judged too, two, and what is in force.
func gammasOnTrial(c config.Config) []int {
	list := []int{1, 2, max(1, min(c.Speculation.Gamma, c.Speculation.GammaMax))}
	slices.Sort(list)
	return slices.Compact(list)
}

// RulesOnTrial is the acceptance rule of a name, or every exact one when that is empty, for ProofOptions.
func RulesOnTrial(name string) []proof.Rule {
	var list []proof.Rule
	for _, rule := range spec.Rules {
		if string(rule) == name || name == "" && !rule.Lossy() {
			list = append(list, proof.Rule{Name: rule, New: func() proof.Verifier { return spec.NewVerifier() }})
		}
	}
	return list
}

// contestants makes the proposers of a proof.
type contestants struct {
	engine *Engine
	config config.Speculation
	fed    map[string]*fed // heads that were asked for
}

// list are all proposers there are. Each is made as a session makes it, but over models that are passed through wrap. Where replies are
// drawn and decided on a device, that is on trial beside them.
func (c *contestants) list() []proof.Proposer {
	var list []proof.Proposer
	for _, d := range drafters() {
		list = append(list, proof.Proposer{Name: d.name, Refused: d.why(c.engine), Alone: c.engine.heads[d.name] != nil,
			New: func(wrap proof.Wrap) (spec.Proposer, error) { return c.make(d.name, wrap) }})
	}
	if e := c.engine; e.draft != nil && e.lexicon == nil && e.runsAhead() {
		list = append(list, proof.Proposer{Name: "draft on the device",
			New:    func(wrap proof.Wrap) (spec.Proposer, error) { return c.make("draft", wrap) },
			Device: func() (proof.Device, error) { return e.newPassesAhead() }})
	}
	return list
}

func (c *contestants) make(name string, wrap proof.Wrap) (spec.Proposer, error) {
	if f := c.fed[name]; f != nil {
		return f, nil
	}
	s := &Session{engine: c.engine, wrap: wrap, corpus: spec.NewCorpus(), proposers: map[string]spec.Proposer{},
		made: map[string]string{}, failed: map[string]string{}}
	p, refused := s.proposer(name, c.config)
	if refused != "" {
		return nil, errors.New(refused)
	}
	heads, ok := p.(spec.HiddenReader)
	if !ok {
		return p, nil
	}
	f, err := c.engine.newFed(heads)
	if err != nil {
		return nil, err
	}
	c.fed[name] = f
	return f, nil
}

func (c *contestants) close() {
	for _, f := range c.fed {
		_ = f.free() // nothing of it is needed any more
	}
}
