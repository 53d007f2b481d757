package engine

import (
	"testing"

	"specula/engine/config"
)

// A proposer that was built from a setting must be built again when it changes, or the change does
// nothing. Such settings apply at the next reply, since a proposer lives for whole replies.
func TestEverySettingOfABuildIsInMade(t *testing.T) {
	notBuilt := map[string]bool{"speculation.costs": true, "speculation.drafts": true} // the reply reads these
	before := config.Default()
	for _, s := range config.Settings() {
		if s.Section() != "speculation" || s.Applies != config.NextReply || notBuilt[s.Name] {
			continue
		}
		after := before.Clone()
		for _, value := range []string{"2", "3"} { // at least one of them is not the default
			if err := after.Set(s.Name, value); err != nil {
				t.Fatal(err)
			}
			if now, _ := after.Get(s.Name); now != s.Default {
				break
			}
		}
		found := false
		for _, d := range drafters() {
			found = found || d.made != nil && d.made(before.Speculation) != d.made(after.Speculation)
		}
		if !found {
			t.Errorf("no proposer is built again when %s changes: add it to made in engine/drafters.go, or to notBuilt here", s.Name)
		}
	}
}
