package engine

import (
	"context"
	"fmt"
	"slices"

	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/oracle"
	"specula/engine/proof"
	"specula/engine/shape"
	"specula/engine/spec"
	"specula/tokenizer/chat"
)

// ProofOptions say which combinations VerifyDist tests, and on which prompt.
type ProofOptions struct {
	proof.Options
	Prompt    string
	Proposers []string    // names; nil: all in the register, and the one in force
	Rules     []spec.Rule // nil: every exact rule, and the rule in force
}

// VerifyDist tests whether the replies of this session have the target's distribution under the
// settings in force; see package proof. It restores the settings afterwards. After success the
// session has forgotten the conversation.
func (s *Session) VerifyDist(ctx context.Context, o ProofOptions, progress func(done, total int)) (*proof.Report, error) {
	if s.engine.target == nil {
		return nil, errOnServer
	}
	before := s.Settings()
	c := s.resolve(before)
	p := &prover{session: s, before: before, config: c, request: Request{Messages: []chat.Message{{Role: "user", Content: o.Prompt}}}}
	defer p.close()
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	e := s.engine
	subject := proof.Subject{Contestants: p.contestants(o), Params: params(c), Stops: e.tokens.StopTokens(), Decode: e.tokens.Decode}
	r, err := proof.Run(ctx, subject, o.Options, progress)
	if err != nil {
		return nil, fmt.Errorf("comparing with plain sampling: %w", err)
	}
	r.Settings = changedSettings(c)
	r.Prompt, r.Target = o.Prompt, e.ready.Target.Name
	if e.ready.Draft != nil {
		r.Draft = e.ready.Draft.Name
	}
	return r, s.Reset()
}

// changedSettings names the settings that affect replies and do not have their default value.
func changedSettings(c config.Config) []string {
	var list []string
	for _, s := range config.Settings() {
		says := slices.Contains([]string{"sampling", "penalties", "tokens", "constraint", "guidance", "speculation"}, s.Section())
		own := s.Name == "sampling.seed" || s.Name == "speculation.proposer" || s.Name == "speculation.acceptance" // each contestant sets these three itself
		if value, err := c.Get(s.Name); says && !own && err == nil && value != s.Default {
			list = append(list, s.Name+" = "+value)
		}
	}
	return list
}

// prover writes replies with a session. Then it computes the probabilities of their tokens a second
// time, without speculation.
type prover struct {
	session *Session
	before  config.Config // the session's settings before the proof
	config  config.Config // before, with auto replaced by the proposer that it stands for
	request Request
	plain   oracle.Sampling

	prompt, negative []int32 // tokens of the prompt and of the negative prompt; negative is nil without guidance
	// These readers read the finished reply again: target lets the target read it after the prompt, beside
	// lets the target read it after the negative prompt, and draft lets the draft model read it.
	target, beside, draft reader
}

// open computes what is the same for all replies.
func (p *prover) open(ctx context.Context) (err error) {
	s, c := p.session, p.config
	e := s.engine
	if p.prompt, _, err = e.fit(ctx, p.request.Messages, c, s.target.Cap()); err != nil {
		return err
	}
	words := shape.NewVocabulary(e.tokens)
	p.plain = oracle.Sampling{Params: params(c), Settings: shape.Of(c), Stops: e.tokens.StopTokens(), Texts: words.Texts(), Named: words.Named,
		Encode: e.tokens.Encode}
	read, err := c.Constraint.Read()
	if err != nil {
		return fmt.Errorf("the form of the reply: %w", err)
	}
	form, err := e.newForm(ctx, read)
	if err != nil {
		return fmt.Errorf("the form of the reply: %w", err)
	}
	p.target.model = e.target
	room := s.target.Cap() - len(p.prompt)
	if guided(c) {
		if p.negative, err = s.negativePrompt(ctx, p.request.Messages, c); err != nil {
			return err
		}
		p.beside.model = e.target
		room = min(room, s.target.Cap()-len(p.negative))
	}
	if form != nil {
		form.Bound(ctx, min(c.Sampling.MaxTokens, room))
		p.plain.Form = permitted(form, e.tokens.VocabSize())
	}
	if e.draft != nil && e.lexicon == nil {
		p.draft.model = e.draft
	}
	return nil
}

func (p *prover) close() {
	p.session.seed = nil
	for _, name := range tried() {
		if value, err := p.before.Get(name); err == nil {
			_ = p.session.Change(name, value) // cannot fail: the value was in force before
		}
	}
	for _, r := range []*reader{&p.target, &p.beside, &p.draft} {
		if r.cache != nil {
			_ = r.cache.Close() // its contents are not needed any more
		}
	}
}

// tried are the settings that differ between contestants.
func tried() []string {
	return []string{"speculation.proposer", "speculation.acceptance", "speculation.gamma_rule"}
}

// contestants are all combinations of proposers and rules on trial. The combination in force comes first,
// and has the same weight as all others together.
func (p *prover) contestants(o ProofOptions) []proof.Contestant {
	own := p.config.Speculation
	rules := o.Rules
	if rules == nil {
		for _, rule := range spec.Rules {
			if !rule.Changes || string(rule.Rule) == own.Acceptance {
				rules = append(rules, rule.Rule)
			}
		}
	}
	var first, list []proof.Contestant
	for _, name := range p.onTrial(o.Proposers) {
		d := drafterNamed(name)
		for _, rule := range rules {
			c := proof.Contestant{Proposer: name, Rule: rule, Refused: d.why(p.session.engine), Weight: 1}
			if c.Refused == "" {
				c.Write = func(ctx context.Context, seed uint64) (*proof.Reply, error) { return p.write(ctx, name, rule, seed) }
			}
			if name == own.Proposer && string(rule) == own.Acceptance {
				first = append(first, c)
			} else {
				list = append(list, c)
			}
		}
	}
	if len(first) > 0 && len(list) > 1 {
		first[0].Weight = float64(len(list))
	}
	return append(first, list...)
}

// onTrial returns the names of the proposers on trial, each once. asked are those of ProofOptions. A
// cascade that is written as a list, such as "suffix,draft", is on trial only if it is in force or asked
// for, because the register has no such names.
func (p *prover) onTrial(asked []string) (names []string) {
	if asked == nil {
		for _, d := range drafters() {
			asked = append(asked, d.Name)
		}
		asked = append(asked, auto) // the proposer in force; it is in the list already unless it is a cascade
	}
	for _, name := range asked {
		if name == auto {
			name = p.config.Speculation.Proposer
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// write lets the session write one reply with a proposer and a rule of acceptance. It returns the
// reply, its rounds and the distribution at each token. The combination in force keeps its rule of γ.
// Other combinations use a fixed γ in replies of odd seed, so that drafts are tested even where they
// do not pay.
func (p *prover) write(ctx context.Context, proposer string, rule spec.Rule, seed uint64) (*proof.Reply, error) {
	s, own := p.session, p.config.Speculation
	values := []string{proposer, string(rule), own.Rule}
	if seed%2 == 1 && (proposer != own.Proposer || string(rule) != own.Acceptance) {
		values[2] = string(gamma.Fixed)
	}
	for i, name := range tried() {
		if err := s.Change(name, values[i]); err != nil {
			return nil, err
		}
	}
	s.seed = func() int64 { return int64(seed &^ (1 << 63)) }
	out := &proof.Reply{Most: p.config.Sampling.MaxTokens, Form: p.plain.Form != nil}
	var drafts []event.Drafted // one for each round; a round that emitted no Drafted event repeats the entry before it
	var drafted event.Drafted
	for ev := range s.Generate(ctx, p.request) {
		switch ev := ev.(type) {
		case event.Drafted:
			drafted = ev
		case event.Round:
			out.Rounds, drafts = append(out.Rounds, ev), append(drafts, drafted)
		case event.Failed:
			return nil, fmt.Errorf("writing a reply: %s", ev.Error)
		case event.ReplyEnded:
			out.Ended = ev
		}
	}
	out.Places = p.places(context.WithoutCancel(ctx), out, drafts)
	return out, nil
}

// RulesOnTrial returns the acceptance rule with this name, for ProofOptions; nil if name is empty.
func RulesOnTrial(name string) []spec.Rule {
	if name == "" {
		return nil
	}
	return []spec.Rule{spec.Rule(name)}
}
