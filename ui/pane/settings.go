package pane

import (
	"fmt"

	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// SettingsRule draws the dividing line above the prompt, with the current settings in it, the most
// important first. Settings that do not fit are left out. If few is set, only settings that an audience
// needs are shown. If the settings were changed after a reply, the line says that they are for the next
// reply, unless a setting would have to be left out for these words.
func SettingsRule(s *state.State, th *theme.Theme, w int, few bool) string {
	out := paint.NewLine(th, w).Put(th.Rule, th.Glyph.HRule)
	words := settingsWords(s, th)
	if few {
		words = words[:min(len(words), fewSettings)]
	}
	between := " " + th.Glyph.Separator + " "
	room := out.Left() - 1
	for i := range words {
		if i == 1 && w >= roomy+20 {
			words[i].name = "draft length " + words[i].name
		}
		room -= paint.Width(between + words[i].text())
	}
	if next := " next reply:"; s.SettingsChanged() && room >= len(next) {
		out.Put(th.Warning, next)
	}
	gap := " "
	for _, f := range words {
		if paint.Width(gap+f.text())+1 > out.Left() {
			break
		}
		out.Put(th.Rule, gap).Put(th.Label, f.name+" ").Put("", f.value).Put(th.Warning, f.mark)
		gap = between
	}
	if gap != " " {
		out.Put("", " ")
	}
	return out.Put(th.Rule, repeat(th.Glyph.HRule, out.Left())).String()
}

// fewSettings is how many settings an audience needs: temperature, γ and who drafts.
const fewSettings = 3

// shownSetting is a setting in words. mark, a sign after the value, is drawn as a warning.
type shownSetting struct{ name, value, mark string }

func (s shownSetting) text() string { return s.name + " " + s.value + s.mark }

// settingsWords returns the current settings, the most important first. Filters that are off are left
// out.
func settingsWords(s *state.State, th *theme.Theme) []shownSetting {
	v := s.Settings
	if v.GammaRule == "" {
		return nil // the settings are not known yet
	}
	now := lengthNow(s)
	gamma := shownSetting{name: th.Glyph.Gamma, value: fmt.Sprintf("%d %s", now.gamma, now.rule)}
	if now.probe {
		gamma.mark = " " + th.Glyph.Probe
	}
	if speculationOff(s) {
		gamma.value = "off"
	}
	proposer := proposerSetting(s)
	if v.Watch {
		gamma.value, proposer = "the server's", "the server"
	}
	words := []shownSetting{
		{name: "temperature", value: fmt.Sprintf("%.2f", v.Temperature)}, gamma, {name: "proposer", value: proposer}, {name: "seed", value: seedWords(v.Seed)},
	}
	if v.TopK > 0 {
		words = append(words, shownSetting{name: "top-k", value: fmt.Sprint(v.TopK)})
	}
	if v.TopP < 1 {
		words = append(words, shownSetting{name: "top-p", value: fmt.Sprintf("%.2f", v.TopP)})
	}
	if v.MinP > 0 {
		words = append(words, shownSetting{name: "min-p", value: fmt.Sprintf("%.2f", v.MinP)})
	}
	return words
}

// proposerSetting returns the value of the setting "proposer". If it is "auto", the name of the proposer
// that was chosen follows.
func proposerSetting(s *state.State) string {
	if who := s.Drafter(); s.Settings.Proposer == "auto" && who != "" {
		return "auto: " + who
	}
	return s.Settings.Proposer
}

// seedWords writes all digits of a seed, so that a reply can be repeated with it.
func seedWords(seed int64) string {
	if seed < 0 {
		return "new"
	}
	return fmt.Sprint(seed)
}
