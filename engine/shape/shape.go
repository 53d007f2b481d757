// Package shape holds what changes the scores of a row before a token is drawn from it: penalties,
// biases and bans. Each is a sample.Shaper. All but the stateless ones follow the context like a
// stack, so that a draft can be pushed, judged and popped.
//
// Let z be the raw score of a token, c how often it occurs among the last penalties.last tokens
// (with the prompt), and n the length of the repetition that it would continue. The formulas, in
// this order, are
//
//	logit bias      z += bias
//	penalties       z = z > 0 ? z/repeat : z·repeat,  z −= c·frequency + presence        if c > 0
//	DRY             z −= multiplier · base^(n − allowed)                                  if n ≥ allowed
//	bans            z = −∞   for banned tokens; for all but the allowed ones and those that end the reply; for what would
//	                         complete a bad word; for tokens that end the reply while it has fewer than min_tokens
//	constraint      z = −∞   for what would break the form (engine/constrain)
//
// Then follow the filters of package sample: temperature, top-k, top-p, min-p; with temperature_last:
// top-k, top-p, min-p, temperature. The latter is the order of llama.cpp's default chain: logit
// bias, penalties, DRY, top-k, typical, top-p, min-p, temperature. llama.cpp's typical sampling and
// its filters after min-p are off by default, and do not exist here.
//
// Bias and penalties are computed in float32, so that a device comes to the same bits (compute.Edits); DRY
// in float64. The result is clamped to the finite range of float32, so that no bias or penalty ever
// forbids a token. Only bans and constraints forbid, so only they can leave no token at all
// (sample.ErrNothingLeft).
package shape

import (
	"math"

	"specula/engine/config"
	"specula/engine/sample"
)

// Settings are the parts of the configuration that this package needs.
type Settings struct {
	Penalties config.Penalties
	Tokens    config.Tokens
	MinTokens int
}

// Of returns the settings of this package from a configuration.
func Of(c config.Config) Settings {
	return Settings{Penalties: c.Penalties, Tokens: c.Tokens, MinTokens: c.Sampling.MinTokens}
}

// New returns the Shapers that settings ask for, in their order; none if nothing is asked for. Call
// Reset before using them. stops are the tokens that end a reply. words returns the vocabulary; New calls it
// only if a setting names a token or a text. If the vocabulary lacks what a setting names, the error names
// the setting.
func New(s Settings, stops []int32, words func() *Vocabulary) (sample.Shapers, error) {
	var list sample.Shapers
	p := s.Penalties
	tokens, err := s.named(stops, words)
	if err != nil {
		return nil, err
	}
	if tokens.bias != nil {
		list = append(list, tokens.bias)
	}
	if p.Last != 0 && (p.Repeat != 1 || p.Frequency != 0 || p.Presence != 0) {
		list = append(list, NewPenalties(p.Repeat, p.Frequency, p.Presence, p.Last))
	}
	if p.DryMultiplier > 0 && p.DryLast != 0 {
		var breakers Breakers
		if len(p.DryBreakers) > 0 {
			breakers = words().Breakers(p.DryBreakers)
		}
		list = append(list, NewDry(p.DryMultiplier, p.DryBase, p.DryAllowed, p.DryLast, breakers))
	}
	list = append(list, tokens.bans...)
	if s.MinTokens > 0 {
		list = append(list, NewMinTokens(s.MinTokens, stops))
	}
	return list, nil
}

// named are the Shapers of the settings that name tokens: logit bias and bans.
type named struct {
	bias *Bias
	bans sample.Shapers
}

// named makes the Shapers of the settings in section tokens.
func (s Settings) named(stops []int32, words func() *Vocabulary) (n named, err error) {
	t := s.Tokens
	if len(t.Bias) > 0 {
		if n.bias, err = words().bias(t.Bias); err != nil {
			return n, refused("tokens.bias", err)
		}
	}
	if len(t.Banned) > 0 {
		ids, err := words().all(t.Banned)
		if err != nil {
			return n, refused("tokens.banned", err)
		}
		n.bans = append(n.bans, NewBan(ids))
	}
	if len(t.Allowed) > 0 {
		ids, err := words().all(t.Allowed)
		if err != nil {
			return n, refused("tokens.allowed", err)
		}
		n.bans = append(n.bans, NewAllow(append(ids, stops...)))
	}
	if len(t.BadWords) > 0 {
		n.bans = append(n.bans, NewBadWords(words(), t.BadWords))
	}
	return n, nil
}

// refused returns an error that says what the vocabulary lacks for a setting.
func refused(setting string, why error) error { return &config.ValueError{Setting: setting, Why: why} }

// forbidden is the score of a token that may not be written.
var forbidden = float32(math.Inf(-1))

// finite rounds a changed score to float32 and keeps it finite. If the score before the change (was) forbade
// the token, the token stays forbidden.
func finite[F float32 | float64](was float32, score F) float32 {
	if was < -math.MaxFloat32 {
		return was
	}
	return float32(min(max(score, -math.MaxFloat32), math.MaxFloat32))
}
