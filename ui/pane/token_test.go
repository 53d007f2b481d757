package pane

import (
	"testing"

	"specula/engine/config"
)

// A rule that has no words in reasons is explained by those of the rule token, which are wrong for it.
func TestEveryRuleHasItsOwnReasons(t *testing.T) {
	setting, _ := config.Lookup("speculation.acceptance")
	said := map[verdictReasons]string{}
	for _, rule := range setting.Choices {
		if other, taken := said[reasons(rule)]; taken {
			t.Errorf("%s is explained by the words of %s: add it to reasons in ui/pane/token.go", rule, other)
		}
		said[reasons(rule)] = rule
	}
}
