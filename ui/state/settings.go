package state

import (
	"strings"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/sanitize"
)

// applySetting changes a setting and marks the change at the next round.
func (s *State) applySetting(e event.SettingChanged) {
	name, to := sanitize.Line(e.Name), sanitize.Line(e.To)
	config.SetShown(&s.Settings, name, to)
	if shortName(name) == "seed" && s.Settings.Seed < 0 {
		to = "new" // as the settings line says
	}
	if len(s.marks) < markLimit {
		s.marks = append(s.marks, Mark{shortName(name), to})
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

// ProposerWords says where a proposer's tokens come from, or gives the proposer's name if the engine has
// not told that. Of a cascade it names each proposer in turn.
func (s *State) ProposerWords(name string) string {
	if name == event.FromForm {
		return "from the form, which permits no other text"
	}
	parts := strings.Split(name, ",")
	for i, part := range parts {
		if s.Ready == nil {
			break
		}
		for _, p := range s.Ready.Proposers {
			if p.Name == part && p.Words != "" {
				parts[i] = p.Words
			}
		}
	}
	return strings.Join(parts, ", else ")
}

// shortName returns a setting's name without its section: "top-k" for "sampling.top_k".
func shortName(name string) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return strings.ReplaceAll(name, "_", "-")
}
