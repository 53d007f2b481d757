package state

import (
	"specula/engine/event"
	"specula/ui/sanitize"
)

// Round is what the inspector and the lane show of a round, without its tokens. Its texts are safe.
type Round struct {
	Index                                int // within the reply, from 0
	Path, PathWhy                        string
	Gamma                                int // the chosen γ
	Drafted                              int // number of draft tokens, at most Gamma
	GammaRule, GammaWhy, GammaOff        string
	GammaOverruled                       bool
	Hindsight                            bool // BestFixedGamma and Regret are known
	BestFixedGamma                       int
	Regret                               float64
	Probe                                bool
	Proposer, ProposerWhy                string
	DraftWhy, DraftStop                  string
	Rule                                 string
	Guidance                             float64 // the scale of classifier-free guidance; 0 when it is off
	Lossy                                bool
	Rules                                []event.RuleOutcome // how many tokens each rule would have accepted
	Constraint                           string              // what the form of the reply (a JSON schema, a grammar …) allows after this round; "" without a form
	Accepted, Tested                     int
	Committed                            int
	Temperature                          float64
	DraftTemperature                     float64 // 0: the draft was not sampled
	DraftMS, VerifyMS, SampleMS, OtherMS float64
	BytesMoved, InspectBytes             int64
	Syncs                                int
	TargetLen, DraftLen                  int
	ExpectedTokens                       float64
	Server                               *event.ServerRound // set for a round of a server's own speculation
	Marks                                []Mark             // settings that changed just before this round
}

func newRound(e *event.Round) Round {
	r := Round{
		Index: e.Index, Path: sanitize.Line(e.Path), PathWhy: sanitize.Line(e.PathWhy),
		Gamma: e.Gamma, Drafted: len(e.Draft), GammaRule: sanitize.Line(e.GammaRule), GammaWhy: sanitize.Line(e.GammaWhy),
		GammaOff: sanitize.Line(e.GammaOff), GammaOverruled: e.GammaOverruled,
		Probe: e.Probe, Proposer: sanitize.Line(e.Proposer), ProposerWhy: sanitize.Line(e.ProposerWhy),
		DraftWhy: sanitize.Line(e.DraftWhy), DraftStop: sanitize.Line(e.DraftStop),
		Guidance: e.GuidanceScale,
		Rule:     sanitize.Line(e.Rule), Lossy: e.Lossy, Rules: safeRules(e.Rules), Constraint: sanitize.Line(e.Constraint),
		Accepted: e.Accepted, Tested: e.Tested, Committed: e.CommittedCount(), Temperature: e.Temperature, DraftTemperature: e.DraftTemperature,
		DraftMS: e.DraftMS, VerifyMS: e.VerifyMS, SampleMS: e.SampleMS, OtherMS: e.OtherMS,
		BytesMoved: e.BytesMoved, InspectBytes: e.InspectBytes, Syncs: e.Syncs,
		TargetLen: e.TargetLen, DraftLen: e.DraftLen, ExpectedTokens: e.ExpectedTokens, Server: e.Server,
	}
	if e.BestFixedGamma != nil && e.Regret != nil {
		r.Hindsight, r.BestFixedGamma, r.Regret = true, *e.BestFixedGamma, *e.Regret
	}
	return r
}

func safeRules(rules []event.RuleOutcome) []event.RuleOutcome {
	var safe []event.RuleOutcome
	for _, r := range rules[:min(len(rules), ruleLimit)] {
		safe = append(safe, event.RuleOutcome{Rule: sanitize.Line(r.Rule), Accepted: r.Accepted, Lossy: r.Lossy})
	}
	return safe
}
