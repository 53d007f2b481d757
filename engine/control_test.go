package engine

import (
	"errors"
	"testing"

	"specula/engine/config"
)

func temperature(value string) []config.Value {
	return []config.Value{{Name: "sampling.temperature", Text: value}}
}

func accept(_, _ config.Config) error { return nil }

// While a change is validated, which takes seconds for a form, other goroutines can read and change the
// settings, and rounds can begin.
func TestNobodyWaitsForAChangeThatIsValidated(t *testing.T) {
	c := newControl(config.Default())
	seen := 0
	err := c.ask([]config.Value{{Name: "constraint.regex", Text: "a+"}}, func(_, to config.Config) error {
		if seen++; seen > 1 {
			if to.Sampling.Temperature != 0.25 {
				t.Errorf("the second check sees the temperature %g, not that of the change that came between", to.Sampling.Temperature)
			}
			return nil
		}
		if got := c.settings().Constraint.Regex; got != "" {
			t.Errorf("a change that is not valid yet is seen: %q", got)
		}
		if err := c.ask(temperature("0.25"), accept); err != nil {
			t.Error(err)
		}
		if round, _ := c.apply(3); round.Sampling.Temperature != 0.25 {
			t.Errorf("a round has the temperature %g", round.Sampling.Temperature)
		}
		return nil
	})
	if err != nil || seen != 2 {
		t.Errorf("%v; checked %d times, want again after the other change", err, seen)
	}
	if got := c.settings(); got.Constraint.Regex != "a+" || got.Sampling.Temperature != 0.25 {
		t.Errorf("in force next: %q at %g", got.Constraint.Regex, got.Sampling.Temperature)
	}
}

func TestAChangeThatIsRefusedLeavesNothing(t *testing.T) {
	c := newControl(config.Default())
	refusal := errors.New("not with this model")
	if err := c.ask(temperature("0.25"), func(_, _ config.Config) error { return refusal }); err != refusal {
		t.Errorf("error %v, want %v", err, refusal)
	}
	if _, changed := c.apply(-1); len(changed) != 0 || c.settings().Sampling.Temperature == 0.25 {
		t.Errorf("changed all the same: %v", changed)
	}
}
