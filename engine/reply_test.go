package engine

import (
	"testing"

	"specula/engine/event"
)

func TestWhatLeavesDecisionsAboutDraftingAsTheyAre(t *testing.T) {
	for name, want := range map[string]bool{
		"sampling.seed": false, "speculation.enabled": false,
		"sampling.temperature": true, "speculation.gamma_rule": true, "speculation.proposer": true,
	} {
		if got := matters(event.SettingChanged{Name: name}); got != want {
			t.Errorf("a change of %s matters: %v, want %v", name, got, want)
		}
	}
}
