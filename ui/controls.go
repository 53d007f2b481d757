package ui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
	"specula/ui/keys"
	"specula/ui/pace"
	"specula/ui/sanitize"
	"specula/ui/theme"
)

// changeByKey changes the engine's setting that belongs to a key. Without an engine it tells the user why
// nothing changes. done is false for keys that belong to no setting of the engine.
func (m *Model) changeByKey(a keys.Action) (cmd tea.Cmd, done bool) {
	c := m.config
	if m.engine != nil {
		c = m.engine.Settings()
	}
	setting, value := m.changeOf(a, c)
	switch {
	case setting == "":
		return nil, false
	case m.engine == nil:
		return m.say(m.whyNoEngine()), true
	case setting == "speculation.gamma":
		return m.fixGamma(value), true
	}
	return m.change(setting, value), true
}

// changeOf returns the setting that a key changes, and its new value; "" for a key that changes none. c has
// the current values.
func (m *Model) changeOf(a keys.Action, c config.Config) (setting, value string) {
	s, p := c.Sampling, c.Speculation
	switch a {
	case keys.GammaUp:
		return "speculation.gamma", m.movedGamma(c, 1)
	case keys.GammaDown:
		return "speculation.gamma", m.movedGamma(c, -1)
	case keys.GammaAuto:
		return "speculation.gamma_rule", "cost-aware"
	case keys.GammaRule:
		return "speculation.gamma_rule", after(p.Rule, choices("speculation.gamma_rule")...)
	case keys.TemperatureUp:
		return "sampling.temperature", tenths(s.Temperature + 0.1)
	case keys.TemperatureDown:
		return "sampling.temperature", tenths(max(0, s.Temperature-0.1))
	case keys.TopK:
		return "sampling.top_k", after(strconv.Itoa(s.TopK), "0", "10", "20", "40", "100")
	case keys.TopP:
		return "sampling.top_p", after(plain(s.TopP), "1", "0.95", "0.9", "0.8")
	case keys.MinP:
		return "sampling.min_p", after(plain(s.MinP), "0", "0.02", "0.05", "0.1")
	case keys.Seed:
		return "sampling.seed", m.otherSeed(s.Seed)
	case keys.Proposer:
		return "speculation.proposer", m.nextProposer(p.Proposer)
	case keys.Acceptance:
		return "speculation.acceptance", after(p.Acceptance, config.LosslessRules()...) // a lossy rule can only be set by name
	case keys.Speculate:
		return "speculation.enabled", toggled(p.Enabled)
	}
	return "", ""
}

func (m *Model) whyNoEngine() string {
	if m.options.Load == nil {
		return "a recorded reply cannot be changed"
	}
	return "the models are still being read"
}

// movedGamma returns γ plus by, limited to 0 … gamma_max. If the rule is not fixed, γ is that of the last
// round, because the rule may have chosen another one than the settings have.
func (m *Model) movedGamma(c config.Config, by int) string {
	gamma := c.Speculation.Gamma
	if c.Speculation.Rule != "fixed" && m.state.Last != nil {
		gamma = m.state.Last.Round.Gamma
	}
	return strconv.Itoa(min(max(gamma+by, 0), c.Speculation.GammaMax))
}

// fixGamma sets γ. The engine then also sets the rule to fixed. The message says both.
func (m *Model) fixGamma(gamma string) tea.Cmd {
	if m.engine == nil {
		return m.say(m.whyNoEngine())
	}
	if err := m.engine.Change("speculation.gamma", gamma); err != nil {
		return m.say(refusalOf(err))
	}
	name := "γ"
	if !m.config.UI.Unicode {
		name = "gamma"
	}
	m.showSettings()
	c := m.engine.Settings()
	return m.sayAsked(fmt.Sprintf("%s %d, rule fixed", name, c.Speculation.Gamma), config.NextRound, "")
}

// otherSeed returns -1 (no seed) if a seed is set, and otherwise the seed of the last reply, which is also
// -1 before the first reply.
func (m *Model) otherSeed(seed int64) string {
	if seed < 0 {
		return strconv.FormatInt(m.lastSeed, 10)
	}
	return "-1"
}

// change changes a setting. It tells the user the new value, or why the setting was not changed.
func (m *Model) change(name, value string) tea.Cmd {
	s, ok := config.Lookup(name)
	if !ok {
		return m.say(sanitize.Line("there is no setting " + name))
	}
	if s.Section() == "ui" {
		return m.setUI(name, value)
	}
	if m.engine == nil {
		return m.say(m.whyNoEngine())
	}
	if s.Section() == "constraint" {
		return m.setForm(s, value)
	}
	return m.changed(s, value, m.engine.Change(s.Name, value))
}

// changed tells the user whether a setting was changed; err is the engine's answer.
func (m *Model) changed(s config.Setting, value string, err error) tea.Cmd {
	if err != nil {
		return m.say(refusalOf(err))
	}
	m.showSettings()
	if why := m.refusal(value); s.Name == "speculation.proposer" && why != "" {
		return m.say(sanitize.Line(value + " cannot draft, so rounds are plain: " + why))
	}
	drafts, why := "", "" // for auto
	if r := m.state.Ready; s.Name == "speculation.proposer" && value == "auto" && r != nil && r.Auto != nil {
		drafts, why = ": "+m.state.Drafter(), "; "+r.Auto.Why
	}
	return m.sayAsked(s.Slash+" "+m.valueOf(s)+drafts, s.Applies, why)
}

// refusalOf says why a setting was not changed. If the reason is only that the value is not allowed, the
// sentence calls settings by their slash commands.
func refusalOf(err error) string {
	var refused *config.ValueError
	if !errors.As(err, &refused) || refused.Why != nil {
		return sanitize.Line(err.Error())
	}
	text := fmt.Sprintf("%s takes %s, not %.64s", refused.Setting, refused.Allowed, refused.Got)
	settings := config.Settings()
	slices.SortFunc(settings, func(a, b config.Setting) int { return len(b.Name) - len(a.Name) }) // longest first: gamma_max before gamma
	for _, s := range settings {
		if s.Slash != "" {
			text = strings.ReplaceAll(text, s.Name, "/"+s.Slash)
		}
	}
	return sanitize.Line(text)
}

// proposers returns the names that can be chosen, with auto.
func (m *Model) proposers() []string {
	names := []string{"auto"}
	if r := m.state.Ready; r != nil {
		for _, p := range r.Proposers {
			if p.Refused == "" {
				names = append(names, p.Name)
			}
		}
	}
	if len(names) == 1 {
		return []string{"auto", "draft", "ngram"} // a recording without a list of proposers
	}
	return names
}

// nextProposer returns the proposer that follows current in the list. If current is auto, it returns the
// one that follows the proposer that drafts now, so that the key changes something.
func (m *Model) nextProposer(current string) string {
	if current == "auto" {
		if next := after(m.state.Drafter(), m.proposers()...); next != "auto" {
			return next
		}
	}
	return after(current, m.proposers()...)
}

// refusal says why a proposer cannot be chosen; "" if it can, or while no model is loaded.
func (m *Model) refusal(proposer string) string {
	if m.state.Ready == nil {
		return ""
	}
	why, _ := m.state.Ready.Refusal(proposer)
	return why
}

// valueOf returns a setting's value as a person would type it, or "(empty)". A change that has not taken
// effect yet is included.
func (m *Model) valueOf(s config.Setting) string {
	c := m.config
	if s.Section() != "ui" && m.engine != nil {
		c = m.engine.Settings()
	}
	v, err := c.Get(s.Name)
	if err != nil || v == "" {
		return "(empty)"
	}
	return v
}

// showSettings shows the settings of the next reply. Without an engine it does nothing, and neither during
// a reply, when events report the settings.
func (m *Model) showSettings() {
	if m.engine == nil || m.busy() {
		return
	}
	c, seed := m.engine.Settings(), m.lastSeed
	if c.Sampling.Seed >= 0 {
		seed = c.Sampling.Seed
	}
	auto := m.state.Settings.AutoProposer
	m.state.Settings = c.Shown(seed)
	m.state.Settings.AutoProposer = auto
}

// setUI changes a setting of the screen. It tells the user the new value, or why it is refused.
func (m *Model) setUI(name, value string) tea.Cmd {
	if err := m.config.Set(name, value); err != nil {
		return m.say(refusalOf(err))
	}
	switch name {
	case "ui.pace", "ui.rounds_per_second":
		m.applyPace()
		if !m.stepping() {
			m.present()
		}
		return m.say("pace: " + m.paceWords())
	case "ui.theme", "ui.unicode":
		m.applyTheme()
	}
	s, _ := config.Lookup(name)
	return m.say(sanitize.Line(fmt.Sprintf("%s %s", s.Slash, m.valueOf(s))))
}

// applyTheme sets the theme. It is mono if the user wants no colour, else the configured one. Auto means
// dark or light, like the terminal's background.
func (m *Model) applyTheme() {
	name := m.config.UI.Theme
	switch {
	case m.mono:
		name = "mono"
	case name == "auto" && m.dark:
		name = "dark"
	case name == "auto":
		name = "light"
	}
	m.theme, _ = theme.Named(name, m.config.UI.Unicode)
	m.theme.Cells = m.cells
}

func (m *Model) nextPace() tea.Cmd {
	mode, _ := m.pacer.Mode()
	return m.setUI("ui.pace", after(mode.String(), "full", "slow", "step"))
}

// roundsLadder holds the speeds that the pace keys choose from, in rounds per second.
var roundsLadder = []float64{0.25, 0.5, 1, 2, 3, 5, 8, 12, 20, 30, 60}

// changePace makes the slow pace faster if by is 1, and slower if by is −1. After the fastest slow pace
// comes the full pace. If another pace is set, changePace sets the slow one.
func (m *Model) changePace(by int) tea.Cmd {
	mode, rounds := m.pacer.Mode()
	if mode != pace.Slow {
		return m.setUI("ui.pace", "slow")
	}
	at, found := slices.BinarySearch(roundsLadder, rounds)
	if by < 0 || found {
		at += by
	}
	if at >= len(roundsLadder) {
		return m.setUI("ui.pace", "full")
	}
	return m.setUI("ui.rounds_per_second", plain(roundsLadder[max(at, 0)]))
}

// paceWords describes the current pace.
func (m *Model) paceWords() string {
	mode, rounds := m.pacer.Mode()
	if mode == pace.Slow {
		return "slow " + plain(rounds) + "/s"
	}
	return mode.String()
}

// choices returns the values of a setting that is one of a list of names.
func choices(name string) []string {
	s, _ := config.Lookup(name)
	return s.Choices
}

// after returns the word after current. After the last word, or an unknown one, comes the first.
func after(current string, words ...string) string {
	return words[(slices.Index(words, current)+1)%len(words)]
}

func toggled(on bool) string { return strconv.FormatBool(!on) }

func plain(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// tenths rounds to one decimal place, so that ten steps of 0.1 give 1.
func tenths(f float64) string { return plain(float64(int(f*10+0.5)) / 10) }
