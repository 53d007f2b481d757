package pane

import (
	"fmt"

	"specula/ui/paint"
	"specula/ui/state"
	"specula/ui/theme"
)

// SettingsStrip draws the current settings on one line, for windows without a side column. Settings
// that do not fit are left out.
func SettingsStrip(s *state.State, th *theme.Theme, w int) string {
	out := paint.NewLine(th, w)
	gap := " "
	for _, f := range settingsWords(s) {
		if text := gap + f[0] + " " + f[1]; paint.Width(text) < out.Left() {
			out.Put("", gap).Put(th.Label, f[0]+" ").Put("", f[1])
			gap = "  "
		}
	}
	return out.String()
}

// settingsWords returns names and values of the current settings, the most important first. Filters
// that are off are left out.
func settingsWords(s *state.State) [][2]string {
	v := s.Settings
	if v.GammaRule == "" {
		return nil // the settings are not known yet
	}
	words := [][2]string{
		{"temperature", fmt.Sprintf("%.2f", v.Temperature)}, {"proposer", proposerSetting(s)}, {"rule", v.GammaRule}, {"seed", seedWords(v.Seed)},
	}
	if v.TopK > 0 {
		words = append(words, [2]string{"top-k", fmt.Sprint(v.TopK)})
	}
	if v.TopP < 1 {
		words = append(words, [2]string{"top-p", fmt.Sprintf("%.2f", v.TopP)})
	}
	if v.MinP > 0 {
		words = append(words, [2]string{"min-p", fmt.Sprintf("%.2f", v.MinP)})
	}
	return words
}

// proposerSetting returns the proposer setting, and for auto the proposer that it has chosen.
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
