package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"specula/engine/event"
)

const (
	mostPrompts = 12 // prompts that every proposer answers, at most
	replyTokens = 48 // largest number of tokens of such a reply
)

// Accepted says how many draft tokens of a proposer were accepted, and what they cost.
type Accepted struct {
	Proposer string  `json:"proposer"`
	Drafted  int     `json:"drafted"`
	Tested   int     `json:"tested"`
	Kept     int     `json:"kept"`
	StepMS   float64 `json:"stepMS"` // time of drafting one token
	RestMS   float64 `json:"restMS"` // time of a round without its draft and its pass
	// ByPosition is the fraction of tested draft tokens that were accepted, by position in the draft. A
	// position with fewer than 8 tests gets the fraction of all positions together.
	ByPosition []float64 `json:"byPosition"`
	// TokensPerMS is the expected number of tokens per millisecond for each γ from 0 on.
	TokensPerMS []float64 `json:"tokensPerMS"`
}

// proposers returns the proposers that can be chosen.
func (x *examination) proposers() []string {
	var list []string
	for _, p := range x.Ready.Proposers {
		if p.Refused == "" {
			list = append(list, p.Name)
		}
	}
	if x.Ready.Proposers == nil {
		if x.Ready.Draft != nil {
			list = append(list, "draft")
		}
		list = append(list, "ngram")
	}
	return list
}

// acceptance lets every proposer write replies at the session's temperature, and counts what is
// accepted. It also lets each write at temperature 0, and compares the tokens with those of a plain
// reply: they must be the same.
func (x *examination) acceptance(ctx context.Context) error {
	list := x.proposers()
	sums := make([]event.Totals, len(list))
	compared, differ := 0, ""
	for i, prompt := range x.Prompts[:min(mostPrompts, len(x.Prompts))] {
		if i > 0 && x.left() < 0.1 {
			break
		}
		plain, err := x.reply(ctx, prompt, "0", "speculation.enabled", "false")
		if err != nil {
			return err
		}
		for j, name := range list {
			greedy, err := x.reply(ctx, prompt, "0", "speculation.proposer", name)
			if err != nil {
				return err
			}
			compared++
			if differ == "" && !slices.Equal(greedy.IDs, plain.IDs) {
				differ = fmt.Sprintf("with proposer %s another text is written for %.60q: %.60q in place of %.60q", name, prompt, greedy.Text, plain.Text)
			}
			sampled, err := x.reply(ctx, prompt, strconv.FormatFloat(x.Temperature, 'g', -1, 64), "speculation.proposer", name)
			if err != nil {
				return err
			}
			sum(&sums[j], &sampled.Totals)
		}
	}
	if differ != "" {
		x.add("greedy text", Fail, "do not trust speculation here: --speculate=false, and report it with the output of specula doctor --json", "%s", differ)
	} else {
		x.add("greedy text", OK, "", "the same with and without speculation in %d replies", compared)
	}
	for j, name := range list {
		x.report.Accepted = append(x.report.Accepted, x.worth(name, &sums[j]))
	}
	return nil
}

func (x *examination) reply(ctx context.Context, prompt, temperature string, settings ...string) (event.ReplyEnded, error) {
	all := []string{
		"sampling.temperature", temperature, "sampling.seed", "1", "sampling.max_tokens", strconv.Itoa(replyTokens),
		"speculation.enabled", "true", "speculation.gamma_rule", "fixed", "speculation.gamma", strconv.Itoa(x.GammaMax),
		"speculation.gamma_max", strconv.Itoa(x.GammaMax),
	}
	r, err := x.Reply(ctx, prompt, append(all, settings...)...)
	if err != nil {
		return r, fmt.Errorf("answering %.60q: %w", prompt, err)
	}
	return r, nil
}

func sum(s, t *event.Totals) {
	s.Tokens += t.Tokens
	s.Rounds += t.Rounds
	s.Drafted += t.Drafted
	s.Tested += t.Tested
	s.Accepted += t.Accepted
	s.DraftMS += t.DraftMS
	s.SampleMS += t.SampleMS
	s.OtherMS += t.OtherMS
	for i := range t.PositionTested {
		if i == len(s.PositionTested) {
			s.PositionTested, s.PositionKept = append(s.PositionTested, 0), append(s.PositionKept, 0)
		}
		s.PositionTested[i] += t.PositionTested[i]
		s.PositionKept[i] += t.PositionKept[i]
	}
}

// worth estimates how many tokens each γ would write per millisecond. If aᵢ is the fraction accepted at
// position i, a round with a draft gives 1 + a₁ + a₁a₂ + … tokens. A round takes the time of a target pass
// over γ+1 rows, of γ draft steps, and RestMS.
func (x *examination) worth(name string, t *event.Totals) Accepted {
	const enough = 8
	a := Accepted{Proposer: name, Drafted: t.Drafted, Tested: t.Tested, Kept: t.Accepted}
	if t.Drafted > 0 {
		a.StepMS = t.DraftMS / float64(t.Drafted)
	}
	if t.Rounds > 0 {
		a.RestMS = (t.SampleMS + t.OtherMS) / float64(t.Rounds)
	}
	mean := 0.0
	if t.Tested > 0 {
		mean = float64(t.Accepted) / float64(t.Tested)
	}
	tokens, reach, verify := 1.0, 1.0, 0.0
	for gamma, measured := range x.report.VerifyMS {
		// More rows never cost less. So if a longer pass was measured to take less time, this was
		// noise.
		verify = max(verify, measured)
		if gamma > 0 {
			share := mean
			if i := gamma - 1; i < len(t.PositionTested) && t.PositionTested[i] >= enough {
				share = float64(t.PositionKept[i]) / float64(t.PositionTested[i])
			}
			a.ByPosition = append(a.ByPosition, share)
			// A round in which nothing was drafted gains nothing.
			reach *= share
			tokens += reach * x.hit(t)
		}
		a.TokensPerMS = append(a.TokensPerMS, tokens/(verify+float64(gamma)*a.StepMS+a.RestMS))
	}
	return a
}

// hit is the fraction of rounds that had a draft, that is, in which the first draft token was tested.
func (x *examination) hit(t *event.Totals) float64 {
	if t.Rounds == 0 || len(t.PositionTested) == 0 {
		return 0
	}
	return min(1, float64(t.PositionTested[0])/float64(t.Rounds))
}

// worthwhile is the least speed-up over plain decoding for which a proposer is recommended. Costs are
// measured in a few seconds, so a few percent may be chance.
const worthwhile = 1.05

// recommend tells each proposer's acceptance. It names the proposer and γ of the largest expected speed-up
// over the same proposer's γ 0, and none if no speed-up is worthwhile.
func (x *examination) recommend() {
	speedup, gamma, proposer := 1.0, 0, "none"
	for _, a := range x.report.Accepted {
		status, share := OK, 0.0
		if a.Tested > 0 {
			share = 100 * float64(a.Kept) / float64(a.Tested)
		}
		if a.Tested == 0 {
			x.add("acceptance, "+a.Proposer, status, "", "nothing was drafted")
		} else {
			x.add("acceptance, "+a.Proposer, status, "", "%.0f %% at temperature %g (%d of %d tested)", share, x.Temperature, a.Kept, a.Tested)
		}
		for g, rate := range a.TokensPerMS {
			if gain := rate / a.TokensPerMS[0]; gain > speedup && gain >= worthwhile {
				speedup, gamma, proposer = gain, g, a.Proposer
			}
		}
	}
	x.report.Recommended = Recommended{Proposer: proposer, Gamma: gamma, Speedup: speedup}
	if gamma == 0 {
		x.add("recommended", Warn, "leave --gamma-rule at cost-aware, which drafts when it pays, or take a smaller or better draft",
			"no speculation: at no γ do these drafts pay at temperature %g", x.Temperature)
		return
	}
	x.add("recommended", OK, "", "--proposer %s --gamma %d: %.2f × plain is expected from these costs; cost-aware finds γ by itself",
		proposer, gamma, speedup)
}
