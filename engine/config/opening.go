package config

import "reflect"

// The embedded pair can begin with either of two sets of settings. With fast, replies show few refusals:
// at temperature 0.7, 1 % of the draft model's tested tokens are refused. The rule cost-aware may also
// stop drafting for many rounds. With watch, EAGLE's heads draft, and one in five of their tokens is
// refused. Replies are then still faster than with the target alone.
var (
	watch = []Value{{"speculation.proposer", "eagle"}, {"speculation.gamma", "3"}, {"speculation.gamma_rule", "fixed"}, {"sampling.temperature", "0.9"}}
	fast  = []Value{{"speculation.proposer", "auto"}, {"speculation.gamma_rule", "cost-aware"}, {"sampling.temperature", "0.7"}}
)

// Opening returns the settings of an opening: "watch" or "fast".
func Opening(name string) []Value {
	if name == "watch" {
		return append([]Value(nil), watch...)
	}
	return append([]Value(nil), fast...)
}

// OpensToWatch reports whether c has the settings of the opening "watch".
func (c Config) OpensToWatch() bool {
	for _, v := range watch {
		if have, err := c.Get(v.Name); err != nil || have != v.Text {
			return false
		}
	}
	return true
}

// OpenToWatch sets the settings of the opening "watch", if c has the embedded pair and its heads on this
// machine. (The heads read the target's hidden states, which a server does not send.) It does nothing if
// the temperature or a setting of speculation differs from its default or was given as a flag. given
// reports whether a flag sets the setting of this name.
func (c *Config) OpenToWatch(given func(name string) bool) error {
	d := Default()
	if c.Remote.URL != "" || c.Model.Target != "" || c.Model.Draft != "" || c.Model.Heads != "" ||
		c.Sampling.Temperature != d.Sampling.Temperature || !reflect.DeepEqual(c.Speculation, d.Speculation) {
		return nil
	}
	for _, s := range table {
		if given(s.Name) && (s.Section() == "speculation" || s.Name == "sampling.temperature") {
			return nil
		}
	}
	return c.SetAll(watch...)
}
