package config_test

import (
	"strings"
	"testing"

	"specula/engine/config"
)

// A section in no group would be missing in the help, and one in two groups would stand there twice.
func TestEverySettingIsInOneGroup(t *testing.T) {
	groups := map[string]int{}
	for _, g := range config.Groups() {
		for _, s := range g.Settings() {
			groups[s.Name]++
		}
	}
	for _, s := range config.Settings() {
		if groups[s.Name] != 1 {
			t.Errorf("%s is in %d groups of config.Groups; its section %q must be in one", s.Name, groups[s.Name], s.Section())
		}
	}
}

// The short help shows the settings that have an example. More than ten would not be short.
func TestTenSettingsHaveAnExample(t *testing.T) {
	n := 0
	for _, s := range config.Settings() {
		if s.Example == "" {
			continue
		}
		n++
		c := config.Default()
		if err := c.Set(s.Name, s.Example); err != nil && !strings.HasPrefix(s.Example, "@") {
			t.Errorf("the example of %s: %v", s.Name, err)
		}
	}
	if n != 10 {
		t.Errorf("%d settings have an Example, want 10", n)
	}
}
