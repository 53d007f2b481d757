package state

import (
	"strconv"
	"strings"

	"specula/engine/event"
	"specula/ui/sanitize"
)

// applySetting changes a setting and marks the change at the next round.
func (s *State) applySetting(e event.SettingChanged) {
	name, to := sanitize.Line(e.Name), sanitize.Line(e.To)
	s.set(name, to)
	if len(s.marks) < markLimit {
		s.marks = append(s.marks, shortName(name)+" "+to)
	}
}

func safeSettings(in event.Settings) event.Settings {
	in.GammaRule, in.Proposer = sanitize.Line(in.GammaRule), sanitize.Line(in.Proposer)
	in.Acceptance, in.AutoProposer = sanitize.Line(in.Acceptance), sanitize.Line(in.AutoProposer)
	return in
}

// Drafter returns the current proposer: the one that is set, or the one that auto has chosen; "" if that
// is not known.
func (s *State) Drafter() string {
	switch {
	case s.Settings.Proposer != "auto":
		return s.Settings.Proposer
	case s.Settings.AutoProposer != "":
		return s.Settings.AutoProposer
	case s.Ready != nil && s.Ready.Auto != nil:
		return s.Ready.Auto.Proposer
	}
	return ""
}

// shortName returns a setting's name without its section: "top-k" for "sampling.top_k".
func shortName(name string) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.ReplaceAll(name, "_", "-")
}

// set changes one setting, by any of its names. A value that does not parse changes nothing; the next
// ReplyStarted has all settings.
func (s *State) set(name, to string) {
	c := &s.Settings
	switch shortName(name) {
	case "temperature", "temp":
		setFloat(&c.Temperature, to)
	case "top-p", "topp":
		setFloat(&c.TopP, to)
	case "min-p", "minp":
		setFloat(&c.MinP, to)
	case "top-k", "topk":
		setInt(&c.TopK, to)
	case "gamma":
		setInt(&c.Gamma, to)
	case "gamma-max":
		setInt(&c.GammaMax, to)
	case "max-tokens":
		setInt(&c.MaxTokens, to)
	case "gamma-rule", "rule":
		c.GammaRule = to
	case "proposer":
		c.Proposer = to
	case "acceptance", "accept":
		c.Acceptance = to
	case "seed":
		if v, err := strconv.ParseInt(to, 10, 64); err == nil {
			c.Seed = v
		}
	case "enabled", "speculate", "speculation":
		if v, err := strconv.ParseBool(to); err == nil {
			c.Speculate = v
		}
	}
}

func setFloat(dst *float64, text string) {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		*dst = v
	}
}

func setInt(dst *int, text string) {
	if v, err := strconv.Atoi(text); err == nil {
		*dst = v
	}
}
